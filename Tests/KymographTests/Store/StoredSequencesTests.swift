import GRDB
@testable import Kymograph
import KymographCore
import KymographTestKit
import Testing

/// Sequence numbers of sealed datagrams are durable with the readings that came by them, or before.
@Suite struct StoredSequencesTests {
    private let scratch = Scratch()
    private static let one = KeyPrint([UInt8](repeating: 1, count: 16))
    private static let other = KeyPrint([UInt8](repeating: 2, count: 16))

    /// What waits with the numbers is committed with them; what was not committed is not known after a restart.
    @Test func numbersOutlastARestart() throws {
        try scratch.open { store in
            let page = store.queue.sequences.page(of: Self.one)
            #expect(page.take(5) == .new && page.take(.max) == .new)
            #expect(store.queue.sequences.page(of: Self.other).take(0) == .new)
            try store.commitWaiting()
            #expect(page.take(.max - 1) == .new)
            #expect(store.queue.sequences.page(of: Self.other).take(7) == .new)
        }
        try scratch.open { store in
            let page = store.queue.sequences.page(of: Self.one)
            #expect(page.verdict(.max) == .repeated && page.verdict(.max - 1) == .new && page.verdict(5) == .stale)
            let other = store.queue.sequences.page(of: Self.other)
            #expect(other.verdict(0) == .repeated && other.verdict(7) == .new)
            // Nothing has changed yet.
            #expect(store.queue.take().batch.isEmpty)
        }
    }

    /// A unit of readings is never in a batch without the numbers that were noted before it was submitted.
    @Test func unitsAndTheirNumbers() throws {
        let queue = try StoreQueue()
        let page = queue.sequences.page(of: Self.one)
        let lane = TestThread {
            for number in 0..<5_000 as Range<UInt64> {
                _ = page.take(number)
                queue.submit(.made(journal: Int64(number) + 1))
            }
        }
        var (highest, seen) = (nil as UInt64?, 0)
        while seen < 5_000 {
            let batch = queue.take().batch
            if let window = batch.sequences[Self.one] { highest = window.highest }
            for unit in batch.units {
                let number = UInt64((unit.journal?.number ?? 0) - 1)
                #expect(highest.map { $0 >= number } ?? false, "\(number) without its sequence number")
                seen += 1
            }
        }
        lane.join()
    }

    /// Later batches have the later numbers.
    @Test func batchesAreJoined() throws {
        let queue = try StoreQueue()
        let page = queue.sequences.page(of: Self.one)
        _ = page.take(1)
        var first = queue.take().batch
        _ = page.take(2)
        first.append(queue.take().batch)
        #expect(first.sequences[Self.one]?.highest == 2)
    }

    /// A store of a version that knew no sealed datagrams gets the table.
    @Test func storesFromBefore() throws {
        try scratch.open { store in try store.pool.write { try $0.execute(sql: "DROP TABLE sealed") } }
        try scratch.open { store in
            #expect(store.queue.sequences.page(of: Self.one).take(1) == .new)
            try store.commitWaiting()
        }
        try scratch.open { store in #expect(store.queue.sequences.page(of: Self.one).verdict(1) == .repeated) }
    }

    /// A row that says nothing has the store repaired, which starts again then: senders have new keys by the note.
    @Test func aDamagedRow() throws {
        try scratch.open { store in
            #expect(store.queue.sequences.page(of: Self.one).take(1) == .new)
            #expect(store.queue.sequences.page(of: Self.other).take(4) == .new)
            try store.commitWaiting()
            try store.pool.write { try $0.execute(sql: "UPDATE sealed SET seen = x'00' WHERE highest = 1") }
        }
        try scratch.open { store in
            #expect(store.queue.sequences.page(of: Self.other).verdict(4) == .repeated)
            let rows = try store.pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM sealed") }
            #expect(rows == 1)
        }
    }

    /// A repair leaves out a row with which no store would open, and says so.
    @Test(arguments: ["seen = x'00'", "key = x'01'", "highest = x'02'"]) func aDamagedRowIsLeftOut(
        damage: String
    ) throws {
        try scratch.open { store in
            #expect(store.queue.sequences.page(of: Self.one).take(1) == .new)
            try store.commitWaiting()
            try store.pool.write { try $0.execute(sql: "UPDATE sealed SET \(damage)") }
            #expect(throws: StoreError.self) { try store.pool.read { try [KeyPrint: SequenceWindow].stored($0) } }
            #expect(store.queue.sequences.page(of: Self.other).take(4) == .new)
            try store.commitWaiting()
            let (found, summary) = try salvage(store, lostTransactions: 0)
            #expect(found.count == 1 && found[Self.other]?.highest == 4)
            #expect(summary.contains("an unknown number of sealed"), "\(summary)")
            #expect(summary.contains("give their senders new keys"), "\(summary)")
        }
    }

    /// Numbers of transactions that are lost are lost with them.
    @Test(arguments: [(0, 0), (1, 0), (0, 5)]) func aRepairOfLostTransactions(count: Int, marked: Int) throws {
        try scratch.open { store in
            // A database that is behind its mark has lost some without a trace.
            try StoreMark(store.directory).write(StoreCounts(received: marked, kept: marked))
            let summary = try salvage(store, lostTransactions: count).summary
            #expect(summary.contains("give their senders new keys") == (count + marked > 0), "\(summary)")
        }
    }

    private func salvage(
        _ store: Store, lostTransactions: Int
    ) throws -> (found: [KeyPrint: SequenceWindow], summary: String) {
        var salvage = StoreSalvage(store.directory, now: WallClock.now(), lostTransactions: lostTransactions)
        let target = try DatabaseQueue()
        try StoreSchema.prepare(target)
        let found = try target.write { db in
            try salvage.run(into: db)
            return try [KeyPrint: SequenceWindow].stored(db)
        }
        return (found, salvage.summary)
    }

    /// A repair keeps what can be read; what cannot be is said.
    @Test(arguments: [true, false]) func aRepair(isReadable: Bool) throws {
        try scratch.open { store in
            #expect(store.queue.sequences.page(of: Self.one).take(9) == .new)
            try store.commitWaiting()
            if !isReadable {
                try store.pool.write { try $0.execute(sql: "DROP TABLE sealed; CREATE TABLE sealed (unreadable)") }
            }
            let (found, summary) = try salvage(store, lostTransactions: 0)
            #expect(found[Self.one]?.highest == (isReadable ? 9 : nil))
            #expect(summary.contains("give their senders new keys") != isReadable, "\(summary)")
        }
    }
}
