import KymographCore

/// Decides whether the first entry of a lane may be sent now.
struct EntryAdmission {
    /// Most requests, for each that may be under way, before more ids are asked for.
    private static let lookupsAhead = 4

    let settings: DeliverySettings
    let channel: ServerChannel
    let rows: OutboxConsumer
    let lanes: DeviceLanes
    let flights: Flights
    let identities: any EntryIdentities

    /// The first entry of `lane` if it may be sent now; nil when it has to wait, or there is none. Asks for what is
    /// not known for it. Entries that can never be sent are discarded.
    func next(of lane: DeviceLane) -> DeliveryEntry? {
        while let entry = lane.first, !flights.isHeldUp(entry) {
            switch identities.standing(of: entry) {
            case .known: return entry
            case .failed(let failure):
                lane.removeFirst()
                rows.discard(entry, failure)
            case .unknown:
                guard isAnsweredAtOnce(entry, lane) else { return nil }
            }
        }
        return nil
    }

    private func isAnsweredAtOnce(_ entry: DeliveryEntry, _ lane: DeviceLane) -> Bool {
        // What is taken of this lane already goes first.
        if lane.phase == .sending || channel.count >= settings.maxConcurrency * Self.lookupsAhead { return false }
        lane.enter(.resolving)
        identities.ask(about: entry) { [lanes] in lanes.release(lane) }
        return lane.phase != .resolving
    }
}
