import KymographCore

/// Delivers the rows of an outbox to one FHIR server; all of it but the thread. Belongs to one thread.
///
/// Puts the parts together: ``OutboxConsumer`` takes rows apart into entries, which wait in the ``DeviceLanes``;
/// ``DeliveryLauncher`` makes flights of the lanes that have nothing under way; ``ServerChannel`` sends their requests.
final class DeliveryEngine {
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

    /// When there is something to do next, unless it is woken before; now at the earliest.
    var nextWake: Instant? {
        let now = clock.elapsed()
        if let wake = channel.nextWake { return max(wake, now) }
        // New bundles may be all that waits for the end of a pause.
        let isPaused = lanes.hasReady && channel.pausedUntil > now
        return isPaused ? channel.pausedUntil : nil
    }

    // MARK: Status

    /// How things stand.
    var status: DeliveryStatus {
        let now = clock.elapsed()
        var status = DeliveryStatus()
        status.base = settings.base
        status.verdict = probe.verdict
        status.circuit = circuit
        status.inFlight = channel.inFlight
        status.concurrency = channel.limit.count
        status.rows = rows.count
        status.waiting = rows.openEntries
        status.delivered = rows.delivered
        status.undeliverableReasons = ReasonCounts(rows.undeliverable)
        status.retries = channel.retries
        status.traffic = channel.traffic
        status.lastError = channel.lastError?.text ?? ""
        status.lastErrorTime = channel.lastError?.time
        status.trouble = channel.trouble
        status.oldestRowAge = rows.oldest.map { now.nanoseconds - $0.nanoseconds }
        status.nextAttempt = nextAttempt(now)
        status.settledThrough = rows.settledThrough
        status.lookups = identities.answerCount
        status.oldestLookupAge = identities.oldestAnswer(now: now).map { now.nanoseconds - $0.nanoseconds }
        return status
    }

    /// When something is sent next, in civil time, if nothing is under way.
    private func nextAttempt(_ now: Instant) -> Instant? {
        guard channel.inFlight == 0, let next = nextWake else { return nil }
        return clock.civil().advanced(by: max(0, next.nanoseconds - now.nanoseconds))
    }

    private var circuit: DeliveryStatus.Circuit {
        switch (probe.phase, channel.circuit.state) {
        case (.refused, _): .refused
        case (_, .open): .open
        case (_, .halfOpen): .halfOpen
        case (.probing, .closed): .probing
        case (.ready, .closed): .closed
        }
    }
}
