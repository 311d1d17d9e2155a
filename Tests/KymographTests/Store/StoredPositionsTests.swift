import GRDB
@testable import Kymograph
import KymographCore
import KymographTestKit
import Testing

/// Positions of topics outlast the process; they are in no commit before that of the readings up to there.
@Suite struct StoredPositionsTests {
    private let scratch = Scratch()
    private let topic = TopicName(cluster: "c-1", group: "kymo", topic: "readings")
    private let print = RecordPrint(TopicRecord(value: [1]))

    private var some: [Int32: TopicPosition] {
        [
            0: TopicPosition(next: 7, told: 5, telling: .own, print: print),
            3: TopicPosition(next: 0, told: 0, telling: .contested),
            40: TopicPosition(next: .max, told: 1, telling: .left, print: print),
        ]
    }

    @Test func positionsOutlastARestart() throws {
        try scratch.open { store in
            let number = store.positions.keep(some, of: topic)
            #expect(store.positions.positions(of: topic) == some && !store.positions.isKept(number))
            try store.commitWaiting()
            #expect(store.positions.isKept(number))
            // The later one holds, also of those that are committed together.
            _ = store.positions.keep([0: TopicPosition(next: 8, told: 7)], of: topic)
            _ = store.positions.keep([0: TopicPosition(next: 9, told: 8)], of: topic)
            try store.commitWaiting()
            _ = store.positions.keep([0: TopicPosition(next: 10, told: 9)], of: topic)
        }
        try scratch.open { store in
            var expected = some
            expected[0] = TopicPosition(next: 9, told: 8)
            #expect(store.positions.positions(of: topic) == expected)
            #expect(store.queue.take().batch.isEmpty)
        }
    }

    /// Names are compared byte by byte, and groups, topics and clusters are apart.
    @Test func names() throws {
        let names: [IdentifierText] = ["a", "b", "\u{e9}", "e\u{301}"]
        let topics = names.flatMap { first in
            names.flatMap { second in names.map { TopicName(cluster: first, group: second, topic: $0) } }
        }
        try scratch.open { store in
            for (number, topic) in topics.enumerated() {
                #expect(store.positions.keep([1: TopicPosition(next: Int64(number), told: 0)], of: topic) > 0)
            }
            try store.commitWaiting()
        }
        try scratch.open { store in
            for (number, topic) in topics.enumerated() {
                #expect(store.positions.positions(of: topic)[1]?.next == Int64(number))
            }
            #expect(store.positions.knowsOthers(than: TopicName(cluster: "x", group: "a", topic: "b")))
            #expect(!store.positions.knowsOthers(than: TopicName(cluster: "a", group: "x", topic: "b")))
        }
    }

    /// A store from before there were any gets the table; who only reads does not miss it.
    @Test func storesFromBefore() throws {
        try scratch.open { store in
            try store.pool.write { try $0.execute(sql: "DROP TABLE topic_position") }
            #expect(try store.pool.read { try LedgerReport.Topic.stored($0) }.isEmpty)
        }
        try scratch.open { store in
            _ = store.positions.keep(some, of: topic)
            try store.commitWaiting()
            let ledger = try store.pool.read { try LedgerReport.Topic.stored($0) }
            #expect(ledger.count == 1 && ledger[0].partitions.map(\.partition) == [0, 3])
            #expect(ledger[0].partitions.map(\.isContested) == [false, true])
        }
    }

    /// What no source of this store reads any more is left to others.
    @Test func partitionsAreLeft() throws {
        try scratch.open { store in
            _ = store.positions.keep(some, of: topic)
            store.positions.leave { _ in false }
            try store.commitWaiting()
            store.positions.leave { _ in false }
            #expect(store.queue.take().batch.isEmpty)
        }
        try scratch.open { store in
            let found = store.positions.positions(of: topic)
            #expect(found.mapValues(\.telling) == [0: .left, 3: .contested, 40: .left], "the group may be ahead")
            #expect(found[0]?.next == 7 && found[0]?.print == print)
        }
    }

    /// After a repair that has lost transactions, groups are ahead of the store: the lower position is taken.
    @Test(arguments: [0, 1]) func transactionsAreLost(count: Int) throws {
        try scratch.open { store in
            _ = store.positions.keep(some, of: topic)
            try store.commitWaiting()
            var salvage = StoreSalvage(store.directory, now: WallClock.now(), lostTransactions: count)
            let target = try DatabaseQueue()
            try StoreSchema.prepare(target)
            let found = try target.write { db in
                try salvage.run(into: db)
                return try [TopicPartition: TopicPosition].stored(db)
            }
            #expect(found.first { $0.key.number == 0 }?.value.telling == (count > 0 ? .contested : .own))
            #expect(salvage.summary.contains("topics are read on from where the store has them") == (count > 0))
        }
    }

    /// A repair leaves out a row that says nothing, and says so.
    @Test(arguments: ["print = x'00'", "next = 'x'", "telling = 9"]) func aDamagedRow(damage: String) throws {
        try scratch.open { store in
            _ = store.positions.keep(some, of: topic)
            try store.commitWaiting()
            try store.pool.write { try $0.execute(sql: "UPDATE topic_position SET \(damage) WHERE partition = 3") }
            #expect(throws: StoreError.self) {
                try store.pool.read { try [TopicPartition: TopicPosition].stored($0) }
            }
            var salvage = StoreSalvage(store.directory, now: WallClock.now(), lostTransactions: 0)
            let target = try DatabaseQueue()
            try StoreSchema.prepare(target)
            let found = try target.write { db in
                try salvage.run(into: db)
                return try [TopicPartition: TopicPosition].stored(db)
            }
            #expect(Set(found.keys.map(\.number)) == [0, 40])
            #expect(salvage.summary.contains("positions in topics are not all known"), "\(salvage.summary)")
        }
        // The next start repairs it by itself.
        try scratch.open { store in #expect(Set(store.positions.positions(of: topic).keys) == [0, 40]) }
    }
}
