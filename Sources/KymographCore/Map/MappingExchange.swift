import Synchronization

/// The mapping set in use: replaced while the pipeline runs, read by every lane and shard.
///
/// A lane looks at ``generation`` between batches, one relaxed load; everything else takes a lock and is for the rare
/// moment of a change.
///
/// Lanes change over one by one. What a lane has mapped by a former set may still be in its rings when another lane
/// uses the newest, so each lane puts a mark behind it, and a shard follows each lane to its set where the mark is.
package final class MappingExchange: Sendable {
    private struct State {
        var set: MappingSet
        var generation: Int
        /// By generation, sets whose marks are on their way, and how many are.
        var announced: [Int: (set: MappingSet, marks: Int)] = [:]
    }

    /// The set of generation 0.
    let first: MappingSet
    private let state: Mutex<State>
    private let published = Atomic<Int>(0)

    /// Begins with `set` as generation 0.
    package init(_ set: MappingSet) {
        first = set
        state = Mutex(State(set: set, generation: 0))
    }

    /// How often the set was replaced. A changed number says that ``latest`` has a newer set; nothing else is ordered
    /// by it.
    @inline(__always)
    package var generation: Int { published.load(ordering: .relaxed) }

    /// The newest set and its generation.
    package var latest: (set: MappingSet, generation: Int) {
        state.withLock { ($0.set, $0.generation) }
    }

    /// The newest set.
    package var current: MappingSet { latest.set }

    /// The newest set and its generation, for a lane that puts a mark into `rings` rings; each shard then asks for the
    /// set by ``takeAnnounced(generation:)``.
    package func announce(rings: Int) -> (set: MappingSet, generation: Int) {
        state.withLock { state in
            state.announced[state.generation, default: (state.set, 0)].marks += rings
            return (state.set, state.generation)
        }
    }

    /// The set of a mark that has come to its shard; nil when nobody has announced it.
    func takeAnnounced(generation: Int) -> MappingSet? {
        state.withLock { state in
            guard let announced = state.announced[generation] else { return nil }
            let left = announced.marks - 1
            state.announced[generation] = left > 0 ? (announced.set, left) : nil
            return announced.set
        }
    }

    /// Puts `set`, which was loaded as a continuation of ``current``, in its place.
    package func replace(with set: MappingSet) {
        let generation = state.withLock { state in
            state.set = set
            state.generation += 1
            return state.generation
        }
        published.store(generation, ordering: .relaxed)
    }
}
