import KymographCore

/// The rows that were taken from the outbox and are not settled, in order.
struct RowsInHand {
    private final class Row {
        let number: Int64
        let bytes: Int
        let taken: Instant
        var open: Int

        init(_ row: OutboxRow, entries: Int, taken: Instant) {
            number = row.number
            bytes = row.body.count
            self.taken = taken
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
    /// Bytes of the rows that are not settled.
    private(set) var bytes = 0
    /// Entries that are not done.
    private(set) var openEntries = 0
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
        bytes += row.body.count
        openEntries += entries
        lastTaken = row.number
        if entries == 0 { advance() }
    }

    /// Notes that an entry of this row is done.
    mutating func finishEntry(of number: Int64) {
        guard let place = byNumber[number] else { return }
        rows[place - removed].open -= 1
        openEntries -= 1
        advance()
    }

    /// Moves ``through`` over rows that are done.
    private mutating func advance() {
        while head < rows.count, rows[head].open == 0 {
            through = rows[head].number
            bytes -= rows[head].bytes
            byNumber[through] = nil
            head += 1
        }
        guard head >= 64 && head * 2 >= rows.count else { return }
        rows.removeFirst(head)
        removed += head
        head = 0
    }
}
