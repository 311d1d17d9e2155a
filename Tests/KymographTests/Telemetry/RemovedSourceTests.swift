@testable import Kymograph
import KymographCore
import Testing

/// What metrics have of sources that reloads have removed.
@Suite struct RemovedSourceTests {
    private static let removal = Instant(seconds: 1_900_000_000)

    private func source(_ name: String, bytes: UInt64, isRemoved: Bool) -> PipelineSummary.Source {
        var source = PipelineSummary.Source(name: name)
        (source.counts.bytes, source.counts.lines, source.received) = (bytes, bytes / 10, Int(bytes / 10))
        (source.counts.openStreams, source.certificateExpiry, source.receiveBufferBytes) = (1, 9.5, 7)
        source.counts.topic = KafkaProgress(behind: 3, halted: 1, isUp: false)
        source.removedAt = isRemoved ? Self.removal : nil
        return source
    }

    private var run: PipelineSummary {
        var run = PipelineSummary()
        run.sources = [
            source("stays", bytes: 0, isRemoved: false), source("heard", bytes: 50, isRemoved: true),
            source("never", bytes: 0, isRemoved: true),
        ]
        run.sources[1].rejected[Int(Rejection.invalidJSON.rawValue)] = 2
        return run
    }

    private var input: CounterInput {
        var watched = WatchedCounts()
        watched.lastReceived = [("heard", 1.5)]
        return CounterInput(run: run, watched: watched)
    }

    /// The names of what metrics have of `source`, so many seconds after it was removed.
    private func names(_ source: String, after seconds: Int64) -> [String] {
        let removed = RemovedSources(run, at: Self.removal.advanced(by: seconds * 1_000_000_000))
        let given = removed.given(CounterTable.samples(input))
        return given.all.filter { $0.labels?["source"] == source }.map(\.name)
    }

    /// Catches: an alert that goes on about a source which was removed.
    @Test func whatIsTrueOfItNowIsNothing() {
        let heard = names("heard", after: 0)
        #expect(
            heard == [
                "kymo_readings_received_total", "kymo_source_rejected_total", "kymo_source_messages_total",
                "kymo_source_received_bytes_total",
            ])
        #expect(names("never", after: 0) == [])
        #expect(names("heard", after: 3_599) == heard)
    }

    /// Catches: series of names that came and went, which stay until the process ends.
    @Test func afterAnHourItHasNone() {
        #expect(names("heard", after: 3_600) == [] && names("heard", after: 1_000_000) == [])
        let all = CounterTable.samples(input)
        let stays = all.all.filter { $0.labels?["source"] == "stays" }.map(\.name)
        #expect(names("stays", after: 0) == stays && names("stays", after: 3_600) == stays && stays.count > 12)
        #expect(all.total("kymo_readings_received_total") == 5, "totals have it all the same")
    }

    /// Names are compared byte by byte.
    @Test func anotherNameIsAnotherSource() {
        var run = run
        run.sources[1].name = "caf\u{e9}"
        run.sources.append(source("cafe\u{301}", bytes: 30, isRemoved: false))
        let given = RemovedSources(run, at: Self.removal.advanced(by: 4_000_000_000_000))
            .given(CounterTable.samples(CounterInput(run: run)))
        let found = given.all.filter { $0.name == "kymo_source_received_bytes_total" }.compactMap {
            $0.labels?["source"]
        }
        #expect(found.map { Array($0.utf8).count } == [5, 6])
    }

    /// `kymo status` tells as much as the listener.
    @Test func statusSaysTheSame() {
        var status = InstanceStatus(directory: "")
        status.count(run, at: Self.removal)
        #expect(status.metrics.contains(#"kymo_source_received_bytes_total{source="heard"} 50"#))
        #expect(!status.metrics.contains("never") && status.metrics.contains("stays"))
        status.count(run, at: Self.removal.advanced(by: RemovedSources.counted))
        #expect(!status.metrics.contains("heard") && !status.metrics.contains("never"))
    }
}
