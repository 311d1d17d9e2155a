import Synchronization

/// Which sources are paused: lanes read nothing of those whose senders can wait. For any thread.
final class SourceHolds: Sendable {
    private let numbers = Mutex<Set<Int>>([])
    private let count = Atomic(0)

    /// Grows with each change.
    @inline(__always)
    var generation: Int { count.load(ordering: .relaxed) }

    /// The numbers of the sources, and the generation that they are of.
    var current: (numbers: Set<Int>, generation: Int) { numbers.withLock { ($0, generation) } }

    /// Pauses the sources `new`, and no others; gives the generation.
    @discardableResult
    func replace(with new: Set<Int>) -> Int {
        numbers.withLock { numbers in
            numbers = new
            return count.add(1, ordering: .relaxed).newValue
        }
    }
}
