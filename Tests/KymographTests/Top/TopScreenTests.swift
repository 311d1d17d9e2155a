@testable import Kymograph
import KymographCore
import Testing

/// What `kymo top` makes of two looks at an instance.
@Suite struct TopScreenTests {
    /// A look at an instance with `sources` sources and `sinks` sinks in trouble, which has received `received` readings
    /// by each source.
    private func look(_ received: Int, sources: Int, sinks: Int, at seconds: Double) -> TopReport.Look {
        var status = InstanceStatus(directory: "/var/lib/kymo")
        status.process = 4_711
        status.started = "2026-03-01T08:00:00.123456Z"
        var run = PipelineSummary()
        run.engine.rings = [
            EngineCounts.Ring(lane: "0", shard: "0", used: 0, slots: 512, waits: 9),
            EngineCounts.Ring(lane: "1", shard: "0", used: 128, slots: 512, waits: received / 500),
        ]
        for number in 0..<sources {
            var source = PipelineSummary.Source(name: "udp 0.0.0.0:\(5_000 + number)")
            source.received = received
            (source.counts.bytes, source.counts.kernelDrops) = (UInt64(received * 100), 7)
            run.sources.append(source)
            status.sources.append(InstanceStatus.Source(source, framing: nil))
        }
        (run.shards.accepted, run.shards.windows, run.shards.observations) = (received, 30, 40)
        (status.store.usedBytes, status.store.limitBytes, status.store.outboxRows) = (12_345_678, 17_179_869_184, 3)
        status.store.outboxOldestAge = 61.5
        for number in 0..<sinks {
            let name = "server https://fhir-\(number).hospital.example/r4"
            var sink = SinkStatus(name: name, settledThrough: 9, waiting: 12)
            var delivery = DeliverySummary()
            (delivery.circuit, delivery.delivered, delivery.inFlight) = ("open", received, 2)
            let reason = "the server answers 503, \(String(repeating: "x", count: 90))"
            delivery.trouble = DeliveryTrouble(.refusing, reason)
            delivery.trouble?.since = "2026-03-01T08:01:00Z"
            sink.delivery = delivery
            status.sinks.append(sink)
        }
        status.count(run, at: .distantPast)
        return TopReport.Look(status, at: start.advanced(by: .milliseconds(Int(seconds * 1_000))))
    }

    private let start = ContinuousClock.now

    private func report(sources: Int, sinks: Int) -> TopReport {
        TopReport(
            from: look(1_000, sources: sources, sinks: sinks, at: 0),
            to: look(3_000, sources: sources, sinks: sinks, at: 2), time: Instant(seconds: 1_772_352_000))
    }

    @Test func ratesArePerSecond() {
        let report = report(sources: 2, sinks: 1)
        #expect(report.seconds == 2 && report.time == "2026-03-01T08:00:00Z")
        #expect(report.sources.map(\.readings) == [1_000, 1_000] && report.sources.map(\.bytes) == [100_000, 100_000])
        #expect(report.sources[0].dropped == 0 && report.sources[0].droppedTotal == 7)
        #expect(report.engine.received == 2_000 && report.engine.accepted == 1_000 && report.engine.windows == 0)
        #expect(
            report.engine.fullestRing?.used == 128 && report.engine.rings.map(\.waits) == [0, 2]
                && report.sinks[0].entries == 1_000)
    }

    @Test func theScreenHasIt() {
        let lines = TopScreen(columns: 80, lines: 24).text(report(sources: 2, sinks: 1))
        let text = lines.joined(separator: "\n")
        for phrase in [
            "process 4711", "since 2026-03-01T08:00:00Z", "received 2000", "lanes 2, shards 1",
            "the fullest ring 25 % of 512 slots", "lanes wait for room 2 times a second", "udp 0.0.0.0:5001", "100.0k",
            "SINK", "open",
            "refusing since 2026-03-01T08:01:00Z: the server answers 503", "3 bundles wait, the oldest for 61 s",
            "12.3MB of 17.2GB (0 %)",
        ] {
            #expect(text.contains(phrase), "\(phrase) in:\n\(text)")
        }
    }

    /// Whatever there is to show.
    @Test(arguments: [(80, 24), (40, 12), (20, 6), (200, 60)]) func itFits(columns: Int, lines: Int) {
        let screen = TopScreen(columns: columns, lines: lines)
        for sources in [0, 1, 5, 40] {
            for sinks in [0, 1, 3, 20] {
                let shown = screen.text(report(sources: sources, sinks: sinks))
                #expect(shown.count <= lines, "\(sources) \(sinks)")
                #expect(shown.allSatisfy { $0.count <= columns }, "\(sources) \(sinks)")
                if lines >= 24 {
                    #expect(shown.contains { $0.hasPrefix("letters") }, "\(sources) \(sinks)")
                    #expect(sources < 40 || lines == 60 || shown.contains { $0.contains("more sources") })
                }
            }
        }
        #expect(screen.text(missing: "/var/lib/kymo", since: Instant(seconds: 0)).allSatisfy { $0.count <= columns })
    }

    @Test func numbersAreShort() {
        let numbers = [0, 0.4, 7, 999, 9_999, 12_345, 1_234_567, 17_179_869_184, 5e12]
        #expect(
            numbers.map(TopScreen.short) == [
                "0", "0.4", "7", "999", "9999", "12.3k", "1.2M", "17.2G", "5.0T",
            ])
    }
}
