import FoundationEssentials
import GRDB
import KymographCore
import Synchronization

/// What one sink sees of a store: the entries for it that it has not taken yet.
final class StoredOutbox: OutboxQueue {
    private struct Progress {
        /// The last number settled.
        var settled: Int64
        /// The last row that was handed out.
        var handedOut: Int64
        /// No row up to this number is for this sink, after the last that was handed out.
        var lookedAt: Int64
        /// The last row that it may have: none that comes after, once the sink is to go.
        var last = Int64.max
    }

    /// Rows as they are in the database, and how far that was looked at.
    private struct Found {
        var rows: [OutboxRow] = []
        var lookedAt: Int64

        /// Leaves out what comes after row `last`.
        mutating func end(at last: Int64) {
            guard lookedAt > last else { return }
            rows.removeAll { $0.number > last }
            lookedAt = last
        }
    }

    private let store: Store
    private let sink: String
    private let progress: Mutex<Progress>
    /// Numbers of rows that were found damaged, and told of.
    private let damaged = Mutex<Set<Int64>>([])
    private let bell: Doorbell

    /// SQL of the last row that there was: a new sink begins after it.
    static let newest = "coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'outbox'), 0)"

    /// The outbox as `sink` sees it; the name is what its progress is kept under.
    init(_ store: Store, sink: String) throws(StoreError) {
        self.store = store
        self.sink = sink
        let through = store.read { db in
            try Int64.fetchOne(
                db, sql: "SELECT coalesce((SELECT through FROM sink WHERE name = ?), \(StoredOutbox.newest))",
                arguments: [sink])
        }
        let settled = through.flatMap { $0 } ?? 0
        progress = Mutex(Progress(settled: settled, handedOut: settled, lookedAt: settled))
        do throws(SystemError) { bell = try Doorbell() } catch { throw StoreError(.unusable, error.message) }
    }

    /// The last number settled.
    var settledThrough: Int64 { progress.withLock { $0.settled } }

    /// The store's own number, which a repaired one has anew.
    var lineage: String? { change { try StoreFacts.lineage($0) }.map { String($0, radix: 16) } }

    func renewLineage() -> String? { change { try StoreFacts.renewLineage($0) }.map { String($0, radix: 16) } }

    /// Changes the database on the calling thread, in one transaction; nil when that fails, after which it is as it
    /// was.
    private func change<Value>(_ body: (Database) throws -> Value) -> Value? {
        guard store.watch.failure == nil else { return nil }
        for isAgain in [false, true] {
            do {
                return try store.pool.write(body)
            } catch {
                let error = StoreError(error, "write to", store.directory.path)
                if [.damaged, .syncFailed].contains(error.kind) { store.fail(error) }
                guard error.kind == .full, !isAgain else { return nil }
                // What sinks take makes room: it must not wait for room.
                store.shrinkLog()
            }
        }
        return nil
    }

    var sentThrough: Int64? { change { [sink] in try StoreFacts.sentThrough(by: sink, $0) } }

    func note(sentThrough sequence: Int64) -> Bool {
        change { [sink] in try StoreFacts.note(sentThrough: sequence, by: sink, $0) } != nil
    }

    /// Rows of this sink that are in the database and not settled.
    var waiting: Int {
        let ((settled, last), sink) = (progress.withLock { ($0.settled, $0.last) }, sink)
        return store.read { try OutboxRow.waiting(for: sink, after: settled, through: last, $0) } ?? 0
    }

    /// Wakes whoever waits for rows.
    func wake() { bell.ring() }

    /// Rows after `number`.
    func rows(after number: Int64, bytes: Int, milliseconds: Int) -> [OutboxRow] {
        let newest = max(store.tail.newest, number)
        let rows = presentRows(after: number, bytes: bytes)
        guard rows.isEmpty else { return rows }
        // There may have been rows after the number: those that are gone, or damaged, or for other sinks, do not come
        // by being asked for.
        bell.sleep(milliseconds: Int32(clamping: milliseconds)) { store.tail.newest > newest }
        return store.tail.newest > newest ? presentRows(after: number, bytes: bytes) : []
    }

    /// Begins behind the newest row that there was when the sink came.
    func begin() {
        let sink = sink
        let through = store.read {
            try Int64.fetchOne($0, sql: "SELECT through FROM sink WHERE name = ?", arguments: [sink])
        }
        guard let through = through ?? nil else { return }
        progress.withLock { $0 = Progress(settled: through, handedOut: through, lookedAt: through) }
    }

    /// Leaves it nothing that comes after the newest row.
    func takeNoMore() {
        let newest = store.tail.newest
        progress.withLock { $0.last = min($0.last, newest) }
    }

    /// Leaves it nothing but what it has in hand, until it may go on.
    func hold() { progress.withLock { $0.last = $0.handedOut } }

    /// Gives it what comes next, too.
    func goOn() { progress.withLock { $0.last = .max } }

    private func presentRows(after number: Int64, bytes: Int) -> [OutboxRow] {
        var (start, last) = progress.withLock {
            (number >= $0.handedOut ? max(number, $0.lookedAt) : number, $0.last)
        }
        while min(store.tail.newest, last) > start {
            var found = tailRows(after: start, bytes: bytes) ?? storedRows(after: start, bytes: bytes)
            found.end(at: last)
            note(found, after: number)
            if !found.rows.isEmpty || found.lookedAt == start { return found.rows }
            start = found.lookedAt
        }
        return []
    }

    /// Notes how far was looked. What is for others only is settled when nothing of this sink is open before it.
    private func note(_ found: Found, after number: Int64) {
        let settled: Int64? = progress.withLock { progress in
            if let last = found.rows.last {
                progress.handedOut = max(progress.handedOut, last.number)
                progress.lookedAt = max(progress.lookedAt, found.lookedAt)
                return nil
            }
            guard number >= progress.handedOut else { return nil }
            progress.lookedAt = max(progress.lookedAt, found.lookedAt)
            guard progress.settled >= progress.handedOut, progress.lookedAt > progress.settled else { return nil }
            progress.settled = progress.lookedAt
            return progress.settled
        }
        if let settled { settle(Settlement(sink: sink, through: settled, receipts: [], undeliverable: [])) }
    }

    private func tailRows(after number: Int64, bytes: Int) -> Found? {
        guard let rows = store.tail.rows(after: number, bytes: bytes) else { return nil }
        return Found(rows: rows.filter { $0.isFor(sink) }, lookedAt: rows.last?.number ?? number)
    }

    /// Rows that are in the database only. One that is damaged is left out, and moved to quarantine with what it has.
    private func storedRows(after number: Int64, bytes: Int) -> Found {
        var found = Found(lookedAt: number)
        var damaged: [Int64] = []
        _ = store.read { db in
            let cursor = try Row.fetchCursor(
                db,
                sql: """
                    SELECT number, codec, key_id, checksum, body, sinks, created FROM outbox WHERE number > ?
                        ORDER BY number LIMIT 1000
                    """, arguments: [number])
            var size = 0
            while size < bytes, let row = try cursor.next() {
                found.lookedAt = row[0]
                guard OutboxRow.isFor(sink, row[5]) else { continue }
                let content = StoredBody.content(codec: row[1], key: row[2], checksum: row[3], bytes: row[4])
                guard let content else {
                    damaged.append(row[0])
                    continue
                }
                let created = Instant(nanoseconds: row[6])
                found.rows.append(OutboxRow(number: row[0], body: content, sinks: row[5], since: created))
                size += content.count
            }
        }
        quarantine(damaged)
        return found
    }

    /// Moves rows that cannot be read to quarantine, and tells of those that are new.
    private func quarantine(_ damaged: [Int64]) {
        let news = self.damaged.withLock { known in damaged.filter { known.insert($0).inserted } }
        if !news.isEmpty { store.quarantine(news, of: .outbox) }
    }

    /// Moves a row out of the way that is whole and has no entries that can be read.
    func putAside(_ number: Int64) { quarantine([number]) }

    /// Notes progress; it becomes durable with the next commit.
    func settle(through number: Int64, receipts: [DeliveryReceipt], undeliverable: [UndeliverableEntry]) {
        let through = progress.withLock { progress in
            progress.settled = number >= progress.handedOut ? max(number, progress.lookedAt) : number
            return progress.settled
        }
        settle(Settlement(sink: sink, through: through, receipts: receipts, undeliverable: undeliverable))
    }

    func tell(_ text: String) { store.watch.note(.warning("\(sink): \(text)")) }

    func note(taken types: Set<String>) {
        guard !types.isEmpty else { return }
        store.queue.add { $0.taken[sink, default: []].formUnion(types) }
    }

    private func settle(_ settlement: Settlement) {
        store.queue.add { $0.settlements.append(settlement) }
    }
}

extension OutboxRow {
    /// Stands before the name of a sink that was ended before it got a window; no name has control characters.
    static let givenUp = "\u{18}"

    /// Names of sinks as they are stored: each in a line of its own.
    static func stored(_ sinks: [String]) -> String { sinks.joined(separator: "\n") }

    /// Whether a row with these stored names is for `sink`.
    static func isFor(_ sink: String, _ sinks: String?) -> Bool {
        sinks.map { $0.split(separator: "\n").contains(sink[...]) } ?? true
    }

    /// Whether it is for `sink`.
    func isFor(_ sink: String) -> Bool { OutboxRow.isFor(sink, sinks) }

    /// When the first row after `number` was made that is for `sink`; nil when there is none.
    static func oldest(for sink: String, after number: Int64, _ db: Database) throws -> Instant? {
        let rows = try Row.fetchCursor(
            db, sql: "SELECT created, sinks FROM outbox WHERE number > ? ORDER BY number", arguments: [number])
        while let row = try rows.next() {
            if isFor(sink, row[1]) { return Instant(nanoseconds: row[0]) }
        }
        return nil
    }

    /// How many rows after `number`, up to `last`, are for `sink`.
    static func waiting(
        for sink: String, after number: Int64, through last: Int64 = .max, _ db: Database
    ) throws -> Int {
        let sinks = try Row.fetchCursor(
            db, sql: "SELECT sinks, count(*) FROM outbox WHERE number > ? AND number <= ? GROUP BY sinks",
            arguments: [number, last])
        var count = 0
        while let row = try sinks.next() {
            if isFor(sink, row[0]) { count += row[1] as Int }
        }
        return count
    }
}
