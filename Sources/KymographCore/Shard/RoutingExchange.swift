import Synchronization

/// What each sink gets: replaced while the pipeline runs, together with the mappings. A shard that goes over to a
/// generation of the mappings goes over to the routing of that generation.
package final class RoutingExchange: Sendable {
    /// The latest that replaced another, and the generation from which on it is in use.
    private let latest = Mutex<(generation: Int, routing: SinkRouting)?>(nil)

    /// Begins with that of the start, which shards are made with.
    package init() {}

    /// Has `routing` in use from `generation` on, which no shard has seen yet.
    package func replace(with routing: SinkRouting, from generation: Int) {
        latest.withLock { $0 = (generation, routing) }
    }

    /// What is in use at `generation`, if it came after generation `former`; the latest, where a later one has come
    /// meanwhile.
    func routing(at generation: Int, after former: Int) -> SinkRouting? {
        latest.withLock { latest in
            guard let latest, latest.generation > former, latest.generation <= generation else { return nil }
            return latest.routing
        }
    }
}
