import KymographCore

/// Delivers the rows of an outbox to one event hub; all of it but the thread. Belongs to one thread.
///
/// At least once: what may have been stored is sent again with the same ids. Requests of one partition key follow each
/// other, so that its events stay in their order.
final class HubEngine: DeliveryWork {
    private let settings: HubSettings
    private let clock: DeliveryClock
    private let inbox: DeliveryInbox
    private let channel: ServerChannel
    private let rows: OutboxConsumer
    private var lanes: HubLanes
    private var limit: BundleLimit

    init(
        _ settings: HubSettings, queue: any OutboxQueue, transport: any HTTPTransport,
        authorizer: any RequestAuthorizer, clock: DeliveryClock = .system,
        random: any RandomNumberGenerator = SystemRandomNumberGenerator(), inbox: DeliveryInbox
    ) {
        (self.settings, self.clock, self.inbox) = (settings, clock, inbox)
        let delivery = settings.delivery
        channel = ServerChannel(
            delivery, transport: transport, authorizer: authorizer, clock: clock, random: random, inbox: inbox)
        rows = OutboxConsumer(queue, delivery, clock: clock)
        lanes = HubLanes(settings)
        limit = BundleLimit(delivery)
    }

    // MARK: One turn

    func turn() {
        repeat {
            // Without receipts, it is rows that fill the memory.
            channel.isBlocked = rows.isBlocked || isHeldUp && !hasRoom
            for event in inbox.take() { channel.take(event) }
            if hasRoom { take(waiting: 0) }
            launch()
            channel.work()
            rows.settle()
        } while inbox.hasEvents
    }

    /// Some more while all that is in hand is behind what the hub fails at: others show whether it works.
    var hasRoom: Bool {
        rows.hasRoom || isHeldUp && rows.openBytes < HubEngine.roomBehindFailures * settings.rowBytes
    }

    /// How often the usual memory rows may take then.
    private static let roomBehindFailures = 8

    /// Whether nothing is under way, or could be, but what the hub has failed at.
    private var isHeldUp: Bool { !lanes.hasReady && channel.count > 0 && channel.count == channel.doubtful }

    @discardableResult
    func take(waiting milliseconds: Int) -> Bool {
        guard let events = rows.take(waiting: milliseconds, { EventBlock($0)?.events() }) else { return false }
        for event in events { lanes.append(event) }
        return true
    }

    var isIdle: Bool { channel.count == 0 && rows.count == 0 }
    var hasRows: Bool { rows.count > 0 }

    var nextWake: Instant? { channel.nextWake(hasReady: lanes.hasReady) }

    func cease() { channel.cease() }
    var isUnderWay: Bool { channel.isUnderWay }

    func abandon() { channel.abandon() }

    // MARK: Sending

    private func launch() {
        while channel.hasRoom, let lane = lanes.next() { send([lane.take(limit)], of: lane) }
    }

    /// Sends the last of `parts`, and then the others; `isDoubtful` when the hub has failed at them together.
    private func send(_ parts: [[EventMessage]], of lane: HubLane, isDoubtful: Bool = false) {
        guard let part = parts.last else { return lanes.release(lane) }
        // What is too long is not even tried: it might be taken by half the connection, and refused again and again.
        if part.count == 1, part[0].size + HubRequest.frame > settings.maxBytes {
            rows.discard(part[0], .entryTooLarge, "longer than the \(settings.maxBytes) bytes of a request")
            return send(parts.dropLast(), of: lane, isDoubtful: isDoubtful)
        }
        channel.send(HubRequest.of(part, key: lane.key, settings), isDoubtful: isDoubtful) { [self] in
            judge($0, $1, part)
        } completion: { [self] outcome, exchange in
            for event in part { event.attempts += exchange.attempts }
            send(parts.dropLast() + rest(of: part, outcome), of: lane, isDoubtful: isDoubtful || !outcome.isTaken)
        }
    }

    /// Whether an outcome is the answer to `part`: others are asked for again.
    private func judge(_ outcome: Exchange.Outcome, _ exchange: Exchange, _ part: [EventMessage]) -> Exchange.Verdict {
        switch outcome {
        case .success(let response) where [400, 413].contains(response.status): return .final
        case .success where outcome.isTaken: return .final
        // The hub is not there, or not now, or its policy does not let this client send: nothing of these events,
        // unless others are taken.
        case .success(let response) where (300..<500).contains(response.status):
            if ![401, 408, 429].contains(response.status) { channel.note(&exchange.rebuffs, isOwn: false) }
        case .success, .failure:
            if let isOwn = Rebuffs.isOwn(outcome) { channel.note(&exchange.rebuffs, isOwn: isOwn) }
        }
        let isToBlame = part.count > 1 ? exchange.rebuffs.isDoubtful : channel.isExhausted(exchange.rebuffs)
        return isToBlame ? .final : .retry(outcome.text)
    }

    /// What is to be sent again of `part`, in parts, after a final outcome.
    private func rest(of part: [EventMessage], _ outcome: Exchange.Outcome) -> [[EventMessage]] {
        if outcome.isTaken {
            channel.taken += 1
            limit.grow()
            for event in part { rows.finish(event, status: outcome.status ?? 0, keepsReceipt: settings.keepsReceipts) }
            return []
        }
        let isTooLarge = outcome.status == 413
        if isTooLarge { limit.shrink(entries: part.count, bytes: part.reduce(0) { $0 + $1.size }) }
        guard part.count == 1 else {
            let middle = part.count / 2
            return [Array(part[middle...]), Array(part[..<middle])]
        }
        let reason: Rejection = isTooLarge ? .entryTooLarge : outcome.isRefusal ? .serverRefused : .serverFailed
        rows.discard(part[0], reason, outcome.text)
        return []
    }

    // MARK: Status

    var status: DeliveryStatus {
        var status = DeliveryStatus(channel, rows, clock: clock, nextWake: nextWake)
        status.base = settings.url
        status.verdict = "events to \(settings.url)"
        return status
    }
}

extension Exchange.Outcome {
    /// Whether the hub has all of it.
    fileprivate var isTaken: Bool { status.map { (200..<300).contains($0) } ?? false }

    /// Whether the hub will not have it, rather than fail at it.
    fileprivate var isRefusal: Bool { status.map { (300..<500).contains($0) } ?? false }

    /// The status of the answer, if there is one.
    fileprivate var status: Int? {
        guard case .success(let response) = self else { return nil }
        return response.status
    }

    /// What happened; nothing of what the hub says in words, which may quote content.
    fileprivate var text: String {
        switch self {
        case .failure(let failure): failure.message
        case .success(let response): "the hub answers \(response.status)"
        }
    }
}
