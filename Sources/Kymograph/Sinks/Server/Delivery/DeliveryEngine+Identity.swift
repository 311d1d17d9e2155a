import KymographCore

/// What the server has of those whom entries are about: it is asked before they are sent.
extension DeliveryEngine {
    /// What is known of those whom an entry is about.
    enum Standing {
        /// All that is needed.
        case known
        /// The entry can never be sent.
        case failed(IdentityFailure)
        /// The server is to be asked.
        case unknown
    }

    /// Whether all is known that `entry` needs to be sent; asks for it otherwise. An entry that can never be sent is
    /// discarded, and the next is to be looked at: nil.
    func resolve(_ entry: DeliveryEntry, _ lane: DeviceLane) -> Bool? {
        switch standing(of: entry) {
        case .known: return true
        case .failed(let failure):
            lane.removeFirst()
            discard(entry, failure.reason, failure.message)
            return nil
        case .unknown:
            // What is taken of this lane already goes first.
            if lane.isBusy || channel.count >= settings.maxConcurrency * 4 { return false }
            lane.isResolving = true
            ask(about: entry) { [self] in
                lane.isResolving = false
                release(lane)
            }
            return lane.isResolving ? false : nil
        }
    }

    /// What is known for `entry` now, which gets the ids that the server has.
    func standing(of entry: DeliveryEntry) -> Standing {
        guard settings.resolvesIdentity else { return checked(entry) }
        guard let query = identityQuery(of: entry) else { return .known }
        guard let known = identities.find(query, now: clock.elapsed()) else { return .unknown }
        switch known.result {
        case .success(let identity):
            entry.identity = identity
            entry.mark = LookupMark(asked: known.asked, generation: lookupGeneration)
            return .known
        case .failure(let failure): return .failed(failure)
        }
    }

    /// Asks the server for what is not known for `entry`.
    func ask(about entry: DeliveryEntry, _ completion: @escaping () -> Void) {
        guard settings.resolvesIdentity else { return check(entry, completion) }
        guard let query = identityQuery(of: entry) else { return completion() }
        lookUp(query, completion)
    }

    // MARK: Lookups

    /// Longest time that the answers to a lookup may take, where answers are not used for longer: an outage in between
    /// makes the first of them old.
    private static let longestLookup: Int64 = 60 * 1_000_000_000

    /// Asks for the ids of `query`. What was asked before all answers were forgotten is asked again.
    private func lookUp(_ query: IdentityQuery, _ completion: @escaping () -> Void) {
        let mark = LookupMark(asked: clock.elapsed(), generation: lookupGeneration)
        resolver.resolve(query) { [self] result in
            let now = clock.elapsed()
            let age = now.nanoseconds - mark.asked.nanoseconds
            guard mark.generation == lookupGeneration, age <= max(settings.identityMaxAge, Self.longestLookup) else {
                return lookUp(query, completion)
            }
            identities.keep(result, of: query, asked: mark.asked, now: now)
            completion()
        }
    }

    /// Whom `entry` is about; nil when it refers to nobody and nothing.
    private func identityQuery(of entry: DeliveryEntry) -> IdentityQuery? {
        guard entry.hasReferences || entry.described != nil else { return nil }
        // The wearer of a device has no identifier but the device's.
        let isWearer = entry.patient?.system == settings.systems.deviceSubject
        let worn = entry.patient.map {
            ServerIdentifier(type: "Device", system: settings.systems.device, value: $0.value)
        }
        return IdentityQuery(
            device: entry.described ?? entry.device ?? (isWearer ? worn : nil), patient: isWearer ? nil : entry.patient,
            encounter: entry.encounter, gateway: entry.gateway, needsPatient: entry.patient != nil)
    }

    // MARK: Patients and Devices that bundles bring

    private func checked(_ entry: DeliveryEntry) -> Standing {
        guard settings.checksIdentifiers else { return .known }
        let now = clock.elapsed()
        var standing = Standing.known
        for identifier in entry.brought {
            switch checks.find(identifier, now: now) {
            case .failure(let failure): return .failed(failure)
            case .success: break
            case nil: standing = .unknown
            }
        }
        return standing
    }

    private func check(_ entry: DeliveryEntry, _ completion: @escaping () -> Void) {
        let now = clock.elapsed()
        let unknown = entry.brought.filter { checks.find($0, now: now) == nil }
        var open = unknown.count
        if open == 0 { return completion() }
        for identifier in unknown {
            let isNew = checks.wait(for: identifier) {
                open -= 1
                if open == 0 { completion() }
            }
            if isNew { search(identifier) }
        }
    }

    private func search(_ identifier: ServerIdentifier) {
        let asked = clock.elapsed()
        ChannelServer(channel, settings).searchAll(identifier) { [self] result in
            let result = result.mapError {
                IdentityFailure(reason: $0.reason, resource: identifier.type, message: $0.message)
            }
            guard let waiting = checks.take(result, of: identifier, asked: asked, now: clock.elapsed()) else {
                return search(identifier)
            }
            if case .success(false)? = checks.find(identifier, now: asked) { present.remove(identifier) }
            for completion in waiting { completion() }
        }
    }
}
