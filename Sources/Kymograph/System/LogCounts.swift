import Synchronization

/// What a log has counted instead of written, for metrics. For any thread.
package final class LogCounts: Sendable {
    private let repeats = Atomic(0)

    /// Nothing yet.
    package init() {}

    /// Entries that were repeats of others, and not written by themselves.
    package var suppressed: Int { repeats.load(ordering: .relaxed) }

    /// Counts a repeat.
    func addRepeat() { repeats.add(1, ordering: .relaxed) }
}
