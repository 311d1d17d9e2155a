import KymographCore

/// Takes rows of an outbox, collects what becomes of their entries, and settles the rows.
///
/// An entry is done when the server has stored it, or will never take it; a row is settled when all entries of it and
/// of the rows before are done.
final class OutboxConsumer {
    private let queue: any OutboxQueue
    private let settings: DeliverySettings
    private let clock: DeliveryClock
    private var rows: UnsettledRows
    /// Types of what was taken since the last note of progress.
    private var taken = ReadingTypes()
    /// The last row that the outbox knows to be settled.
    private(set) var settledThrough: Int64
    /// Receipts of this run, without those of ``deleted``.
    private(set) var delivered = 0
    /// Entries of this run whose resources the server has deleted, or had not.
    private(set) var deleted = 0
    /// Undeliverable entries of this run, by reason.
    private(set) var undeliverable: [Rejection: Int] = [:]
    /// Times from the making of rows to when the server had all of them.
    private(set) var deliveryTimes = DurationCounts()

    /// Begins after the last row that is settled.
    init(_ queue: any OutboxQueue, _ settings: DeliverySettings, clock: DeliveryClock) {
        self.queue = queue
        self.settings = settings
        self.clock = clock
        settledThrough = queue.settledThrough
        rows = UnsettledRows(settledThrough: settledThrough)
    }

    // MARK: Taking

    /// Whether the memory for rows has room for more.
    var hasRoom: Bool { max(rows.openBytes, rows.outcomeBytes) < settings.rowBytes }

    /// Whether what is kept until rows are settled fills the memory: what they wait for blocks the rest.
    var isBlocked: Bool { rows.outcomeBytes >= settings.rowBytes }

    /// The entries of the next rows, for which it waits up to `milliseconds`; nil when there is no row.
    func take(waiting milliseconds: Int) -> [DeliveryEntry]? {
        take(waiting: milliseconds) { [settings] row in
            DeliveryBlock(row)?.entries(
                systems: settings.systems, includesUnreferred: !settings.resolvesIdentity,
                deletesEmptied: settings.deletesEmptied)
        }
    }

    /// The same; `entries` gives those of a row, or nil when it cannot be read.
    func take<Entry>(waiting milliseconds: Int, _ entries: (OutboxRow) -> [Entry]?) -> [Entry]? {
        let room = max(1, settings.rowBytes - rows.openBytes)
        let taken = queue.rows(after: rows.lastTaken, bytes: room, milliseconds: milliseconds)
        return taken.isEmpty ? nil : taken.flatMap { add($0, entries($0)) }
    }

    private func add<Entry>(_ row: OutboxRow, _ entries: [Entry]?) -> [Entry] {
        let now = clock.elapsed()
        guard let entries else {
            rows.add(row, entries: 0, now: now)
            keep(
                UndeliverableEntry(
                    row: row.number, resource: "Bundle", reason: .malformedBundle,
                    detail: Rejection.malformedBundle.explanation, bytes: row.body, attempts: 0))
            return []
        }
        rows.add(row, entries: entries.count, now: now)
        return entries
    }

    // MARK: What becomes of entries

    /// Notes that the server has stored `entry`, or deleted it where that was asked; or, with `isLacking`, that it has
    /// kept what it had, which is other content.
    func finish(_ entry: DeliveryEntry, _ answer: EntryAnswer, isLacking: Bool = false) {
        var receipt = DeliveryReceipt(
            row: entry.row, resource: entry.name, status: answer.status, location: answer.location,
            version: answer.version, attempts: entry.attempts, isLacking: isLacking,
            wholeIdentifier: entry.wholeIdentifier, subject: settings.keepsSubjects ? entry.subject : nil)
        receipt.isDeleted = entry.isDeleted
        keep(receipt)
        if !isLacking { entry.withEntry { entry, _ in taken.note(entry) } }
        finishEntry(of: entry.row)
    }

    /// Notes that `entry`, of a row of this outbox, was taken.
    func noteTaken(_ entry: Entry) { taken.note(entry) }

    /// Notes that the server will never take `entry`; not what it has taken before, and was sent again for the sake of
    /// a Patient or Device.
    func discard(_ entry: DeliveryEntry, _ reason: Rejection, _ detail: String) {
        if let answer = entry.stored { return finish(entry, answer) }
        keep(
            UndeliverableEntry(
                row: entry.row, resource: entry.name, reason: reason, detail: detail, bytes: entry.excerpt,
                attempts: entry.attempts))
        finishEntry(of: entry.row)
    }

    /// Notes that an entry of row `row` was delivered, of which no receipt is kept.
    func finishWithoutReceipt(row: Int64) {
        delivered += 1
        finishEntry(of: row)
    }

    /// Notes that an entry of row `row` is done, which its receipt, or what was undeliverable, says already.
    func finishEntry(of row: Int64) {
        if let since = rows.finishEntry(of: row) { deliveryTimes.add(from: since, to: clock.civil()) }
    }

    /// Notes that `entry` can never be sent, because nobody can tell whom it is about.
    func discard(_ entry: DeliveryEntry, _ failure: IdentityFailure) {
        discard(entry, failure.reason, failure.message)
    }

    /// Counts a receipt, and keeps it for when its row is settled.
    func keep(_ receipt: DeliveryReceipt) {
        if receipt.isDeleted { deleted += 1 } else { delivered += 1 }
        rows.keep(receipt)
    }

    /// Counts an undeliverable entry, and keeps it for when its row is settled.
    func keep(_ entry: UndeliverableEntry) {
        undeliverable[entry.reason, default: 0] += 1
        rows.keep(entry)
    }

    /// Counts a refusal of what an undeliverable entry tells of already.
    func countRefusal(_ reason: Rejection) { undeliverable[reason, default: 0] += 1 }

    /// Tells the operator `text`.
    func tell(_ text: String) { queue.tell(text) }

    // MARK: Settling

    /// Settles the rows that are done with all before them.
    func settle() {
        let outcome = rows.takeSettled()
        guard !outcome.isEmpty || rows.through > settledThrough else { return }
        settledThrough = rows.through
        queue.note(taken: taken.take())
        queue.settle(through: settledThrough, receipts: outcome.receipts, undeliverable: outcome.undeliverable)
    }

    /// Rows that are not settled.
    var count: Int { rows.count }

    /// Entries that are not done.
    var openEntries: Int { rows.openEntries }

    /// Bytes of rows with entries that are not done.
    var openBytes: Int { rows.openBytes }

    /// Bytes of what became of entries of rows that are not settled, about.
    var outcomeBytes: Int { rows.outcomeBytes }

    /// When the oldest row that is not settled was taken.
    var oldest: Instant? { rows.oldest }
}
