import KymographCore
import KymographTemplates

/// The Observations that were stored last, so that the next merge need not ask for them. At most 1,000.
class ObservationCache {
    private static let capacity = 1_000
    private var observations: [ServerIdentifier: JSONNode] = [:]
    private var order: [ServerIdentifier] = []

    init() {}

    /// The Observation of `identifier` as it was stored last.
    func find(_ identifier: ServerIdentifier) -> JSONNode? { observations[identifier] }

    /// Keeps an Observation.
    func set(_ observation: JSONNode, for identifier: ServerIdentifier) {
        if observations.updateValue(observation, forKey: identifier) == nil { order.append(identifier) }
        if order.count > Self.capacity * 2 { forgetOldest() }
    }

    /// Forgets an Observation.
    func remove(_ identifier: ServerIdentifier) { observations[identifier] = nil }

    private func forgetOldest() {
        let live = order.filter { observations[$0] != nil }
        for identifier in live.dropLast(Self.capacity) { observations[identifier] = nil }
        order = Array(live.suffix(Self.capacity))
    }
}
