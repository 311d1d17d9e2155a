import KymographCore

/// Delivers the rows of an outbox to one database; all of it but the thread. Belongs to one thread.
///
/// At least once, and idempotent by identity: a batch is one transaction, and nothing is settled before its COMMIT was
/// answered. Batches are in the order of the outbox, one after the other.
final class PostgresEngine: DeliveryWork {
    private let target: PostgresTarget
    private let schema: PostgresSchema
    /// What tells the rows of this store from those of others.
    private var writer: String?
    /// The greatest sequence that the store knows to be sent: what a database has of it beyond that is of a time that
    /// the store does not know of, since it was restored from a copy.
    private var sent: Int64?
    private let clock: DeliveryClock
    private let inbox: DeliveryInbox
    private let queue: any OutboxQueue
    private let rows: OutboxConsumer
    private let backoff: Backoff
    private var random: any RandomNumberGenerator
    private var link: PostgresLink?
    private var verdict = ""
    private var isCeasing = false

    /// What waits, oldest first; behind it parts of a batch that was refused, the next one last.
    private var waiting: [PostgresEntry] = []
    private var parts: [[PostgresEntry]] = []
    private var limit: PostgresBatchLimit

    /// Failures since the last batch was taken, and when the next attempt is due.
    private var failures = 0
    private var due = Instant.distantPast
    /// Entries that were refused since the last was taken, and how many of them may be to blame.
    private var refused = 0
    private static let mostRefused = 100
    private var retries = 0
    private var traffic = SinkTraffic()
    private var health = ServerHealth()
    private var lastError: (text: String, time: Instant)?
    private var hasAnswered = false

    /// Most bytes of the resources of a batch, about, and least time that one turn takes, in nanoseconds.
    private static let batchBytes = 4 << 20
    private static let turnLength: Int64 = 200_000_000

    init(
        _ target: PostgresTarget, queue: any OutboxQueue, clock: DeliveryClock = .system,
        random: any RandomNumberGenerator = SystemRandomNumberGenerator(), inbox: DeliveryInbox
    ) {
        (self.target, self.clock, self.random, self.inbox) = (target, clock, random, inbox)
        schema = PostgresSchema(name: target.schema)
        self.queue = queue
        // Before there are more rows.
        sent = queue.sentThrough
        let delivery = target.delivery
        rows = OutboxConsumer(queue, delivery, clock: clock)
        backoff = Backoff(first: delivery.firstBackoff, longest: delivery.longestBackoff)
        limit = PostgresBatchLimit(most: target.entries)
    }

    // MARK: One turn

    func turn() {
        let end = clock.elapsed().advanced(by: PostgresEngine.turnLength)
        repeat {
            if hasRoom, !isOver { take(waiting: 0) }
            guard !isOver, clock.elapsed() >= due else { break }
            do throws(PostgresFault) {
                try send()
            } catch {
                fail(error)
            }
            rows.settle()
        } while !parts.isEmpty && clock.elapsed() < end
    }

    private var isOver: Bool { isCeasing || inbox.isCeasing || inbox.isEnding }

    var hasRoom: Bool { rows.hasRoom }

    @discardableResult
    func take(waiting milliseconds: Int) -> Bool {
        guard let entries = rows.take(waiting: milliseconds, { PostgresBlock($0)?.entries() }) else { return false }
        waiting += entries
        fillParts()
        return true
    }

    var isIdle: Bool { rows.count == 0 && due <= clock.elapsed() }
    var hasRows: Bool { rows.count > 0 }
    var nextWake: Instant? { parts.isEmpty && link != nil ? nil : max(due, clock.elapsed()) }

    func cease() { isCeasing = true }

    /// A turn ends with the answer to its COMMIT.
    var isUnderWay: Bool { false }

    func abandon() { link = nil }

    // MARK: Sending

    /// Moves what waits into the next batch, where there is none.
    private func fillParts() {
        guard parts.isEmpty else { return }
        var bytes = 0
        let batch = waiting.prefix(limit.entries).prefix { entry in
            bytes += entry.size
            return bytes == entry.size || bytes <= PostgresEngine.batchBytes
        }
        guard !batch.isEmpty else { return }
        waiting.removeFirst(batch.count)
        parts = [Array(batch)]
    }

    private func connected() throws(PostgresFault) -> PostgresLink {
        writer = writer ?? queue.lineage
        sent = sent ?? queue.sentThrough
        guard writer != nil, sent != nil else { throw PostgresEngine.unknownStore }
        if let link { return link }
        let made = try target.connect(
            { [inbox] in inbox.isEnding }, isCeasing: { [inbox] in inbox.isCeasing })
        let server: String
        do throws(PostgresFault) {
            server = try schema.prepare(made)
            try made.run(PostgresSchema.incoming)
        } catch {
            // No entry is to blame.
            guard error.kind == .data else { throw error }
            throw PostgresFault(.unfit, error.message)
        }
        verdict = "PostgreSQL \(server), schema \(schema.name), version \(PostgresSchema.version)"
        link = made
        return made
    }

    private static let unknownStore = PostgresFault(.unable, "the store cannot say which one it is")

    private func send() throws(PostgresFault) {
        let link = try connected()
        fillParts()
        guard let part = parts.popLast() else {
            // Somebody has mended what was wrong, as far as that can be told.
            (failures, due, hasAnswered) = (0, .distantPast, true)
            return health.succeed(isWrite: true)
        }
        var batch = PostgresBatch(part)
        for (entry, detail) in batch.unfit { rows.discard(entry, .serverRefused, detail) }
        let began = clock.elapsed()
        do throws(PostgresFault) {
            if !batch.entries.isEmpty { try write(&batch, link) }
        } catch {
            let error = error.inOwnWords
            traffic.add(code: error.state.isEmpty ? "failed" : error.state, isSuccess: false, batch.size, clock, began)
            parts += rest(of: batch.entries, after: error)
            throw error
        }
        if !batch.entries.isEmpty { traffic.add(code: "00000", isSuccess: true, batch.size, clock, began) }
        for entry in batch.entries { rows.finish(entry, keepsSubject: target.keepsSubjects) }
        (refused, failures) = (0, 0)
        limit.grow()
        health.succeed(isWrite: true)
        fillParts()
    }

    private func write(_ batch: inout PostgresBatch, _ link: PostgresLink) throws(PostgresFault) {
        guard let writer else { throw PostgresEngine.unknownStore }
        let known = try batch.copy(link, schema, writer: writer)
        guard try isOwn(known) else {
            // Until it is another one, nothing may be stored: what is there would stay.
            guard let renewed = queue.renewLineage() else {
                throw PostgresFault(.unable, "the store was restored from a copy, and cannot note that now")
            }
            self.writer = renewed
            throw PostgresFault(.collision, "the store was restored from a copy, and is another one from here on")
        }
        try noteSent(batch.last)
        try batch.merge(link, schema, writer: writer)
    }

    /// Whether the store has sent what has the sequence `known`.
    private func isOwn(_ known: Int64) throws(PostgresFault) -> Bool {
        if let sent, known <= sent { return true }
        // An engine that was before this one may have sent more since.
        guard let noted = queue.sentThrough else { throw PostgresEngine.unknownStore }
        sent = noted
        return known <= noted
    }

    /// Has the store know that what follows is sent: before it is, or a process that is killed would leave what looks
    /// like a restore. Not before the database was asked what it has, or a restore would look like that.
    private func noteSent(_ sequence: Int64) throws(PostgresFault) {
        if let sent, sequence <= sent { return }
        guard queue.note(sentThrough: sequence) else {
            throw PostgresFault(.unable, "the store cannot note what is sent")
        }
        sent = sequence
    }

    /// What is to be sent again of `batch`, in parts, the next one last.
    private func rest(of batch: [PostgresEntry], after fault: PostgresFault) -> [[PostgresEntry]] {
        if fault.kind == .data, batch.count == 1, refused < PostgresEngine.mostRefused {
            refused += 1
            rows.discard(batch[0], .serverRefused, fault.message)
            return []
        }
        guard [.data, .slow].contains(fault.kind), batch.count > 1 else { return [batch] }
        let middle = batch.count / 2
        if fault.kind == .slow { limit.shrink(to: middle) }
        return [Array(batch[middle...]), Array(batch[..<middle])]
    }

    /// Notes a fault, after which a transaction is begun again, or a connection made. What is wrong with data is no
    /// fault of the database.
    private func fail(_ fault: PostgresFault) {
        guard fault.kind != .stopped else { return link = nil }
        lastError = (fault.message, clock.civil())
        if [.data, .collision, .slow].contains(fault.kind) {
            do throws(PostgresFault) { try link?.run("ROLLBACK") } catch { link = nil }
        } else {
            link = nil
        }
        fillParts()
        // So many that are refused one after the other are not to blame.
        guard fault.kind != .data || refused >= PostgresEngine.mostRefused else { return }
        failures += 1
        retries += 1
        let now = clock.elapsed()
        due = now.advanced(by: backoff.wait(failures: fault.kind == .collision ? 1 : failures, using: &random))
        health.fail(fault.trouble, isWrite: true, now: now, civil: clock.civil())
    }

    // MARK: Status

    private var trouble: DeliveryTrouble? {
        health.trouble(now: clock.elapsed(), isLeftAlone: failures >= Circuit.threshold)
    }

    var status: DeliveryStatus {
        var status = DeliveryStatus()
        let now = clock.elapsed()
        (status.base, status.verdict, status.concurrency) = (target.url.place, verdict, 1)
        (status.trouble, status.hasAnswered) = (trouble, hasAnswered)
        status.circuit =
            status.trouble?.isDefinite == true
            ? .refused : failures >= Circuit.threshold ? .open : link == nil ? .probing : .closed
        (status.rows, status.waiting, status.delivered) = (rows.count, rows.openEntries, rows.delivered)
        status.undeliverableReasons = ReasonCounts(rows.undeliverable)
        (status.retries, status.traffic, status.deliveryTimes) = (retries, traffic, rows.deliveryTimes)
        (status.lastError, status.lastErrorTime) = (lastError?.text ?? "", lastError?.time)
        status.oldestRowAge = rows.oldest.map { now.nanoseconds - $0.nanoseconds }
        if failures > 0 {
            status.nextAttempt = clock.civil().advanced(by: max(0, due.nanoseconds - now.nanoseconds))
        }
        status.settledThrough = rows.settledThrough
        return status
    }
}

extension OutboxConsumer {
    /// Notes that a database has `entry`.
    fileprivate func finish(_ entry: PostgresEntry, keepsSubject: Bool) {
        entry.withEntry { noteTaken($0) }
        var receipt = DeliveryReceipt(
            row: entry.row, resource: entry.name, status: 200, location: "", version: "", attempts: entry.attempts,
            subject: keepsSubject ? entry.subject : nil)
        receipt.isSent = true
        keep(receipt)
        finishEntry(of: entry.row)
    }

    /// Notes that a database will never take `entry`.
    fileprivate func discard(_ entry: PostgresEntry, _ reason: Rejection, _ detail: String) {
        keep(
            UndeliverableEntry(
                row: entry.row, resource: entry.name, reason: reason, detail: detail, bytes: entry.excerpt,
                attempts: entry.attempts))
        finishEntry(of: entry.row)
    }
}

extension SinkTraffic {
    /// Notes a batch of `bytes` that ended with `code` now and began at `began`.
    fileprivate mutating func add(code: String, isSuccess: Bool, _ bytes: Int, _ clock: DeliveryClock, _ began: Instant)
    {
        let length = Duration.nanoseconds(clock.elapsed().nanoseconds - began.nanoseconds)
        add(code: code, isSuccess: isSuccess, bytes: bytes, after: length, at: clock.civil())
    }
}
