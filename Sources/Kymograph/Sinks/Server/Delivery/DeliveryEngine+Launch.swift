import KymographCore

extension DeliveryEngine {
    /// What a bundle is being made of.
    private struct Gathering {
        var entries: [DeliveryEntry] = []
        var lanes: [DeviceLane] = []
        var targets: Set<IdentifierText> = []
        /// What comes along, and what the entries themselves describe.
        var resources: Set<ServerIdentifier> = []
        var described: Set<ServerIdentifier> = []
        var bytes = 64
    }

    /// Makes bundles of what waits, as far as the server may be asked.
    func launch() {
        guard isReady else { return }
        // What the server fails at again and again takes no place from others.
        while channel.hasRoom && flights - channel.doubtful < settings.maxConcurrency && !ready.isEmpty {
            if settings.compatibility == .iomtFHIR {
                guard launchSave() else { return }
            } else {
                guard launchBundle() else { return }
            }
        }
    }

    private func launchBundle() -> Bool {
        var gathering = Gathering()
        var left: [DeviceLane] = []
        var isFull = false
        for lane in ready {
            // A lane that got busy is put back when it is released.
            guard !lane.isBusy, !lane.isResolving else { continue }
            if !isFull { isFull = gather(lane, &gathering) }
            if lane.isBusy || lane.isResolving { continue }
            if lane.first == nil { lanes[lane.key] = nil } else { left.append(lane) }
        }
        ready = left
        guard !gathering.entries.isEmpty else { return false }
        let named = gathering.resources.union(gathering.described)
        let unknown = settings.resolvesIdentity ? [] : named.subtracting(present)
        locked.formUnion(unknown)
        flights += 1
        let part = BundlePart(gathering.entries, carriesResources: !settings.resolvesIdentity)
        send(Flight([part], lanes: gathering.lanes, locked: unknown), isFresh: true)
        return true
    }

    /// Takes what fits from a lane; whether the bundle is full.
    private func gather(_ lane: DeviceLane, _ gathering: inout Gathering) -> Bool {
        while let entry = lane.first {
            if detached.holdsUp(entry) { return false }
            guard let isResolved = resolve(entry, lane) else { continue }
            guard isResolved else { return false }
            if isSavedAlone(entry) {
                if !lane.isBusy { save(next: entry, of: lane) }
                return false
            }
            let isSameKind = gathering.entries.first.map { $0.isTransaction == entry.isTransaction } ?? true
            // The next of this device must wait for the bundle that makes the resources which it refers to.
            guard isSameKind, !isHeldUp(entry), !gathering.targets.contains(entry.target) else { return false }
            guard fits(entry, gathering) else { return true }
            lane.removeFirst()
            add(entry, of: lane, to: &gathering)
        }
        return false
    }

    private func isHeldUp(_ entry: DeliveryEntry) -> Bool {
        if settings.resolvesIdentity { return false }
        return entry.brought.contains { locked.contains($0) || checks.hasRival($0) }
    }

    private func fits(_ entry: DeliveryEntry, _ gathering: Gathering) -> Bool {
        if gathering.entries.isEmpty { return true }
        let new = newResources(entry, gathering)
        let count = gathering.entries.count + gathering.resources.count + 1 + new.count
        let bytes = gathering.bytes + entry.size + new.reduce(0) { $0 + $1.size }
        return count <= size.entries && bytes <= size.bytes
    }

    private func newResources(_ entry: DeliveryEntry, _ gathering: Gathering) -> [CarriedResource] {
        if settings.resolvesIdentity { return [] }
        return entry.carried.filter {
            !gathering.resources.contains($0.identifier) && !gathering.described.contains($0.identifier)
        }
    }

    private func add(_ entry: DeliveryEntry, of lane: DeviceLane, to gathering: inout Gathering) {
        if !settings.resolvesIdentity {
            for identifier in entry.brought { checks.begin(identifier) }
        }
        for resource in newResources(entry, gathering) {
            gathering.resources.insert(resource.identifier)
            gathering.bytes += resource.size
        }
        if let described = entry.described { gathering.described.insert(described) }
        gathering.entries.append(entry)
        gathering.targets.insert(entry.target)
        gathering.bytes += entry.size
        if !lane.isBusy {
            lane.isBusy = true
            gathering.lanes.append(lane)
        }
    }

    // MARK: How entries are written

    /// How `entry` is written for this server; on its own without `part`.
    func assembly(of entry: DeliveryEntry, in part: BundlePart? = nil) -> EntryAssembly {
        var assembly = EntryAssembly(isConditionalUpdate: !updatesByID(entry.type), version: settings.version)
        if settings.resolvesIdentity {
            if let identity = entry.identity { assembly.references = .literal(identity) }
        } else if entry.isTransaction && !capabilities.hasTransaction {
            assembly.references = .logical
        }
        assembly.namesMembers = !entry.members.isEmpty && !reaches(entry.members, part)
        return assembly
    }

    /// Whether a panel's references to its members hold: by id where that is theirs, and otherwise in a transaction
    /// that has the entries of all of them as they came.
    private func reaches(_ members: [PanelMember], _ part: BundlePart?) -> Bool {
        guard let part, isTransaction(part) else { return false }
        let targets = settings.resolvesIdentity ? [] : Set(part.entries.map(\.target))
        return members.allSatisfy { $0.isByID ? updatesByID("Observation") : targets.contains($0.target) }
    }

    // MARK: One by one

    /// Whether `entry` describes a Device that somebody registered on the server: what it says is added there, because
    /// the server's Device says whose it is.
    private func isSavedAlone(_ entry: DeliveryEntry) -> Bool {
        settings.resolvesIdentity && entry.described != nil && !entry.isCreated
    }

    private func save(next entry: DeliveryEntry, of lane: DeviceLane) {
        lane.removeFirst()
        lane.isBusy = true
        flights += 1
        save(entry, Flight([], lanes: [lane]))
    }

    /// Stores the next resource as the reference system does; false when no lane has one.
    private func launchSave() -> Bool {
        var left: [DeviceLane] = []
        var chosen: (entry: DeliveryEntry, lane: DeviceLane)?
        for lane in ready where !lane.isBusy && !lane.isResolving {
            while chosen == nil, let entry = lane.first, !detached.holdsUp(entry) {
                guard let isResolved = resolve(entry, lane) else { continue }
                if isResolved { chosen = (entry, lane) }
                break
            }
            if lane.isResolving || chosen?.lane === lane { continue }
            if lane.first == nil { lanes[lane.key] = nil } else { left.append(lane) }
        }
        ready = left
        guard let (entry, lane) = chosen else { return false }
        save(next: entry, of: lane)
        return true
    }

    /// Stores the resource of `entry`; `rebuffs` as ``ChannelServer`` has them.
    private func save(_ entry: DeliveryEntry, _ flight: Flight, _ rebuffs: Rebuffs? = nil) {
        var body = ByteWriter(capacity: 1_024)
        assembly(of: entry).writeResource(entry, into: &body)
        // To be merged with what the server has.
        guard let resource = JSONNode.answer(body.view.array) else {
            discard(entry, .malformedBundle, "the resource cannot be read")
            return land(flight)
        }
        var rule = ResourceSaver.Rule()
        rule.creates = settings.identity == .create || entry.described == nil
        rule.updates = entry.type == "Observation" || !entry.isCreated
        store(resource, entry.identifier, rule, entry, flight, rebuffs)
    }

    private func store(
        _ resource: JSONNode, _ identifier: ServerIdentifier, _ rule: ResourceSaver.Rule, _ entry: DeliveryEntry,
        _ flight: Flight, _ rebuffs: Rebuffs?
    ) {
        entry.attempts += 1
        var before: Rebuffs?
        let server = ChannelServer(
            channel, settings, whenDoubtful: { [self] in detach(flight, saving: entry) },
            whenUncertain: { entry.mayBeStored = true }, rebuffs: rebuffs,
            isOutdated: { [self] exchange in
                if takesBack(entry) { before = exchange.rebuffs }
                return before != nil
            })
        saver(server).save(resource, identifier, rule: rule) { [self] result in
            if let before {
                return renew(entry) { $0 ? self.save(entry, flight, before) : self.land(flight) }
            }
            switch result {
            case .success(let saved):
                channel.taken += 1
                var answer = EntryAnswer(status: saved.stored.status)
                answer.location = saved.stored.location
                answer.version = saved.stored.version
                finish(entry, answer)
            case .failure(let failure): discard(entry, failure.reason, failure.message)
            }
            land(flight)
        }
    }

    /// Stores single resources on `server`.
    private func saver(_ server: ChannelServer) -> ResourceSaver {
        let compatibility = settings.compatibility
        return ResourceSaver(server: server, cache: observations) {
            (existing, new) throws(ObservationMerge.Failure) in
            try ResourceMerge.merge(existing, with: new, compatibility: compatibility)
        }
    }
}
