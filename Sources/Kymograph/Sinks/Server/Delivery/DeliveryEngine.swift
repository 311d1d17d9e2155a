import KymographCore

/// Brings the rows of an outbox to one FHIR server; all of it but the thread. Belongs to one thread.
///
/// Rows are taken apart into entries, which wait in the lane of their device; bundles are made of the lanes that have
/// nothing under way. An entry is done when the server has stored it, or will never take it; a row is settled when all
/// entries of it and of the rows before are done.
final class DeliveryEngine {
    /// What the server is to it.
    enum Phase {
        /// Not asked yet.
        case probing
        /// It can be delivered to.
        case ready
        /// It cannot; why.
        case refused(String)
    }

    let settings: DeliverySettings
    let queue: any OutboxQueue
    let clock: DeliveryClock
    let inbox: DeliveryInbox
    let channel: ServerChannel
    let resolver: IdentityResolver
    /// What the server has of the Observations that were merged.
    let observations = ObservationCache()
    var phase = Phase.probing
    var capabilities = ServerCapabilities()
    var verdict = ""
    var rows: RowsInHand
    var lanes: [ServerIdentifier: DeviceLane] = [:]
    /// Lanes that may have something to send, in the order in which they got it.
    var ready: [DeviceLane] = []
    var size: BundleSize
    var identities: IdentityCache
    /// How often all answers were forgotten.
    var lookupGeneration = 0
    /// What is known of the Patients and Devices that bundles bring.
    var checks: IdentifierChecks
    /// Patients and Devices that bundles under way ask the server to make.
    var locked: Set<ServerIdentifier> = []
    /// Patients and Devices that the server has.
    var present: Set<ServerIdentifier> = []
    var flights = 0
    var detached = DetachedEntries()
    private var settled: Int64
    private var deliveredCount = 0
    private var undeliverableCounts: [Rejection: Int] = [:]

    init(
        _ settings: DeliverySettings, queue: any OutboxQueue, transport: any HTTPTransport,
        authorizer: any RequestAuthorizer, clock: DeliveryClock, random: any RandomNumberGenerator,
        inbox: DeliveryInbox
    ) {
        self.settings = settings
        self.queue = queue
        self.clock = clock
        self.inbox = inbox
        channel = ServerChannel(
            settings, transport: transport, authorizer: authorizer, clock: clock, random: random, inbox: inbox)
        resolver = IdentityResolver(
            settings.identity, server: ChannelServer(channel, settings), compatibility: settings.compatibility)
        identities = IdentityCache(lifetime: settings.identityMaxAge)
        checks = IdentifierChecks(lifetime: settings.identityMaxAge)
        settled = queue.settledThrough
        rows = RowsInHand(settledThrough: settled)
        size = BundleSize(settings)
        probe()
    }

    // MARK: One turn

    /// Does everything that can be done now.
    func turn() {
        repeat {
            channel.isBlocked = rows.outcomeBytes >= settings.rowBytes
            for event in inbox.take() { channel.take(event) }
            fetch()
            launch()
            channel.work()
            settle()
        } while inbox.hasEvents
    }

    /// Asks the server anew for every Device, Patient and Encounter.
    func forgetLookups() {
        lookupGeneration += 1
        identities.removeAll()
        checks.removeAll()
    }

    /// Whether nothing is under way, waiting or in hand.
    var isIdle: Bool { channel.count == 0 && rows.count == 0 }

    /// When there is something to do next, unless it is woken before.
    var nextWake: Instant? {
        if let wake = channel.nextWake { return wake }
        // New bundles may be all that waits for the end of a pause.
        let isPaused = !ready.isEmpty && channel.pausedUntil > clock.elapsed()
        return isPaused ? channel.pausedUntil : nil
    }

    // MARK: Rows

    /// Whether rows may be taken.
    var hasRoom: Bool { isReady && max(rows.openBytes, rows.outcomeBytes) < settings.rowBytes }

    var isReady: Bool { if case .ready = phase { true } else { false } }

    private func fetch() {
        guard hasRoom else { return }
        take(waiting: 0)
    }

    /// Takes rows, for which it waits up to `milliseconds`; whether there were any.
    @discardableResult
    func take(waiting milliseconds: Int) -> Bool {
        let room = settings.rowBytes - rows.openBytes
        let taken = queue.rows(after: rows.lastTaken, bytes: room, milliseconds: milliseconds)
        for row in taken { add(row) }
        return !taken.isEmpty
    }

    private func add(_ row: OutboxRow) {
        let now = clock.elapsed()
        guard let block = DeliveryBlock(row) else {
            rows.add(row, entries: 0, now: now)
            return keep(
                UndeliverableEntry(
                    row: row.number, resource: "Bundle", reason: .malformedBundle,
                    detail: Rejection.malformedBundle.explanation, bytes: row.body, attempts: 0))
        }
        let entries = block.entries(systems: settings.systems, includesUnreferred: !settings.resolvesIdentity)
        rows.add(row, entries: entries.count, now: now)
        for entry in entries { lane(of: entry).append(entry) }
    }

    private func lane(of entry: DeliveryEntry) -> DeviceLane {
        let key = entry.lane
        if let lane = lanes[key] {
            if lane.first == nil && !lane.isBusy { ready.append(lane) }
            return lane
        }
        let lane = DeviceLane(key)
        lanes[key] = lane
        ready.append(lane)
        return lane
    }

    // MARK: What becomes of entries

    /// Notes that the server has stored `entry`; or, with `isLacking`, that it has kept what it had, which is other
    /// content.
    func finish(_ entry: DeliveryEntry, _ answer: EntryAnswer, isLacking: Bool = false) {
        keep(
            DeliveryReceipt(
                row: entry.row, resource: entry.name, status: answer.status, location: answer.location,
                version: answer.version, attempts: entry.attempts, isLacking: isLacking,
                wholeIdentifier: entry.wholeIdentifier))
        rows.finishEntry(of: entry.row)
    }

    /// Notes that the server will never take `entry`.
    func discard(_ entry: DeliveryEntry, _ reason: Rejection, _ detail: String) {
        keep(
            UndeliverableEntry(
                row: entry.row, resource: entry.name, reason: reason, detail: detail, bytes: entry.excerpt,
                attempts: entry.attempts))
        rows.finishEntry(of: entry.row)
    }

    /// Counts a receipt, and keeps it for when its row is settled.
    func keep(_ receipt: DeliveryReceipt) {
        deliveredCount += 1
        rows.keep(receipt)
    }

    /// Counts an undeliverable entry, and keeps it for when its row is settled.
    func keep(_ entry: UndeliverableEntry) {
        undeliverableCounts[entry.reason, default: 0] += 1
        rows.keep(entry)
    }

    /// Lets a lane go on, or forgets it.
    func release(_ lane: DeviceLane) {
        lane.isBusy = false
        if lane.first != nil {
            ready.append(lane)
        } else if !lane.isResolving {
            lanes[lane.key] = nil
        }
    }

    private func settle() {
        let outcome = rows.takeSettled()
        guard !outcome.isEmpty || rows.through > settled else { return }
        settled = rows.through
        queue.settle(through: settled, receipts: outcome.receipts, undeliverable: outcome.undeliverable)
    }

    // MARK: Status

    /// How things stand.
    var status: DeliveryStatus {
        var status = DeliveryStatus()
        status.base = settings.base
        status.verdict = verdict
        status.circuit = circuit
        status.inFlight = channel.inFlight
        status.concurrency = channel.limit.count
        status.rows = rows.count
        status.waiting = rows.openEntries
        status.delivered = deliveredCount
        status.undeliverableReasons = ReasonCounts(undeliverableCounts)
        status.retries = channel.retries
        status.lastError = channel.lastError?.text ?? ""
        status.lastErrorTime = channel.lastError?.time
        let now = clock.elapsed()
        status.oldestRowAge = rows.oldest.map { now.nanoseconds - $0.nanoseconds }
        if channel.inFlight == 0, let next = nextWake {
            status.nextAttempt = clock.civil().advanced(by: max(0, next.nanoseconds - now.nanoseconds))
        }
        status.settledThrough = settled
        status.lookups = identities.count + checks.count
        let oldest = [identities.oldest(now: now), checks.oldest(now: now)].compactMap { $0 }.min()
        status.oldestLookupAge = oldest.map { now.nanoseconds - $0.nanoseconds }
        return status
    }

    private var circuit: DeliveryStatus.Circuit {
        switch (phase, channel.circuit.state) {
        case (.refused, _): .refused
        case (_, .open): .open
        case (_, .halfOpen): .halfOpen
        case (.probing, .closed): .probing
        case (.ready, .closed): .closed
        }
    }
}
