import KymographCore
import Synchronization

/// Asks shards to close windows at once, and gathers what they have closed. For any thread; costs a shard one load for
/// each look at its rings.
final class FlushPoint: Sendable {
    /// What somebody has asked for.
    struct Request: Sendable {
        var generation: Int
        var selection: WindowSelection
        /// Of each shard that has done it, how many windows it has closed.
        fileprivate var closed: [Int: Int] = [:]
    }

    /// The latest, the oldest first.
    private let requests = Mutex<[Request]>([])
    private let count = Atomic(0)
    /// Number of shards.
    private let shards: Int

    /// Requests that are known, done or not.
    static let most = 16

    /// Asks `shards` shards.
    init(shards: Int) { self.shards = shards }

    /// Grows with each request.
    @inline(__always)
    var generation: Int { count.load(ordering: .relaxed) }

    /// Asks to close the windows that `selection` has; gives the generation of the request. It is nil while as many
    /// others are not done as are kept.
    func ask(_ selection: WindowSelection) -> Int? {
        requests.withLock { requests in
            if requests.count == FlushPoint.most {
                guard let done = requests.firstIndex(where: { $0.closed.count == shards }) else { return nil }
                requests.remove(at: done)
            }
            requests.append(Request(generation: generation + 1, selection: selection))
            return count.add(1, ordering: .relaxed).newValue
        }
    }

    /// The requests after `generation`, in their order.
    func requests(after generation: Int) -> [Request] {
        requests.withLock { $0.filter { $0.generation > generation } }
    }

    /// Notes that shard `number` has closed `closed` windows for request `generation`, and has handed them over.
    func note(_ closed: Int, shard number: Int, for generation: Int) {
        requests.withLock { requests in
            guard let place = requests.firstIndex(where: { $0.generation == generation }) else { return }
            requests[place].closed[number] = closed
        }
    }

    /// Whether request `generation` is known still.
    func isKnown(_ generation: Int) -> Bool {
        requests.withLock { $0.contains { $0.generation == generation } }
    }

    /// How many windows the shards have closed for request `generation`; nil before all have, or when it is not known.
    func closed(for generation: Int) -> Int? {
        requests.withLock { requests in
            guard let request = requests.first(where: { $0.generation == generation }) else { return nil }
            return request.closed.count == shards ? request.closed.values.reduce(0, +) : nil
        }
    }
}
