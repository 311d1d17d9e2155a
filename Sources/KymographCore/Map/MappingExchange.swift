import Synchronization

/// The mapping set in use: replaced while the pipeline runs, read by every lane and shard.
///
/// A lane looks at ``generation`` between batches, one relaxed load; everything else takes a lock and is for the rare
/// moment of a change.
public final class MappingExchange: Sendable {
    private struct State {
        var set: MappingSet
        var generation: Int
    }

    private let state: Mutex<State>
    private let published = Atomic<Int>(0)

    /// Begins with `set` as generation 0.
    public init(_ set: MappingSet) {
        state = Mutex(State(set: set, generation: 0))
    }

    /// How often the set was replaced. A changed number says that ``latest`` has a newer set; nothing else is ordered
    /// by it.
    @inline(__always)
    public var generation: Int { published.load(ordering: .relaxed) }

    /// The newest set and its generation.
    public var latest: (set: MappingSet, generation: Int) {
        state.withLock { ($0.set, $0.generation) }
    }

    /// The newest set.
    public var current: MappingSet { latest.set }

    /// Puts `set`, which was loaded as a continuation of ``current``, in its place.
    public func replace(with set: MappingSet) {
        let generation = state.withLock { state in
            state.set = set
            state.generation += 1
            return state.generation
        }
        published.store(generation, ordering: .relaxed)
    }
}
