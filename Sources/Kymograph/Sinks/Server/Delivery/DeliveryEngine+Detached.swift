import KymographCore

/// A device goes on without an entry that the server fails at: nothing says that it fails at the others, and what it
/// takes of them shows that the entry is to blame.
extension DeliveryEngine {
    /// Lets the devices of `flight` go on without the entry that it sends now, if that may be; whether they do. The
    /// entry is sent again and again as before, and the rest of the flight goes on its own.
    func detach(_ flight: Flight) -> Bool {
        let others = Array(flight.parts.dropLast())
        guard flight.detached == nil, let part = flight.parts.last, let entry = part.entries.first,
            mayGoOn(without: part, others.flatMap(\.entries))
        else { return flight.detached != nil }
        let rest = Flight(others, lanes: flight.lanes, locked: flight.locked)
        rest.isDoubtful = flight.isDoubtful
        (flight.parts, flight.lanes, flight.locked) = ([part], [], [])
        keepDetached(entry, flight)
        flights += 1
        releaseIdle(rest)
        send(rest)
        return true
    }

    /// Lets the device of `flight`, which stores `entry` by itself, go on without it, if that may be; whether it does.
    func detach(_ flight: Flight, saving entry: DeliveryEntry) -> Bool {
        guard flight.detached == nil, entry.described == nil, detached.hasRoom(taken: channel.taken) else {
            return flight.detached != nil
        }
        for lane in flight.lanes { release(lane) }
        flight.lanes = []
        keepDetached(entry, flight)
        return true
    }

    /// Takes the entries out of `part` that are to blame as it seems, each for a flight of its own, and gives what is
    /// left of it.
    func detach(from part: BundlePart, of flight: Flight, after wait: Int64) -> BundlePart? {
        guard flight.detached == nil else { return part }
        var left: [DeliveryEntry] = []
        for entry in part.entries {
            let alone = part.only([entry])
            guard entry.rebuffs.isDoubtful, mayGoOn(without: alone, part.entries) else {
                left.append(entry)
                continue
            }
            let own = Flight([alone], lanes: [])
            keepDetached(entry, own)
            flights += 1
            send(own, after: wait)
        }
        return left.isEmpty ? nil : part.only(left)
    }

    /// Sends `part` on its own, with its devices.
    func branch(_ flight: Flight, _ part: BundlePart) {
        let keys = Set(part.entries.map(\.lane))
        let locked = flight.locked.intersection(part.identifiers)
        let branch = Flight([part], lanes: flight.lanes.filter { keys.contains($0.key) }, locked: locked)
        branch.isDoubtful = flight.isDoubtful
        flight.lanes.removeAll { keys.contains($0.key) }
        flight.locked.subtract(locked)
        flights += 1
        send(branch)
    }

    private func keepDetached(_ entry: DeliveryEntry, _ flight: Flight) {
        flight.detached = entry
        flight.isDoubtful = true
        detached.insert(entry, taken: channel.taken)
    }

    /// Whether `others` may go on without the one entry of `part`: not while its Patient or Device is to be made, which
    /// they would make a second time, and not if a panel among them refers to it.
    private func mayGoOn(without part: BundlePart, _ others: [DeliveryEntry]) -> Bool {
        guard part.entries.count == 1, let target = part.entries.first?.target else { return false }
        return detached.hasRoom(taken: channel.taken) && part.identifiers.isSubset(of: present)
            && !others.contains { $0.members.contains { $0.target == target } }
    }
}
