import KymographCore

/// The way to one server: every request gets its authorization, is sent when the server may be asked, and again until
/// its answer is final.
///
/// Belongs to one thread; what the transport and the authorizer say comes through the inbox.
final class ServerChannel {
    private let settings: DeliverySettings
    private let transport: any HTTPTransport
    private let authorizer: any RequestAuthorizer
    private let clock: DeliveryClock
    private let inbox: DeliveryInbox
    private let backoff: Backoff
    var random: any RandomNumberGenerator
    private var exchanges: [Int: Exchange] = [:]
    /// Numbers in the order in which they are sent.
    private var order: [Int] = []
    private var nextNumber = 0
    private(set) var circuit: Circuit
    private(set) var limit: ConcurrencyLimit
    /// Nothing is sent before: the server asked for that.
    private(set) var pausedUntil = Instant.distantPast
    /// Bundles and resources that the server has taken so far.
    var taken = 0
    /// Whether everything that is held has been taken but what the rest waits for.
    var isBlocked = false
    /// Whether nothing is sent any more: what waits is left to others.
    private var isCeasing = false
    /// Attempts after the first of their request.
    private(set) var retries = 0
    /// What was asked, and how it was answered.
    private(set) var traffic = SinkTraffic()
    /// What went wrong last, and when in civil time.
    private(set) var lastError: (text: String, time: Instant)?
    private var health = ServerHealth()

    init(
        _ settings: DeliverySettings, transport: any HTTPTransport, authorizer: any RequestAuthorizer,
        clock: DeliveryClock, random: any RandomNumberGenerator, inbox: DeliveryInbox
    ) {
        self.settings = settings
        self.transport = transport
        self.authorizer = authorizer
        self.clock = clock
        self.random = random
        self.inbox = inbox
        backoff = Backoff(first: settings.firstBackoff, longest: settings.longestBackoff)
        circuit = Circuit(backoff)
        limit = ConcurrencyLimit(largest: settings.maxConcurrency)
    }

    // MARK: What it is asked

    /// Sends `request` as soon as may be, `wait` nanoseconds from now at the earliest. `isDoubtful`: it is part of what
    /// the server has failed at. `isDetached`: nothing waits for its end. `rebuffs`: what it was answered before.
    func send(
        _ request: HTTPRequest, after wait: Int64 = 0, isDoubtful: Bool = false, isDetached: Bool = false,
        rebuffs: Rebuffs? = nil, takesBack: @escaping (Exchange) -> Bool = { _ in false },
        judge: @escaping (Exchange.Outcome, Exchange) -> Exchange.Verdict,
        completion: @escaping (Exchange.Outcome, Exchange) -> Void
    ) {
        let exchange = Exchange(
            number: nextNumber, request: request, due: clock.elapsed().advanced(by: wait),
            rebuffs: rebuffs ?? Rebuffs(taken: taken), isDoubtful: isDoubtful, takesBack: takesBack, judge: judge,
            completion: completion)
        exchange.isDetached = isDetached
        nextNumber += 1
        exchanges[exchange.number] = exchange
        order.append(exchange.number)
    }

    /// A wait after `failures` failures of something, in nanoseconds.
    func wait(afterFailures failures: Int) -> Int64 { backoff.wait(failures: failures, using: &random) }

    /// Requests that wait or are under way.
    var count: Int { exchanges.count }

    /// Requests under way.
    var inFlight: Int { exchanges.values.count { $0.state != .waiting } }

    /// Whether the server may still store something whose answer is to come.
    var isUnderWay: Bool { exchanges.values.contains { $0.state == .sent && $0.request.isWrite } }

    /// Sends nothing from here on; what has been sent is still answered.
    func cease() { isCeasing = true }

    /// Whether another request could be sent at once.
    var hasRoom: Bool {
        let now = clock.elapsed()
        guard pausedUntil <= now, !isCeasing else { return false }
        switch circuit.state {
        case .closed:
            let busy = exchanges.values.count { $0.state != .waiting || $0.due <= now && !$0.isDoubtful }
            return busy < limit.count
        // One that is new tells more about the server than one that has failed.
        case .open(let until): return until <= now && inFlight == 0 && !waiting.contains(where: \.isNew)
        case .halfOpen: return inFlight == 0 && !waiting.contains(where: \.isNew)
        }
    }

    /// Requests that may be to blame themselves for their failures.
    var doubtful: Int { exchanges.values.count(where: \.isDoubtful) }

    /// When there is something to do next, if nobody answers before, now at the earliest; nil when nothing waits.
    /// `hasReady` says whether further requests could be made, which may wait for the end of a pause alone.
    func nextWake(hasReady: Bool) -> Instant? {
        guard !isCeasing else { return nil }
        let now = clock.elapsed()
        if let wake = ownWake { return max(wake, now) }
        return hasReady && pausedUntil > now ? pausedUntil : nil
    }

    private var ownWake: Instant? {
        let due = exchanges.values.filter { $0.state == .waiting }.map(\.due).min()
        guard let due else { return nil }
        if inFlight >= (circuit.state == .halfOpen ? 1 : limit.count) { return nil }
        switch circuit.state {
        case .open(let until): return max(until, pausedUntil)
        case .halfOpen: return pausedUntil
        case .closed: return max(due, pausedUntil)
        }
    }

    // MARK: Sending

    /// Sends what is due.
    func work() {
        let now = clock.elapsed()
        circuit.advance(to: now)
        guard pausedUntil <= now, !isCeasing else { return }
        switch circuit.state {
        case .open: return
        case .halfOpen:
            // Something must be asked to see whether the server answers again.
            guard inFlight == 0 else { return }
            let new = waiting.first { $0.isNew && $0.due <= now }
            let wanted = waiting.filter { !$0.isDetached }.min { $0.due < $1.due }
            guard let first = new ?? wanted ?? waiting.min(by: { $0.due < $1.due }) else { return }
            begin(first)
        case .closed:
            var room = limit.count - inFlight
            for exchange in waiting where room > 0 && exchange.due <= now {
                begin(exchange)
                room -= 1
            }
        }
    }

    private var waiting: [Exchange] {
        order.compactMap { exchanges[$0] }.filter { $0.state == .waiting }
    }

    private func begin(_ exchange: Exchange) {
        if exchange.takesBack(exchange) { return remove(exchange) }
        exchange.state = .authorizing
        exchange.isRenewed = false
        authorize(exchange)
    }

    private func authorize(_ exchange: Exchange) {
        let number = exchange.number
        authorizer.authorize { [inbox] in inbox.post(.authorized(number, $0)) }
    }

    // MARK: What comes back

    /// Takes what the transport or the authorizer said.
    func take(_ event: DeliveryInbox.Event) {
        switch event {
        case .authorized(let number, let result):
            guard let exchange = exchanges[number], exchange.state == .authorizing else { return }
            authorized(exchange, result)
        case .answered(let number, let outcome):
            guard let exchange = exchanges[number], exchange.state == .sent else { return }
            answered(exchange, outcome)
        }
    }

    private func authorized(_ exchange: Exchange, _ result: Result<String?, AuthorizationFailure>) {
        switch result {
        case .failure(let failure): retry(exchange, failure.message, DeliveryTrouble(failure), wait: nil)
        case .success where isCeasing: exchange.state = .waiting
        case .success(let value):
            exchange.authorization = value
            exchange.state = .sent
            exchange.attempts += 1
            if exchange.attempts > 1 { retries += 1 }
            exchange.sent = clock.elapsed()
            var request = exchange.request
            if let value { request.headers.append(("Authorization", value)) }
            let number = exchange.number
            transport.submit(request) { [inbox] in inbox.post(.answered(number, $0)) }
        }
    }

    private func answered(_ exchange: Exchange, _ outcome: Exchange.Outcome) {
        count(exchange, outcome)
        let times = RetryTimes(now: clock.civil(), longest: settings.longestRetryAfter)
        if case .success(let response) = outcome {
            if response.status == 401 { return renew(exchange, outcome) }
            if let reset = times.limitReset(response) { pause(reset) }
        }
        switch exchange.judge(outcome, exchange) {
        case .final:
            circuit.succeed()
            limit.succeed()
            health.succeed(isWrite: exchange.request.isWrite)
            remove(exchange)
            exchange.completion(outcome, exchange)
        case .retry(let reason):
            var asked: Int64?
            if case .success(let response) = outcome { asked = times.retryAfter(response) }
            if let asked { pause(asked) }
            retry(exchange, reason, DeliveryTrouble(outcome), wait: asked)
        }
    }

    private func count(_ exchange: Exchange, _ outcome: Exchange.Outcome) {
        let duration = Duration.nanoseconds(clock.elapsed().nanoseconds - exchange.sent.nanoseconds)
        var status: Int?
        if case .success(let response) = outcome { status = response.status }
        traffic.add(status: status, bytes: exchange.request.body.count, after: duration, at: clock.civil())
    }

    /// Asks once more with another token; then the refusal is a failure like others.
    private func renew(_ exchange: Exchange, _ outcome: Exchange.Outcome) {
        authorizer.refused(exchange.authorization)
        guard !exchange.isRenewed else {
            let reason = "the server refuses the credentials (401): check them and their rights"
            return retry(exchange, reason, DeliveryTrouble(outcome), wait: nil)
        }
        exchange.isRenewed = true
        exchange.state = .authorizing
        authorize(exchange)
    }

    private func retry(_ exchange: Exchange, _ reason: String, _ trouble: DeliveryTrouble, wait asked: Int64?) {
        let now = clock.elapsed()
        lastError = (reason, clock.civil())
        exchange.failures += 1
        exchange.state = .waiting
        let wait = backoff.wait(failures: exchange.failures, using: &random)
        exchange.due = now.advanced(by: max(wait, asked ?? 0))
        // Many that are detached must not keep the others from being sent.
        if exchange.isDetached, circuit.state == .closed { return }
        limit.fail(sent: exchange.sent, now: now)
        circuit.fail(now: now, using: &random)
        health.fail(trouble, isWrite: exchange.request.isWrite, now: now, civil: clock.civil())
    }

    private func pause(_ wait: Int64) { pausedUntil = max(pausedUntil, clock.elapsed().advanced(by: wait)) }

    private func remove(_ exchange: Exchange) {
        exchanges[exchange.number] = nil
        order.removeAll { $0 == exchange.number }
    }

    /// Forgets all requests; answers that still come are not looked at.
    func abandon() {
        exchanges.removeAll()
        order.removeAll()
    }

    // MARK: What is to blame

    /// Notes in `rebuffs` an answer that turned something down; `isOwn` as ``Rebuffs/note(taken:now:isOwn:)`` has it.
    func note(_ rebuffs: inout Rebuffs, isOwn: Bool) {
        rebuffs.note(taken: taken, now: clock.elapsed(), isOwn: isOwn)
    }

    /// Whether what was turned down so is to be given up.
    func isExhausted(_ rebuffs: Rebuffs) -> Bool { rebuffs.isExhausted(now: clock.elapsed(), isBlocking: isBlocked) }

    /// Notes an error that is no request's.
    func note(_ text: String) { lastError = (text, clock.civil()) }

    /// Notes that the server cannot be delivered to, or, with nil, that it can.
    func judge(unfit trouble: DeliveryTrouble?) {
        health.judge(unfit: trouble, now: clock.elapsed(), civil: clock.civil())
    }

    /// What an operator should know of the server; nil when it takes what it is sent.
    var trouble: DeliveryTrouble? {
        health.trouble(now: clock.elapsed(), isLeftAlone: circuit.state != .closed)
    }
}
