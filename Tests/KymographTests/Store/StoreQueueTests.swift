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
}
