import KymographCore

/// Delivers the rows of an outbox to one FHIR server; all of it but the thread. Belongs to one thread.
///
/// Puts the parts together: ``OutboxConsumer`` takes rows apart into entries, which wait in the ``DeviceLanes``;
/// ``DeliveryLauncher`` makes flights of the lanes that have nothing under way; ``ServerChannel`` sends their requests.
final class DeliveryEngine: DeliveryWork {
    private let settings: DeliverySettings
    private let clock: DeliveryClock
    private let inbox: DeliveryInbox
    let channel: ServerChannel
    let rows: OutboxConsumer
    private let lanes = DeviceLanes()
    private let probe: ServerProbe
    private let identities: any EntryIdentities
    let launcher: DeliveryLauncher

    init(
        _ settings: DeliverySettings, queue: any OutboxQueue, transport: any HTTPTransport,
        authorizer: any RequestAuthorizer, clock: DeliveryClock, random: any RandomNumberGenerator,
        inbox: DeliveryInbox
    ) {
        self.settings = settings
        self.clock = clock
        self.inbox = inbox
        channel = ServerChannel(
            settings, transport: transport, authorizer: authorizer, clock: clock, random: random, inbox: inbox)
        rows = OutboxConsumer(queue, settings, clock: clock)
        probe = ServerProbe(settings, channel)
        let creates = ConditionalCreates(settings, channel, clock: clock)
        identities = settings.resolvesIdentity ? IdentityLookups(settings, channel, clock: clock) : creates
        launcher = DeliveryLauncher(
            settings, channel, probe, rows: rows, lanes: lanes, identities: identities, creates: creates)
        probe.ask()
    }

    // MARK: One turn

    /// Does everything that can be done now.
    func turn() {
        repeat {
            channel.isBlocked = rows.isBlocked
            for event in inbox.take() { channel.take(event) }
            if hasRoom { take(waiting: 0) }
            if probe.isReady { launcher.launch() }
            channel.work()
            rows.settle()
        } while inbox.hasEvents
    }

    /// Whether rows may be taken.
    var hasRoom: Bool { probe.isReady && rows.hasRoom }

    /// Takes rows, for which it waits up to `milliseconds`; whether there were any.
    @discardableResult
    func take(waiting milliseconds: Int) -> Bool {
        guard let entries = rows.take(waiting: milliseconds) else { return false }
        for entry in entries { lanes.append(entry) }
        return true
    }

    /// Asks the server anew for every Device, Patient and Encounter.
    func forgetLookups() { identities.forgetAnswers() }

    /// Whether nothing is under way, waiting or in hand.
    var isIdle: Bool { channel.count == 0 && rows.count == 0 }

    /// Whether rows are in hand.
    var hasRows: Bool { rows.count > 0 }

    func cease() { channel.cease() }

    var isUnderWay: Bool { channel.isUnderWay }

    /// Forgets what is under way.
    func abandon() { channel.abandon() }

    /// When there is something to do next, unless it is woken before; now at the earliest.
    var nextWake: Instant? {
        channel.nextWake(hasReady: lanes.hasReady)
    }

    // MARK: Status

    /// How things stand.
    var status: DeliveryStatus {
        var status = DeliveryStatus(channel, rows, clock: clock, nextWake: nextWake)
        status.base = settings.base
        status.verdict = probe.verdict
        status.circuit = circuit(status.circuit)
        status.lookups = identities.answerCount
        let now = clock.elapsed()
        status.oldestLookupAge = identities.oldestAnswer(now: now).map { now.nanoseconds - $0.nanoseconds }
        return status
    }

    /// Whether the server is asked, by what is known of it and by how its `channel` goes.
    private func circuit(_ channel: DeliveryStatus.Circuit) -> DeliveryStatus.Circuit {
        switch (probe.phase, channel) {
        case (.refused, _): .refused
        case (.probing, .closed): .probing
        case (.probing, _), (.ready, _): channel
        }
    }
}
