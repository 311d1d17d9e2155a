import KymographCore
import Synchronization

/// What a store has taken, and how long that took. For any thread.
final class StoreTotals: Sendable {
    /// How far the store has come, beside the database.
    private let mark: StoreMark
    private let counts: Mutex<StoreCounts>
    /// ``StoreCounts/kept`` of earlier runs.
    private let keptBefore: Int
    /// How long commits took.
    let commitTimes = Mutex(DurationCounts())
    /// How long readings took from when they were received until they were durable, of those that are samples.
    let durableTimes = Mutex(DurationCounts())

    /// Goes on from `counts`, which a mark in `directory` has.
    init(_ counts: StoreCounts, _ directory: StoreDirectory) throws(StoreError) {
        mark = try StoreMark(directory)
        mark.write(counts)
        self.counts = Mutex(counts)
        keptBefore = counts.kept
    }

    /// Notes what the last commit has added.
    func noteCommitted(_ added: StoreCounts) {
        guard added != StoreCounts() else { return }
        let sum = counts.withLock { counts in
            counts = counts + added
            return counts
        }
        mark.write(sum)
    }

    /// Readings that this run's commits have made durable.
    var keptInThisRun: Int { counts.withLock { $0.kept - keptBefore } }

    /// Makes the mark durable.
    func synchronise() { mark.synchronise() }
}
