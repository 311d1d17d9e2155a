@testable import Kymograph
import CommandSupport
import KymographCore
import Testing

/// Changes of sinks, outbox and sources are told once each, and their end, too.
@Suite struct StateWatchTests {
    private let start = ContinuousClock.now

    private func events(_ entries: [LogEntry]) -> [String] {
        entries.compactMap { entry in
            guard case .text(let text) = entry.fields.first(where: { $0.name == "event" })?.value else { return nil }
            return text
        }
    }

    @Test func aSinkComesIntoTroubleAndOut() {
        var watch = SinkWatch("ward")
        var summary = DeliverySummary()
        func look(_ seconds: Int) -> [LogEntry] {
            watch.entries(summary, at: start.advanced(by: .seconds(seconds))).filter { $0.level != .debug }
        }
        #expect(look(0).isEmpty)
        summary.trouble = DeliveryTrouble(.refusing, "the server answers 503")
        summary.trouble?.since = "2026-03-01T12:00:00Z"
        summary.trouble?.seconds = 2
        let first = look(2)
        #expect(events(first) == ["sink.refusing"] && first.first?.level == .warning)
        #expect(
            first.first?.text == "ward: the server answers 503, since 2026-03-01T12:00:00Z; see the server's own log; "
                + "what is for it waits in the store")
        #expect(look(3).isEmpty)
        summary.circuit = "open"
        #expect(events(look(4)) == ["sink.circuitOpen"])
        summary.circuit = "halfOpen"
        #expect(look(5).isEmpty)
        summary.trouble?.cause = .unreachable
        #expect(events(look(6)) == ["sink.unreachable"])
        #expect(look(7).isEmpty)
        (summary.trouble, summary.circuit) = (nil, "closed")
        let last = look(45)
        #expect(events(last) == ["sink.recovered"] && last.first?.level == .info)
        #expect(last.first?.text == "ward: recovered after 45s, circuit closed: it takes what it is sent")
        #expect(look(46).isEmpty)
    }

    /// Nothing is known of a server that has not been asked by other settings yet.
    @Test(arguments: ["probing", "open", "halfOpen"]) func whatIsNotAskedHasNotRecovered(circuit: String) {
        var watch = SinkWatch("ward")
        var summary = DeliverySummary()
        summary.trouble = DeliveryTrouble(.unreachable, "cannot be reached")
        func look() -> [String] { events(watch.entries(summary, at: start).filter { $0.level != .debug }) }
        #expect(look() == ["sink.unreachable"])
        (summary.trouble, summary.circuit) = (nil, circuit)
        #expect(look().isEmpty)
        summary.trouble = DeliveryTrouble(.unreachable, "cannot be reached")
        #expect(!look().contains("sink.unreachable"))
        (summary.trouble, summary.circuit) = (nil, "closed")
        #expect(look() == ["sink.recovered"])
    }

    @Test func attemptsAreForDebuggingOnly() {
        var watch = SinkWatch("ward")
        var summary = DeliverySummary()
        (summary.lastError, summary.lastErrorTime) = ("the server answers 422 patient 12345", "2026-03-01T12:00:00Z")
        let entries = watch.entries(summary, at: start)
        #expect(entries.map(\.level) == [.debug] && entries.first?.text.contains("12345") == false)
        let again = watch.entries(summary, at: start)
        #expect(again.isEmpty)
    }

    @Test func theOutboxGrowsOldAndRecovers() {
        var watch = OutboxWatch(limit: 300_000_000_000)
        let ages = [0, 299, 301, 500, 299, 241, 239, 0, 302]
        let entries = ages.map { watch.entry(age: Double($0)) }
        #expect(zip(ages, entries).filter { $0.1 != nil }.map(\.0) == [301, 239, 302])
        #expect(events(entries.compactMap(\.self)) == ["outbox.old", "outbox.recent", "outbox.old"])
        #expect(entries[2]?.text.contains("has waited in the store for 5m1s, more than log.outboxAge (5m)") == true)
        var never = OutboxWatch(limit: 0)
        let none = never.entry(age: 1e9)
        #expect(none?.text == nil)
    }

    @Test func aSourceFallsSilentOnce() {
        var watch = SourceWatch("udp", silentAfter: 60_000_000_000)
        var source = PipelineSummary.Source(name: "udp")
        func look(_ seconds: Int) -> [LogEntry] {
            watch.entries(source, at: start.advanced(by: .seconds(seconds)), time: Instant(seconds: Int64(seconds)))
        }
        // One that has never brought anything may be a link that did not come back.
        #expect(look(0).isEmpty && look(59).isEmpty)
        let missing = look(60)
        #expect(events(missing) == ["source.silent"] && look(1_000).isEmpty)
        #expect(missing.first?.text.contains("nothing has come since the start, for 1m") == true)
        source.counts.bytes = 10
        let first = look(1_001)
        #expect(events(first) == ["source.back"] && first.first?.text.contains("after 16m41s of silence") == true)
        #expect(look(1_060).isEmpty)
        let silent = look(1_061)
        #expect(events(silent) == ["source.silent"] && silent.first?.level == .warning)
        #expect(silent.first?.text.contains("silent for 1m (log.silentAfter), since 1970-01-01T00:16:41Z") == true)
        #expect(look(1_100).isEmpty)
        source.counts.bytes = 20
        let back = look(1_101)
        #expect(events(back) == ["source.back"] && back.first?.text.contains("after 1m40s of silence") == true)
        #expect(look(1_102).isEmpty && events(look(1_161)) == ["source.silent"])
        var never = SourceWatch("udp", silentAfter: 0)
        let none = [0, 1 << 30].flatMap {
            never.entries(source, at: start.advanced(by: .seconds($0)), time: Instant(seconds: 0))
        }
        #expect(none.isEmpty)
    }

    @Test func aFileSystemFills() {
        var watch = DiskWatch("/var/lib/kymo")
        let uses = [10, 50, 60, 81, 79, 80, 76, 74, 99, 100, 96, 94, 40]
        let entries = uses.map { used in
            watch.entry(DiskFacts(directory: "/var/lib/kymo", freeBytes: (100 - used) << 20, totalBytes: 100 << 20))
        }
        #expect(zip(uses, entries).filter { $0.1 != nil }.map(\.0) == [50, 81, 74, 99, 100, 94, 40])
        #expect(entries.compactMap { $0?.level } == [.info, .warning, .info, .warning, .error, .info, .info])
        #expect(entries[3]?.text.contains("/var/lib/kymo is 81 % full") == true)
        #expect(Set(events(entries.compactMap(\.self))) == ["disk.fill"])
        let nearly = DiskFacts(directory: "", freeBytes: 9, totalBytes: 1_000)
        #expect(nearly.percent == 100 && DiskFacts(directory: "", freeBytes: 0, totalBytes: 0).percent == 0)
    }

    /// Of lanes and shards, whichever is nearest; once for each limit, and what has not followed to it yet is left out.
    @Test func limitsAreToldOnce() {
        var watch = LimitWatch(.devices)
        func look(_ fills: LimitFill..., limit: Int) -> [LogEntry] { watch.entries(fills, limit: limit) }
        #expect(look(limit: 100).isEmpty)
        #expect(look(LimitFill(met: 89, limit: 100), LimitFill(met: 4, limit: 100), limit: 100).isEmpty)
        let near = look(LimitFill(met: 4, limit: 100), LimitFill(met: 90, limit: 100), limit: 100)
        #expect(events(near) == ["limit.near"] && near.first?.level == .warning)
        #expect(
            near.first?.text
                == "90 of 100 devices (limits.devices) have been met since the start: readings of new ones "
                + "are rejected at the limit; raise limits.devices in the configuration, and send SIGHUP")
        #expect(look(LimitFill(met: 100, limit: 100), limit: 100).isEmpty)
        let full = LimitFill(met: 100, limit: 100, refuses: true)
        let reached = look(LimitFill(met: 50, limit: 100), full, limit: 100)
        #expect(events(reached) == ["limit.reached"] && reached.first?.level == .error)
        #expect(
            reached.first?.text
                == "100 devices (limits.devices) have been met since the start: readings of new ones are "
                + "rejected (tooManyDevices); raise limits.devices in the configuration, send SIGHUP, and replay what "
                + "was rejected with 'kymo dead replay'")
        #expect(look(full, limit: 100).isEmpty)
        // A reload: a shard follows when it has taken what came before.
        #expect(look(full, limit: 110).isEmpty)
        #expect(events(look(full, LimitFill(met: 100, limit: 110), limit: 110)) == ["limit.near"])
        #expect(look(LimitFill(met: 100, limit: 110), full, limit: 110).isEmpty)
        #expect(look(LimitFill(met: 100, limit: 1_000), limit: 1_000).isEmpty)
        // Fewer than there are.
        let fewer = look(LimitFill(met: 100, limit: 50, refuses: true), limit: 50)
        #expect(events(fewer) == ["limit.near", "limit.reached"])
        var series = LimitWatch(.series)
        let ofSeries = series.entries([LimitFill(met: 9, limit: 10, refuses: true)], limit: 10)
        #expect(ofSeries.allSatisfy { $0.text.contains(" series (limits.series) ") } && ofSeries.count == 2)
    }

    /// Two directories of one file system are one.
    @Test func fileSystemsAreFound() throws {
        let folder = TemporaryFolder()
        let missing = folder.file("not/there")
        let found = DiskFacts.look([folder.path, missing, "/proc"])
        #expect(found.map(\.directory).first == folder.path && !found.map(\.directory).contains(missing))
        let disk = try #require(found.first)
        #expect(disk.freeBytes > 0 && disk.totalBytes >= disk.freeBytes && disk.percent <= 100)
    }

    @Test func kernelDropsAreToldOnce() {
        var watch = SourceWatch("udp", silentAfter: 0)
        var source = PipelineSummary.Source(name: "udp")
        func look(_ seconds: Int, drops: UInt64) -> [LogEntry] {
            source.counts.kernelDrops = drops
            return watch.entries(source, at: start.advanced(by: .seconds(seconds)), time: Instant(seconds: 0))
        }
        #expect(look(0, drops: 0).isEmpty)
        let first = look(1, drops: 3)
        #expect(events(first) == ["source.kernelDrops"] && first.first?.level == .error)
        #expect(look(2, drops: 9).isEmpty && look(40, drops: 9).isEmpty && look(59, drops: 10).isEmpty)
        #expect(look(118, drops: 10).isEmpty)
        let ended = look(119, drops: 10)
        #expect(events(ended) == ["source.kernelDropsEnded"] && ended.first?.text.hasSuffix("after 10") == true)
        #expect(look(200, drops: 10).isEmpty)
    }
}
