import Synchronization

/// The mapping set in use, and what each sink gets: replaced while the pipeline runs, read by every lane and shard.
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
        /// Nil while it is that of the start.
        var routing: SinkRouting?
        /// By generation, what marks that are on their way stand for, and how many they are.
        var announced: [Int: (use: Use, marks: Int)] = [:]
    }

    /// What a mark stands for.
    struct Use {
        var set: MappingSet
        /// Nil while it is that of the start.
        var routing: SinkRouting?
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
            let use = Use(set: state.set, routing: state.routing)
            state.announced[state.generation, default: (use, 0)].marks += rings
            return (state.set, state.generation)
        }
    }

    /// What a mark stands for that has come to its shard; nil when nobody has announced it.
    func takeAnnounced(generation: Int) -> Use? {
        state.withLock { state in
            guard let announced = state.announced[generation] else { return nil }
            let left = announced.marks - 1
            state.announced[generation] = left > 0 ? (announced.use, left) : nil
            return announced.use
        }
    }

    /// Puts `set`, which was loaded as a continuation of ``current``, in its place; also `routing`, in a pipeline that
    /// keeps a journal, unless it is nil.
    package func replace(with set: MappingSet, routing: SinkRouting? = nil) {
        let generation = state.withLock { state in
            state.set = set
            if var routing {
                routing.version = (state.routing?.version ?? 0) + 1
                state.routing = routing
            }
            state.generation += 1
            return state.generation
        }
        published.store(generation, ordering: .relaxed)
    }
}
