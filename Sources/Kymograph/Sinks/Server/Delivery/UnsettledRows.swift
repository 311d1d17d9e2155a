import KymographCore

/// The rows that were taken from the outbox and are not settled, in order, with what became of their entries.
struct UnsettledRows {
    private final class Row {
        let number: Int64
        let bytes: Int
        let taken: Instant
        let since: Instant?
        var open: Int
        var outcome = RowOutcome()

        init(_ row: OutboxRow, entries: Int, taken: Instant) {
            number = row.number
            bytes = row.body.count
            self.taken = taken
            since = row.since
            open = entries
        }
    }

    private var rows: [Row] = []
    private var head = 0
    private var byNumber: [Int64: Int] = [:]
    /// Number of the last row that was taken.
    private(set) var lastTaken: Int64
    /// Everything through this row is done.
    private(set) var through: Int64
    /// Bytes of the rows with entries that are not done.
    private(set) var openBytes = 0
    /// Bytes of what became of entries of rows that are not settled, about.
    private(set) var outcomeBytes = 0
    /// Entries that are not done.
    private(set) var openEntries = 0
    /// What became of entries of rows through ``through``.
    private var settled = RowOutcome()
    private var removed = 0

    init(settledThrough: Int64) {
        lastTaken = settledThrough
        through = settledThrough
    }

    /// Rows that are not settled.
    var count: Int { rows.count - head }

    /// When the oldest of them was taken.
    var oldest: Instant? { count > 0 ? rows[head].taken : nil }

    /// Adds a row with this many entries.
    mutating func add(_ row: OutboxRow, entries: Int, now: Instant) {
        byNumber[row.number] = removed + rows.count
        rows.append(Row(row, entries: entries, taken: now))
        if entries > 0 { openBytes += row.body.count }
        openEntries += entries
        lastTaken = row.number
        if entries == 0 { advance() }
    }

    /// Keeps a receipt until its row is settled: a row that was not is delivered again after a restart, with other
    /// receipts.
    mutating func keep(_ receipt: DeliveryReceipt) {
        guard let place = byNumber[receipt.row] else { return settled.receipts.append(receipt) }
        rows[place - removed].outcome.receipts.append(receipt)
        outcomeBytes += receipt.size
    }

    /// Keeps an undeliverable entry until its row is settled.
    mutating func keep(_ entry: UndeliverableEntry) {
        guard let place = byNumber[entry.row] else { return settled.undeliverable.append(entry) }
        rows[place - removed].outcome.undeliverable.append(entry)
        outcomeBytes += entry.size
    }

    /// Notes that an entry of this row is done. When the row was made, if all of it has been delivered with that.
    mutating func finishEntry(of number: Int64) -> Instant? {
        guard let place = byNumber[number] else { return nil }
        let row = rows[place - removed]
        row.open -= 1
        openEntries -= 1
        guard row.open == 0 else { return nil }
        let isDelivered = row.outcome.undeliverable.isEmpty
        openBytes -= row.bytes
        advance()
        return isDelivered ? row.since : nil
    }

    /// What became of entries of settled rows, since the last time of asking.
    mutating func takeSettled() -> RowOutcome {
        let taken = settled
        settled = RowOutcome()
        return taken
    }

    /// Moves ``through`` over rows that are done.
    private mutating func advance() {
        while head < rows.count, rows[head].open == 0 {
            let row = rows[head]
            through = row.number
            byNumber[through] = nil
            outcomeBytes -= row.outcome.size
            settled.receipts += row.outcome.receipts
            settled.undeliverable += row.outcome.undeliverable
            head += 1
        }
        guard head >= 64 && head * 2 >= rows.count else { return }
        rows.removeFirst(head)
        removed += head
        head = 0
    }
}
