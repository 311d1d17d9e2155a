import KymographCore
import Synchronization

/// Up to where windows of series were dropped. For any thread.
final class DroppedThrough: Sendable {
    /// Whether windows of any series were dropped: nearly never, and asked for each window.
    private let hasDropped = Atomic(false)
    private let dropped: Mutex<[Int: Int64]>
    /// ``StoreFacts/floor``.
    private let floor: Int64?

    /// What earlier runs have dropped, as `facts` say.
    init(_ facts: StoreFacts) {
        dropped = Mutex(facts.dropped)
        floor = facts.floor
        hasDropped.store(!facts.dropped.isEmpty || facts.floor != nil, ordering: .relaxed)
    }

    /// The latest start of the windows of a series that were dropped.
    func through(series: Int) -> Instant? {
        guard hasDropped.load(ordering: .relaxed) else { return nil }
        let own = dropped.withLock { $0[series] }
        return [own, floor].compactMap { $0 }.max().map { Instant(nanoseconds: $0) }
    }

    /// Notes the latest starts of windows that are dropped, by series.
    func note(_ starts: [Int: Int64]) {
        guard !starts.isEmpty else { return }
        dropped.withLock { $0.merge(starts) { max($0, $1) } }
        hasDropped.store(true, ordering: .relaxed)
    }
}
