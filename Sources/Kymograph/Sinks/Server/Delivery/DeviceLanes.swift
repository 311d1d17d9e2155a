import KymographCore

/// The lanes of all devices that have something to send or under way.
final class DeviceLanes {
    private var lanes: [ServerIdentifier: DeviceLane] = [:]
    /// Lanes that may have something to send, in the order in which they got it.
    private var ready: [DeviceLane] = []

    /// Whether a lane may have something to send.
    var hasReady: Bool { !ready.isEmpty }

    /// Puts `entry` at the end of its device's lane.
    func append(_ entry: DeliveryEntry) {
        let lane = lane(entry.lane)
        if lane.first == nil && lane.phase != .sending { ready.append(lane) }
        lane.append(entry)
    }

    private func lane(_ key: ServerIdentifier) -> DeviceLane {
        if let lane = lanes[key] { return lane }
        let lane = DeviceLane(key)
        lanes[key] = lane
        return lane
    }

    /// Lets a lane go on, or forgets it when it is empty.
    func release(_ lane: DeviceLane) {
        lane.leave()
        if lane.first != nil { ready.append(lane) } else { lanes[lane.key] = nil }
    }

    /// Hands each lane that may have something to send to `body`, in their order, and keeps those that still have.
    func visitReady(_ body: (DeviceLane) -> Void) {
        var left: [DeviceLane] = []
        for lane in ready where lane.phase == .idle {
            body(lane)
            // A lane that waits for something is put back when it is released.
            guard lane.phase == .idle else { continue }
            if lane.first == nil { lanes[lane.key] = nil } else { left.append(lane) }
        }
        ready = left
    }
}
