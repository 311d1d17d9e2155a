import KymographCore

/// Takes the units of shards before a store does, and hands them on to it when their entries are delivered: where a
/// file or standard output is the only sink.
protocol UnitDelivery: AnyObject, Sendable {
    /// Takes a unit without its journal; waits while too much is waiting already.
    func submit(_ unit: ShardUnit)

    /// The shards that wait for room in ``submit(_:)``.
    var waitingShards: Set<Int> { get }

    /// Units taken so far.
    var submittedUnits: Int { get }

    /// Whether the first `count` units have been delivered, and handed on.
    func isDelivered(_ count: Int) -> Bool

    /// Waits until everything that was submitted before has been delivered; other shards may go on submitting.
    func waitUntilDelivered()
}
