import GRDB
@testable import Kymograph
import KymographCore
@testable import KymographTemplates
import KymographTestKit
import Testing
import TrialSupport

/// Events become durable with the readings that they are of: neither without the other, and once.
@Suite struct EventJournalTests {
    private static func line(_ second: Int) -> [UInt8] {
        let time = [second / 60, second % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
        return Array(
            #"{"deviceId":"d","type":"heartRate","timestamp":"2026-03-01T08:\#(time)Z","value":60,"unit":"/min"}"#.utf8)
    }

    /// Runs that are killed when some of what they have handed over is durable: there are as many events as readings
    /// that the store has taken, and no run makes another event of a reading of the one before.
    @Test func killedBetweenCommits() throws {
        let set = try #require(PipelineRehearsal.reading)
        for seed in Trials.seeds(tenthOf: 40) {
            var random = SeededGenerator(seed: seed)
            let scratch = Scratch()
            var durable = 0
            for _ in 0..<4 {
                durable = try Self.run(scratch, set, from: durable, &random)
                #expect(try Self.events(scratch) == durable, "seed \(seed)")
            }
        }
    }

    /// One run, whose readings begin with number `first`; how many all runs together have made durable.
    private static func run(
        _ scratch: Scratch, _ set: MappingSet, from first: Int, _ random: inout SeededGenerator
    ) throws -> Int {
        let store = try Store(path: scratch.path)
        defer { store.close() }
        try store.begin(sinks: ["events"])
        store.begin(shards: 1)
        var commit = StoreCommit(store, MappingExchange(set))
        var none = SinkFilter()
        none.takesObservations = false
        var rehearsal = DurableRehearsal(
            set: set, store: store, filters: [none], eventSinks: [EventSinks.Sink(number: 0, filter: SinkFilter())])
        rehearsal.begin { _ = StoreReplay(store, shard: 0, of: 1).run(into: &$0) }
        var (second, durable) = (first, first)
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            for _ in 0..<Int.random(in: 1...20, using: &random) {
                rehearsal.take(line(second))
                second += 1
            }
            rehearsal.handOver()
            // What is handed over after the last commit is lost with the process.
            guard Bool.random(using: &random) else { break }
            try commit.commit(store.queue.take().batch, now: DurableRehearsal.start)
            durable = second
        }
        return durable
    }

    /// How many events wait in the outbox, which must be different ones.
    private static func events(_ scratch: Scratch) throws -> Int {
        let store = try Store(path: scratch.path)
        defer { store.close() }
        let rows = try StoredOutbox(store, sink: "events").rows(after: 0, bytes: 1 << 30, milliseconds: 0)
        let lines = rows.flatMap { BundleText.of($0.body).split(separator: 0x0A).map(Array.init) }
        let times = try Set(lines.map { try JSONTree(parsing: $0)["OccurrenceTimeUtc"]?.text })
        #expect(times.count == lines.count)
        return lines.count
    }
}
