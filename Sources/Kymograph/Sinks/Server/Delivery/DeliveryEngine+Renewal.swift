import KymographCore

/// What waits for a server does not keep for longer than others what the server said before: it is asked again, unless
/// it may have what was sent. An Observation that it has stays whose it was.
extension DeliveryEngine {
    /// Whether the server is to be asked again about `entry` before that is sent once more.
    private func isOutdated(_ entry: DeliveryEntry) -> Bool {
        guard !entry.mayBeStored else { return false }
        guard settings.resolvesIdentity else {
            if case .known = standing(of: entry) { return false }
            return true
        }
        guard let mark = entry.mark else { return false }
        let age = clock.elapsed().nanoseconds - mark.asked.nanoseconds
        return mark.generation != lookupGeneration || age >= settings.identityMaxAge
    }

    /// Takes `exchange`, which sends `part`, back if that has outdated ids, and sends it with new ones; whether it
    /// does.
    func takeBack(_ exchange: Exchange, _ part: BundlePart, of flight: Flight) -> Bool {
        let outdated = part.entries.filter(isOutdated)
        guard !outdated.isEmpty else { return false }
        note(part, attempts: exchange.attempts, in: flight)
        renew(outdated[...], of: flight, exchange.rebuffs)
        return true
    }

    private func renew(_ entries: ArraySlice<DeliveryEntry>, of flight: Flight, _ rebuffs: Rebuffs) {
        var left = entries
        while let entry = left.first {
            switch standing(of: entry) {
            case .known: break
            case .failed(let failure):
                discard(entry, failure.reason, failure.message)
                flight.remove(entry)
            case .unknown: return ask(about: entry) { [self] in renew(left, of: flight, rebuffs) }
            }
            left.removeFirst()
        }
        releaseIdle(flight)
        flight.parts.isEmpty ? land(flight) : send(flight, rebuffs: rebuffs, isFresh: true)
    }

    // MARK: What is stored alone

    /// Whether `entry`, which is stored by itself, is not to be sent again with the ids that it has.
    func takesBack(_ entry: DeliveryEntry) -> Bool { settings.resolvesIdentity && isOutdated(entry) }

    /// Asks the server again about `entry`; whether it can still be stored.
    func renew(_ entry: DeliveryEntry, _ completion: @escaping (Bool) -> Void) {
        switch standing(of: entry) {
        case .known: completion(true)
        case .failed(let failure):
            discard(entry, failure.reason, failure.message)
            completion(false)
        case .unknown: ask(about: entry) { [self] in renew(entry, completion) }
        }
    }
}
