import KymographCore
import Synchronization

/// Counts of good readings that wait for the next commit. Nobody is woken for them: the readings themselves do that.
final class LedgerBook: Sendable {
    private let tallies = Mutex<[TallyKey: Int]>([:])

    /// Adds `count`.
    func add(_ count: Int, to key: TallyKey) { tallies.withLock { $0[key, default: 0] += count } }

    /// Moves what waits into `batch`. To be called after the batch was taken: what it holds is then counted.
    func move(into batch: inout StoreBatch) {
        let waiting = tallies.withLock { tallies in
            defer { tallies.removeAll(keepingCapacity: true) }
            return tallies
        }
        batch.tallies.merge(waiting) { $0 + $1 }
    }
}
