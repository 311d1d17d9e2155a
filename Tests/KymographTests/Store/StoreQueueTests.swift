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
}
