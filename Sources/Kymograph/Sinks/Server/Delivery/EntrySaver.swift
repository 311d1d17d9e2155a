import KymographCore
import KymographTemplates

/// Stores the resources of entries one by one, each merged with what the server has, or deletes them.
final class EntrySaver {
    private let settings: DeliverySettings
    private let channel: ServerChannel
    private let probe: ServerProbe
    private let rows: OutboxConsumer
    private let identities: any EntryIdentities
    private let flights: Flights
    private let deleter: EntryDeleter
    /// What the server has of the Observations that were merged.
    private let observations = ObservationCache()

    init(
        _ settings: DeliverySettings, _ channel: ServerChannel, _ probe: ServerProbe, rows: OutboxConsumer,
        identities: any EntryIdentities, flights: Flights
    ) {
        self.settings = settings
        self.channel = channel
        self.probe = probe
        self.rows = rows
        self.identities = identities
        self.flights = flights
        deleter = EntryDeleter(settings, channel, rows: rows, flights: flights)
    }

    /// Stores or deletes `entry`, the first of `lane`, in a flight of its own. The lane is in the phase
    /// ``DeviceLane/Phase/sending``.
    func save(next entry: DeliveryEntry, of lane: DeviceLane) {
        assert(lane.phase == .sending, "the lane would send another entry meanwhile")
        lane.removeFirst()
        let flight = Flight([], lanes: [lane])
        flights.begin(flight)
        entry.isDeleted ? deleter.delete(entry, flight, after: nil) : save(entry, flight, rebuffs: nil)
    }

    /// Stores the resource of `entry`; `rebuffs` as ``RetryHooks`` has them.
    private func save(_ entry: DeliveryEntry, _ flight: Flight, rebuffs: Rebuffs?) {
        let body = BundleEncoder(settings, probe.capabilities).resource(entry)
        // To be merged with what the server has.
        guard let resource = JSONNode.answer(body) else {
            rows.discard(entry, .malformedBundle, "the resource cannot be read")
            return flights.land(flight)
        }
        entry.attempts += 1
        // What the request was answered before it was taken back, if it was.
        var before: Rebuffs?
        let hooks = RetryHooks(
            rebuffs: rebuffs, updatesWhatWasThere: true,
            whenDoubtful: { [flights] in flights.detach(entry, savedBy: flight) },
            whenUncertain: { entry.mayBeStored = true },
            isOutdated: { [identities] exchange in
                if identities.isOutdated(entry) { before = exchange.rebuffs }
                return before != nil
            })
        saver(hooks).save(resource, entry.identifier, rule: rule(entry)) { [self] result in
            if let before { return renew(entry, flight, before) }
            note(result, of: entry)
            flights.land(flight)
        }
    }

    private func rule(_ entry: DeliveryEntry) -> ResourceSaver.Rule {
        var rule = ResourceSaver.Rule()
        rule.creates = settings.identity == .create || entry.described == nil
        rule.updates = entry.type == "Observation" || !entry.isCreated
        return rule
    }

    private func note(_ result: Result<ResourceSaver.Saved, IdentityFailure>, of entry: DeliveryEntry) {
        switch result {
        case .success(let saved):
            channel.taken += 1
            var answer = EntryAnswer(status: saved.stored.status)
            answer.location = saved.stored.location
            answer.version = saved.stored.version
            rows.finish(entry, answer)
        case .failure(let failure): rows.discard(entry, failure)
        }
    }

    /// Asks the server again about `entry`, whose ids are outdated, and stores it with new ones.
    private func renew(_ entry: DeliveryEntry, _ flight: Flight, _ rebuffs: Rebuffs) {
        var isDiscarded = false
        identities.renew([entry][...]) { [rows] entry, failure in
            rows.discard(entry, failure)
            isDiscarded = true
        } completion: { [self] in
            isDiscarded ? flights.land(flight) : save(entry, flight, rebuffs: rebuffs)
        }
    }

    /// Stores single resources, with what an entry has to say about retries.
    private func saver(_ hooks: RetryHooks) -> ResourceSaver {
        let compatibility = settings.compatibility
        return ResourceSaver(server: ChannelServer(channel, settings, hooks), cache: observations) {
            (existing, new) throws(ObservationMerge.Failure) in
            try ResourceMerge.merge(existing, with: new, compatibility: compatibility)
        }
    }
}
