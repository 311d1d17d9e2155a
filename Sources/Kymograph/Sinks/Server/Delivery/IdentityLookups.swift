import KymographCore

/// The ids that the server has for the Devices, Patients and Encounters of entries.
final class IdentityLookups: EntryIdentities {
    /// Longest time that the answers to a lookup may take, where answers are not used for longer: an outage in between
    /// makes the first of them old.
    private static let longestLookup: Int64 = 60 * 1_000_000_000

    private let systems: ReferenceSystems
    private let maxAge: Int64
    private let resolver: IdentityResolver
    private let clock: DeliveryClock
    private var identities: IdentityCache
    /// How often all answers were forgotten.
    private var generation = 0

    init(_ settings: DeliverySettings, _ channel: ServerChannel, clock: DeliveryClock) {
        systems = settings.systems
        maxAge = settings.identityMaxAge
        resolver = IdentityResolver(
            settings.identity, server: ChannelServer(channel, settings), compatibility: settings.compatibility)
        self.clock = clock
        identities = IdentityCache(lifetime: settings.identityMaxAge)
    }

    var answerCount: Int { identities.count }

    func oldestAnswer(now: Instant) -> Instant? { identities.oldest(now: now) }

    func forgetAnswers() {
        generation += 1
        identities.removeAll()
    }

    func standing(of entry: DeliveryEntry) -> IdentityStanding {
        guard let query = query(of: entry) else { return .known }
        guard let known = identities.find(query, now: clock.elapsed()) else { return .unknown }
        switch known.result {
        case .success(let identity):
            entry.identity = identity
            entry.mark = LookupMark(asked: known.asked, generation: generation)
            return .known
        case .failure(let failure): return .failed(failure)
        }
    }

    func isOutdated(_ entry: DeliveryEntry) -> Bool {
        guard !entry.mayBeStored, let mark = entry.mark else { return false }
        let age = clock.elapsed().nanoseconds - mark.asked.nanoseconds
        return mark.generation != generation || age >= maxAge
    }

    func ask(about entry: DeliveryEntry, _ completion: @escaping () -> Void) {
        guard let query = query(of: entry) else { return completion() }
        lookUp(query, completion)
    }

    /// Asks for the ids of `query`. What was asked before all answers were forgotten is asked again.
    private func lookUp(_ query: IdentityQuery, _ completion: @escaping () -> Void) {
        let mark = LookupMark(asked: clock.elapsed(), generation: generation)
        resolver.resolve(query) { [self] result in
            let now = clock.elapsed()
            let age = now.nanoseconds - mark.asked.nanoseconds
            guard mark.generation == generation, age <= max(maxAge, Self.longestLookup) else {
                return lookUp(query, completion)
            }
            identities.keep(result, of: query, asked: mark.asked, now: now)
            completion()
        }
    }

    /// Whom `entry` is about; nil when it refers to nobody and nothing.
    private func query(of entry: DeliveryEntry) -> IdentityQuery? {
        guard entry.hasReferences || entry.described != nil else { return nil }
        // The wearer of a device has no identifier but the device's.
        let isWearer = entry.patient?.system == systems.deviceSubject
        let worn = entry.patient.map {
            ServerIdentifier(type: "Device", system: systems.device, value: $0.value)
        }
        return IdentityQuery(
            device: entry.described ?? entry.device ?? (isWearer ? worn : nil), patient: isWearer ? nil : entry.patient,
            encounter: entry.encounter, gateway: entry.gateway, needsPatient: entry.patient != nil)
    }
}
