import GRDB
@testable import Kymograph
import KymographCore
import KymographTestKit
import Testing

/// What an archived window says to have of the journal it has, whatever numbers later blocks get.
@Suite struct JournalPlaceTests {
    private static func line(_ second: Int) -> [UInt8] {
        let (minute, rest) = (second / 60, second % 60)
        let time = "2026-03-01T08:\(minute < 10 ? "0" : "")\(minute):\(rest < 10 ? "0" : "")\(rest)Z"
        return Array(
            """
            {"deviceId":"watch-1","type":"heartRate","timestamp":"\(time)","value":\(60 + second % 40),"unit":"/min"}
            """.utf8)
    }

    /// One run on the store in `scratch`, which has `others` shards besides. It is killed in the end, before windows
    /// come to the archive unless it `archives`, as when they wait for files to be synchronised.
    private func run(
        _ scratch: Scratch, _ set: MappingSet, others: Int = 0, archives: Bool = true,
        _ body: (inout DurableRehearsal) -> Void
    ) throws {
        let store = try Store(path: scratch.path)
        defer { store.close() }
        // One that never says what it needs keeps the journal.
        store.begin(shards: 2)
        var commit = StoreCommit(store, MappingExchange(set))
        var rehearsal = DurableRehearsal(set: set, store: store, settings: StoredRun.settings)
        rehearsal.begin { target in
            for _ in 0..<others {
                var other = DurableRehearsal(set: set, store: store, settings: StoredRun.settings)
                other.begin { _ in }
            }
            _ = StoreReplay(store, shard: 0, of: 1).run(into: &target)
        }
        body(&rehearsal)
        var batch = store.queue.take().batch
        if !archives { for index in batch.units.indices { _ = batch.units[index].splitWindows() } }
        try commit.commit(batch, now: DurableRehearsal.start)
    }

    @Test func aLateReadingOutlivesTheShardsOfAnEarlierRun() throws {
        let set = try #require(PipelineRehearsal.reading)
        let scratch = Scratch()
        try run(scratch, set, archives: false) { rehearsal in
            for second in stride(from: 0, to: 720, by: 10) where second != 70 { rehearsal.take(Self.line(second)) }
            rehearsal.handOver()
        }
        try run(scratch, set, others: 2) { $0.handOver() }
        try run(scratch, set, archives: false) { rehearsal in
            rehearsal.take(Self.line(70))
            rehearsal.handOver()
        }
        try run(scratch, set) { $0.drain() }
        let store = try Store(path: scratch.path)
        defer { store.close() }
        #expect(try store.value("SELECT readings FROM window ORDER BY start LIMIT 1") == 30)
    }
}
