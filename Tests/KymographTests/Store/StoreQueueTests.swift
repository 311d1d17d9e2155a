@testable import Kymograph
@testable import KymographCore
import KymographTestKit
import Testing

/// The store's thread rests between commits, but not while somebody waits for one.
@Suite struct StoreQueueTests {
    /// What ends a rest.
    enum Reason: CaseIterable {
        case end, force, much, waiting
    }

    /// However long the rest would be.
    @Test(arguments: Reason.allCases) func aRestEnds(by reason: Reason) throws {
        let queue = try StoreQueue()
        queue.submit(.made(journal: 1))
        let hasRested = AtomicFlag()
        let resting = TestThread {
            queue.rest(nanoseconds: 3_600_000_000_000)
            hasRested.set()
        }
        let acting = TestThread {
            switch reason {
            case .end: queue.close()
            case .force: queue.force()
            case .much: queue.submit(.made(journal: 2, bytes: 2 << 20))
            case .waiting: queue.waitUntilCommitted()
            }
        }
        #expect(Patience.until(seconds: 30) { hasRested.isSet })
        // Lets go of whoever still waits.
        queue.force()
        resting.join()
        acting.join()
    }

    /// A count is the sum of what shards say; one that is too old stays unknown, whatever comes of it later.
    @Test func oldCountsAreForgotten() throws {
        let queue = try StoreQueue()
        func commit(_ number: Int, shard: Int, lane: Int = 1, duplicate: Int) {
            var unit = ShardUnit(shard: shard)
            var outcomes = ReadingOutcomes()
            outcomes.duplicate = duplicate
            unit.counts = [CountedReadings(lane: lane, number: number, outcomes: outcomes)]
            queue.commit(.made(unit), through: 0)
        }
        func duplicates(_ number: Int, lane: Int = 1) -> Int? { queue.takeCount(number, lane: lane)?.duplicate }
        for number in 1...3 { commit(number, shard: 0, duplicate: number * 10) }
        commit(2, shard: 0, lane: 0, duplicate: 8)
        commit(1, shard: 1, duplicate: 1)
        #expect(duplicates(1) == 11 && duplicates(1) == nil && duplicates(1, lane: 0) == nil)
        commit(2 + 65_536, shard: 0, duplicate: 4)
        for number in [2, 3, 2 + 65_536] { commit(number, shard: 1, duplicate: 1) }
        #expect(duplicates(2) == nil, "the part of shard 0 is gone, and one of shard 1 is not all")
        #expect(duplicates(3) == 31 && duplicates(2 + 65_536) == 5)
        // An older number takes nothing back, and no other lane forgets.
        commit(4, shard: 0, duplicate: 6)
        commit(2, shard: 0, duplicate: 7)
        #expect(duplicates(2) == nil && duplicates(4) == 6 && duplicates(2, lane: 0) == 8)
    }

    /// The number of the count of an item.
    private static func number(body: Int, item: Int) -> Int {
        var number = ItemNumber()
        for _ in 0..<body { number.nextBody() }
        for _ in 0..<item { number.nextItem() }
        return number.count
    }

    /// What `shard` tells of items from 1 on of lane 1, each of which has had so many duplicates.
    private static func unit(body: Int, _ duplicates: [Int], shard: Int = 0) -> ShardUnit {
        var unit = ShardUnit(shard: shard)
        for (place, count) in duplicates.enumerated() {
            var outcomes = ReadingOutcomes()
            outcomes.duplicate = count
            unit.counts.append(
                CountedReadings(lane: 1, number: number(body: body, item: place + 1), outcomes: outcomes))
        }
        return unit
    }

    /// A commit with the items of more bodies than have room: the oldest are forgotten, each with all of its items, and
    /// counts of requests as a whole all stay.
    @Test func itemsTakeNothingFromRequests() throws {
        let queue = try StoreQueue()
        var whole = ShardUnit(shard: 0)
        whole.counts = (1...3).map { CountedReadings(lane: 1, number: $0, outcomes: ReadingOutcomes()) }
        var batch = StoreBatch.made(whole)
        let known = Array(repeating: 1, count: 1_000)
        for body in 1...132 { batch.units.append(Self.unit(body: body, known)) }
        queue.commit(batch, through: 1)
        // A body is one, and each item, of 131,072.
        let counts = (1...132).map { queue.takeItems(ofBody: $0, lane: 1)?.count }
        #expect(counts == [nil, nil] + Array(repeating: 1_000, count: 130))
        #expect((1...3).allSatisfy { queue.takeCount($0, lane: 1) == ReadingOutcomes() })
        // What other shards tell of a body that was forgotten is not all of it.
        queue.commit(.made(Self.unit(body: 2, [1], shard: 1), Self.unit(body: 133, [1], shard: 1)), through: 2)
        #expect(queue.takeItems(ofBody: 2, lane: 1) == nil && queue.takeItems(ofBody: 133, lane: 0) == nil)
        #expect(queue.takeItems(ofBody: 133, lane: 1)?.count == 1 && queue.takeItems(ofBody: 133, lane: 1) == nil)
    }

    /// Of items all of whose readings were accepted, as nearly always, nothing is kept: many more bodies have room.
    @Test func newReadingsTakeNoRoom() throws {
        let queue = try StoreQueue()
        let new = Array(repeating: 0, count: 1_000)
        for body in 1...200 { queue.commit(.made(Self.unit(body: body, new + [body])), through: body) }
        for body in 1...200 {
            let items = queue.takeItems(ofBody: body, lane: 1)
            #expect(items?.values.map(\.duplicate) == [body], "body \(body)")
        }
    }

    /// What was taken makes room, and what several shards tell of an item is added up.
    @Test func takenItemsMakeRoom() throws {
        let queue = try StoreQueue()
        for body in 1...400 {
            let parts = (0..<3).map { Self.unit(body: body, Array(repeating: $0, count: 300), shard: $0) }
            queue.commit(.made(parts[0], parts[1], parts[2]), through: body)
            guard body > 1 else { continue }
            let items = queue.takeItems(ofBody: body, lane: 1)
            #expect(items?.count == 300 && items?.values.allSatisfy { $0.duplicate == 3 } == true, "body \(body)")
        }
        #expect(queue.takeItems(ofBody: 1, lane: 1)?.count == 300, "the oldest of few stays")
    }
}
