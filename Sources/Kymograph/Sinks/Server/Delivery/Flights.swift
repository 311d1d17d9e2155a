import KymographCore

/// The flights under way: what they hold of lanes, Patients and Devices, and the entries that devices do not wait for.
///
/// A device goes on without an entry that the server fails at: nothing says that it fails at the others, and what it
/// takes of them shows that the entry is to blame.
final class Flights {
    private let channel: ServerChannel
    private let lanes: DeviceLanes
    private let creates: ConditionalCreates
    private var detached = DetachedEntries()
    /// Flights under way.
    private(set) var count = 0

    init(_ channel: ServerChannel, _ lanes: DeviceLanes, _ creates: ConditionalCreates) {
        self.channel = channel
        self.lanes = lanes
        self.creates = creates
    }

    /// Whether `entry` must wait for one that is detached.
    func isHeldUp(_ entry: DeliveryEntry) -> Bool { detached.holdsUp(entry) }

    /// Notes a flight that begins.
    func begin(_ flight: Flight) { count += 1 }

    /// Lets the devices go on of which nothing is left in `flight`.
    func releaseIdle(_ flight: Flight) {
        let busy = Set(flight.parts.flatMap { $0.entries.map(\.lane) })
        for lane in flight.lanes where !busy.contains(lane.key) { lanes.release(lane) }
        flight.lanes.removeAll { !busy.contains($0.key) }
        let needed = creates.missing(of: flight.parts.reduce(into: Set()) { $0.formUnion($1.identifiers) })
        creates.unlock(flight.locked.subtracting(needed))
        flight.locked.formIntersection(needed)
    }

    /// Notes the end of a flight.
    func land(_ flight: Flight) {
        for lane in flight.lanes { lanes.release(lane) }
        creates.unlock(flight.locked)
        if case .detached(let entry) = flight.standing { detached.remove(entry) }
        count -= 1
    }

    /// Takes `part` out of `flight`, with its devices; the flight of its own that it becomes.
    func branch(_ part: BundlePart, from flight: Flight) -> Flight {
        let keys = Set(part.entries.map(\.lane))
        let locked = flight.locked.intersection(part.identifiers)
        let branch = Flight(
            [part], lanes: flight.lanes.filter { keys.contains($0.key) }, locked: locked,
            standing: flight.isDoubtful ? .doubtful : .trusted)
        flight.lanes.removeAll { keys.contains($0.key) }
        flight.locked.subtract(locked)
        begin(branch)
        return branch
    }

    // MARK: Detached entries

    /// Lets the devices of `flight` go on without the entry that it sends now, which is sent again and again as before.
    /// The rest of the flight, to be sent on its own; nil when they must wait, or do not any more.
    func detachNext(of flight: Flight) -> Flight? {
        let others = Array(flight.parts.dropLast())
        guard !flight.isDetached, let part = flight.parts.last, let entry = part.entries.first,
            mayGoOn(without: part, others.flatMap(\.entries))
        else { return nil }
        let rest = Flight(others, lanes: flight.lanes, locked: flight.locked, standing: flight.standing)
        (flight.parts, flight.lanes, flight.locked) = ([part], [], [])
        detach(entry, flight)
        begin(rest)
        releaseIdle(rest)
        return rest
    }

    /// Lets the device of `flight`, which stores `entry` by itself, go on without it, if that may be; whether it does.
    func detach(_ entry: DeliveryEntry, savedBy flight: Flight) -> Bool {
        guard !flight.isDetached, entry.described == nil, detached.hasRoom(taken: channel.taken) else {
            return flight.isDetached
        }
        for lane in flight.lanes { lanes.release(lane) }
        flight.lanes = []
        detach(entry, flight)
        return true
    }

    /// Takes the entries out of `part` that are to blame as it seems, each for a flight of its own, and gives these
    /// flights and what is left of the part.
    func detach(from part: BundlePart) -> (own: [Flight], left: BundlePart?) {
        var own: [Flight] = []
        var left: [DeliveryEntry] = []
        for entry in part.entries {
            let alone = part.only([entry])
            guard entry.rebuffs.isDoubtful, mayGoOn(without: alone, part.entries) else {
                left.append(entry)
                continue
            }
            let flight = Flight([alone], lanes: [])
            detach(entry, flight)
            begin(flight)
            own.append(flight)
        }
        return (own, left.isEmpty ? nil : part.only(left))
    }

    private func detach(_ entry: DeliveryEntry, _ flight: Flight) {
        flight.standing = .detached(entry)
        detached.insert(entry, taken: channel.taken)
    }

    /// Whether `others` may go on without the one entry of `part`: not while its Patient or Device is to be made, which
    /// they would make a second time, and not if a panel among them refers to it.
    private func mayGoOn(without part: BundlePart, _ others: [DeliveryEntry]) -> Bool {
        guard part.entries.count == 1, let target = part.entries.first?.target else { return false }
        return detached.hasRoom(taken: channel.taken) && creates.missing(of: part.identifiers).isEmpty
            && !others.contains { $0.members.contains { $0.target == target } }
    }
}
