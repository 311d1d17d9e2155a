import Synchronization

/// The sign of life of one thread: it beats in each round of its work, and another thread looks whether it has.
final class Pulse: Sendable {
    private static let ended = -1

    private let rounds = Atomic(0)

    /// Notes another round. Only the thread whose pulse it is may call it: that is why no atomic addition is needed.
    @inline(__always)
    func beat() { rounds.store(rounds.load(ordering: .relaxed) &+ 1, ordering: .relaxed) }

    /// Notes that the thread has done all its work.
    func end() { rounds.store(Pulse.ended, ordering: .relaxed) }

    /// Rounds up to now; nil when the thread has done all its work.
    var count: Int? {
        let count = rounds.load(ordering: .relaxed)
        return count == Pulse.ended ? nil : count
    }
}
