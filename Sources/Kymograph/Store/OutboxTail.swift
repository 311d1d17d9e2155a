import Synchronization

/// The newest rows of the outbox, so that sinks that keep up need not read them from the database.
final class OutboxTail: Sendable {
    private struct State {
        var rows: [OutboxRow] = []
        var first = 0
        var bytes = 0
        /// Number of the newest row, kept or not.
        var newest: Int64 = 0
        /// Number of the row before the first kept one.
        var before: Int64 = 0

        /// The place of the first kept row after `number`.
        func place(after number: Int64) -> Int {
            var (low, high) = (first, rows.count)
            while low < high {
                let middle = (low + high) / 2
                if rows[middle].number <= number { low = middle + 1 } else { high = middle }
            }
            return low
        }
    }

    private static let mostBytes = 16 << 20
    private let state = Mutex(State())

    /// Notes that rows up to `number` are in the database when the store is opened.
    func begin(after number: Int64) {
        state.withLock { ($0.newest, $0.before) = (number, number) }
    }

    /// Number of the newest row.
    var newest: Int64 { state.withLock { $0.newest } }

    /// Adds a row that has been committed.
    func append(_ row: OutboxRow) {
        state.withLock { state in
            state.rows.append(row)
            state.bytes += row.body.count
            state.newest = row.number
            while state.bytes > OutboxTail.mostBytes, state.first < state.rows.count - 1 {
                state.bytes -= state.rows[state.first].body.count
                state.before = state.rows[state.first].number
                state.first += 1
            }
            guard state.first > 64, state.first * 2 > state.rows.count else { return }
            state.rows.removeFirst(state.first)
            state.first = 0
        }
    }

    /// Rows after `number`, up to about `bytes` bytes; nil when some of them are in the database only.
    func rows(after number: Int64, bytes: Int) -> [OutboxRow]? {
        state.withLock { state in
            guard number >= state.before else { return nil }
            var found: [OutboxRow] = []
            var size = 0
            for row in state.rows[state.place(after: number)...] {
                if !found.isEmpty && size + row.body.count > bytes { break }
                found.append(row)
                size += row.body.count
            }
            return found
        }
    }
}
