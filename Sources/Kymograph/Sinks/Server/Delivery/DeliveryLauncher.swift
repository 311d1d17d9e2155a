import KymographCore

/// Sends what waits in the lanes, as far as the server may be asked.
struct DeliveryLauncher {
    let flights: Flights
    let sender: BundleSender
    private let settings: DeliverySettings
    private let channel: ServerChannel
    private let lanes: DeviceLanes
    private let creates: ConditionalCreates
    private let admission: EntryAdmission
    private let composer: BundleComposer
    private let saver: EntrySaver

    init(
        _ settings: DeliverySettings, _ channel: ServerChannel, _ probe: ServerProbe, rows: OutboxConsumer,
        lanes: DeviceLanes, identities: any EntryIdentities, creates: ConditionalCreates
    ) {
        self.settings = settings
        self.channel = channel
        self.lanes = lanes
        self.creates = creates
        flights = Flights(channel, lanes, creates)
        sender = BundleSender(
            settings, channel, probe, rows: rows, identities: identities, creates: creates, flights: flights)
        saver = EntrySaver(settings, channel, probe, rows: rows, identities: identities, flights: flights)
        admission = EntryAdmission(
            settings: settings, channel: channel, rows: rows, lanes: lanes, flights: flights, identities: identities)
        composer = BundleComposer(
            settings: settings, lanes: lanes, admission: admission, creates: creates, saver: saver)
    }

    /// Begins flights until nothing more may or can be sent.
    func launch() {
        // What the server fails at again and again takes no place from others.
        while channel.hasRoom && flights.count - channel.doubtful < settings.maxConcurrency && lanes.hasReady {
            guard settings.compatibility == .iomtFHIR ? launchSave() : launchBundle() else { return }
        }
    }

    /// Sends the next bundle; false when there is none.
    private func launchBundle() -> Bool {
        let draft = composer.compose(sender.limit)
        guard !draft.entries.isEmpty else { return false }
        let part = BundlePart(draft.entries, carriesResources: !settings.resolvesIdentity)
        let flight = Flight([part], lanes: draft.lanes, locked: creates.lock(draft.brought))
        flights.begin(flight)
        sender.send(flight, isFresh: true)
        return true
    }

    /// Stores the next resource as the reference system does; false when no lane has one.
    private func launchSave() -> Bool {
        var next: (entry: DeliveryEntry, lane: DeviceLane)?
        lanes.visitReady { lane in
            guard next == nil, let entry = admission.next(of: lane) else { return }
            next = (entry, lane)
            lane.enter(.sending)
        }
        guard let (entry, lane) = next else { return false }
        saver.save(next: entry, of: lane)
        return true
    }
}
