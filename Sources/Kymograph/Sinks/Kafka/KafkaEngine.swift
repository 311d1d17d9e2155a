import KymographCore

/// Delivers the rows of an outbox to one topic; all of it but the thread. Belongs to one thread.
///
/// At least once: a producer stores each message once and in order, and what was under way when one ended is sent again
/// with the same ids. What brokers failed at is sent again in its order before anything new is.
final class KafkaEngine: DeliveryWork {
    /// An event on its way.
    private struct Attempt {
        var event: EventMessage
        var began = Instant.distantPast
        /// Whether brokers have refused it together with others, or again and again: it is sent by itself.
        var isSuspect = false
        /// How often it has failed while others were stored, and how many were when it failed last.
        var doubts = 0
        var stored = 0
    }

    private let target: KafkaTarget
    private let clock: DeliveryClock
    private let open: () throws(KafkaFault) -> any MessageProducer
    private let rows: OutboxConsumer
    private let backoff: Backoff
    private var random: any RandomNumberGenerator
    private var producer: (any MessageProducer)?

    /// What no producer has, oldest first.
    private var waiting = Backlog<Attempt>()
    /// What the producer has, by number: the order in which it got it.
    private var underWay: [UInt64: Attempt] = [:]
    private var next: UInt64 = 0
    /// What came back, to be sent again when nothing is under way.
    private var failed: [(number: UInt64, attempt: Attempt)] = []

    /// Failures since the last message was stored, and when the next attempt is due.
    private var failures = 0
    private var due = Instant.distantPast
    /// Messages that were stored.
    private var stored = 0
    /// Whether brokers take nothing, and when another producer is tried, where that will not pass by itself: secrets
    /// and certificates may have changed.
    private var isDown = false
    private var renewal = Instant.distantFuture
    /// Since when nothing more is sent.
    private var ceased: Instant?
    private var retries = 0
    private var traffic = SinkTraffic()
    private var health = ServerHealth()
    private var lastError: (text: String, time: Instant)?

    /// How often a message fails while others are stored, before it is sent by itself, and before it is put aside.
    private static let (patience, endurance) = (3, 30)
    /// How long a producer that brokers refuse is kept, in nanoseconds.
    private static let renewalAge: Int64 = 30_000_000_000
    /// How long brokers may take for what they have when nothing more is sent, in nanoseconds: as long as for one
    /// request of a producer (`request.timeout.ms`).
    private static let lastAnswers: Int64 = 30_000_000_000

    /// `open` makes a producer.
    init(
        _ target: KafkaTarget, queue: any OutboxQueue, clock: DeliveryClock = .system,
        random: any RandomNumberGenerator = SystemRandomNumberGenerator(),
        open: @escaping () throws(KafkaFault) -> any MessageProducer
    ) {
        (self.target, self.clock, self.random, self.open) = (target, clock, random, open)
        let delivery = target.delivery
        rows = OutboxConsumer(queue, delivery, clock: clock)
        backoff = Backoff(first: delivery.firstBackoff, longest: delivery.longestBackoff)
    }

    // MARK: One turn

    func turn() {
        listen()
        if ceased == nil {
            if hasRoom { take(waiting: 0) }
            send()
        }
        rows.settle()
    }

    var hasRoom: Bool { rows.hasRoom }

    @discardableResult
    func take(waiting milliseconds: Int) -> Bool {
        guard let events = rows.take(waiting: milliseconds, { EventBlock($0)?.events() }) else { return false }
        for event in events { waiting.append(Attempt(event: event)) }
        return true
    }

    var isIdle: Bool { underWay.isEmpty && rows.count == 0 }
    var hasRows: Bool { rows.count > 0 }

    var nextWake: Instant? {
        let isDue = waiting.isEmpty && failed.isEmpty || due <= clock.elapsed()
        let wake = min(producer == nil ? .distantFuture : renewal, isDue ? .distantFuture : due)
        return wake == .distantFuture ? nil : wake
    }

    func cease() { ceased = ceased ?? clock.elapsed() }

    /// A producer gives up nothing by itself.
    var isUnderWay: Bool {
        guard let ceased, !underWay.isEmpty, !isDown else { return false }
        return clock.elapsed() < ceased.advanced(by: KafkaEngine.lastAnswers)
    }

    func abandon() { producer = nil }

    // MARK: What became of messages

    private func listen() {
        guard let producer else { return }
        let news = producer.look()
        for report in news.told { settle(report.number, report.fault) }
        for fault in news.faults { hear(fault) }
        if let end = producer.end {
            fail(end)
            close()
        } else if clock.elapsed() >= renewal {
            close()
        }
    }

    private func settle(_ number: UInt64, _ fault: KafkaFault?) {
        guard var attempt = underWay.removeValue(forKey: number) else { return }
        note(fault, attempt)
        guard let fault else {
            rows.finish(attempt.event, status: 200, keepsReceipt: target.keepsReceipts)
            stored += 1
            return recover()
        }
        guard fault.isOfContent else {
            fail(fault)
            doubt(&attempt)
            guard attempt.doubts < KafkaEngine.endurance else {
                return rows.discard(attempt.event, .serverFailed, fault.message)
            }
            // Others are not to wait for it.
            return attempt.isSuspect ? waiting.append(attempt) : failed.append((number, attempt))
        }
        guard !attempt.isSuspect else { return discard(attempt, fault) }
        attempt.isSuspect = true
        failed.append((number, attempt))
    }

    /// Notes that `attempt` has failed: while others are stored, that is its own fault, as it seems.
    private func doubt(_ attempt: inout Attempt) {
        if attempt.doubts == 0 || stored > attempt.stored { attempt.doubts += 1 }
        attempt.stored = stored
        attempt.isSuspect = attempt.isSuspect || attempt.doubts > KafkaEngine.patience
    }

    private func discard(_ attempt: Attempt, _ fault: KafkaFault) {
        rows.discard(attempt.event, fault.kind == .tooLarge ? .entryTooLarge : .serverRefused, fault.message)
    }

    private func note(_ fault: KafkaFault?, _ attempt: Attempt) {
        let length = Duration.nanoseconds(clock.elapsed().nanoseconds - attempt.began.nanoseconds)
        traffic.add(
            code: "\(fault?.code ?? 0)", isSuccess: fault == nil, bytes: attempt.event.body.count, after: length,
            at: clock.civil())
    }

    /// What librdkafka says of connections: while one broker takes messages, the failure of another is no trouble.
    private func hear(_ fault: KafkaFault) {
        switch fault.kind {
        case .insecure, .refused, .unfit: fail(fault)
        case .unreachable where fault.isOfAllBrokers: fail(fault)
        case .unreachable, .unable, .tooLarge, .content, .nowhere, .unreadable, .ended:
            lastError = (fault.message, clock.civil())
        }
    }

    private func recover() {
        (failures, isDown, renewal) = (0, false, .distantFuture)
        health.succeed(isWrite: true)
    }

    private func fail(_ fault: KafkaFault) {
        let now = clock.elapsed()
        lastError = (fault.message, clock.civil())
        if fault.trouble.isDefinite, renewal == .distantFuture { renewal = now.advanced(by: KafkaEngine.renewalAge) }
        isDown = true
        health.fail(fault.trouble, isWrite: true, now: now, civil: clock.civil())
        // Those that fail together are one failure.
        guard now >= due else { return }
        failures += 1
        due = now.advanced(by: backoff.wait(failures: failures, using: &random))
    }

    /// Has another producer send what this one has not told of.
    private func close() {
        producer = nil
        failed += underWay.map { ($0.key, $0.value) }
        underWay = [:]
        renewal = .distantFuture
    }

    // MARK: Sending

    private func send() {
        guard clock.elapsed() >= due, let producer = opened() else { return }
        if !failed.isEmpty {
            guard underWay.isEmpty else { return }
            retries += failed.count
            waiting.prepend(failed.sorted { $0.number < $1.number }.map(\.attempt))
            failed = []
        }
        while underWay.count < target.messages, let attempt = waiting.first {
            // One that may be to blame has nobody beside it.
            if attempt.isSuspect, !underWay.isEmpty { return }
            guard send(attempt, by: producer) else { return }
            if attempt.isSuspect { return }
        }
    }

    /// Sends the first of those that wait; whether it is off.
    private func send(_ attempt: Attempt, by producer: any MessageProducer) -> Bool {
        var attempt = attempt
        attempt.began = clock.elapsed()
        attempt.event.attempts += 1
        do throws(KafkaFault) {
            try producer.send(KafkaMessage(attempt.event, target.partitioning), number: next)
        } catch {
            guard error.isOfContent else {
                // Its room is full: what it tells of makes some.
                if error.kind != .unable { fail(error) }
                return false
            }
            waiting.removeFirst()
            discard(attempt, error)
            return true
        }
        waiting.removeFirst()
        underWay[next] = attempt
        next += 1
        return true
    }

    private func opened() -> (any MessageProducer)? {
        guard producer == nil, !waiting.isEmpty || !failed.isEmpty else { return producer }
        do throws(KafkaFault) {
            producer = try open()
            renewal = .distantFuture
        } catch {
            fail(error)
        }
        return producer
    }

    // MARK: Status

    var status: DeliveryStatus {
        var status = DeliveryStatus()
        let now = clock.elapsed()
        (status.base, status.verdict) = (target.place.name, "messages to \(target.place.text)")
        (status.inFlight, status.concurrency) = (underWay.count, target.messages)
        status.trouble = health.trouble(now: now, isLeftAlone: isDown)
        status.circuit =
            isDown ? (status.trouble?.isDefinite == true ? .refused : .open) : producer == nil ? .probing : .closed
        (status.rows, status.waiting, status.delivered) = (rows.count, rows.openEntries, rows.delivered)
        status.undeliverableReasons = ReasonCounts(rows.undeliverable)
        (status.retries, status.traffic, status.deliveryTimes) = (retries, traffic, rows.deliveryTimes)
        (status.lastError, status.lastErrorTime) = (lastError?.text ?? "", lastError?.time)
        status.oldestRowAge = rows.oldest.map { now.nanoseconds - $0.nanoseconds }
        if isDown { status.nextAttempt = clock.civil().advanced(by: max(0, due.nanoseconds - now.nanoseconds)) }
        status.settledThrough = rows.settledThrough
        return status
    }
}

extension KafkaMessage {
    /// The message of `event`: its text, with its digest as `id`, what it is, and the number of the row that it came
    /// with, which is greater for each further version of a resource.
    fileprivate init(_ event: EventMessage, _ partitioning: EventPartitioning) {
        key = partitioning == .device ? Array(event.key.utf8) : []
        value = event.body
        headers = [("id", event.id), ("type", event.type), ("version", "\(event.row)")]
        if !event.isReading { headers.append(("resource", event.name)) }
    }
}
