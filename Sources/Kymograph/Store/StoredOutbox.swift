import Foundation
import GRDB
import KymographCore
import Synchronization

/// What one sink sees of a store: the bundles that it has not taken yet.
final class StoredOutbox: OutboxQueue {
    private let store: Store
    private let sink: String
    private let settled: Atomic<Int64>
    /// Numbers of rows that were found damaged, and told of.
    private let damaged = Mutex<Set<Int64>>([])
    private let bell: Doorbell

    /// The outbox as `sink` sees it; the name is what its progress is kept under.
    init(_ store: Store, sink: String) throws(StoreError) {
        self.store = store
        self.sink = sink
        let through = store.read { db in
            try Int64.fetchOne(db, sql: "SELECT through FROM sink WHERE name = ?", arguments: [sink])
        }
        settled = Atomic(through.flatMap { $0 } ?? 0)
        do throws(SourceError) { bell = try Doorbell() } catch { throw StoreError(.unusable, error.message) }
    }

    /// The last number settled.
    var settledThrough: Int64 { settled.load(ordering: .relaxed) }

    /// Wakes whoever waits for rows.
    func wake() { bell.ring() }

    /// Rows after `number`.
    func rows(after number: Int64, bytes: Int, milliseconds: Int) -> [OutboxRow] {
        let newest = max(store.tail.newest, number)
        let rows = presentRows(after: number, bytes: bytes)
        guard rows.isEmpty else { return rows }
        // There may have been rows after the number: those that are gone, or damaged, do not come by being asked for.
        bell.sleep(milliseconds: Int32(clamping: milliseconds)) { store.tail.newest > newest }
        return store.tail.newest > newest ? presentRows(after: number, bytes: bytes) : []
    }

    private func presentRows(after number: Int64, bytes: Int) -> [OutboxRow] {
        guard store.tail.newest > number else { return [] }
        return store.tail.rows(after: number, bytes: bytes) ?? storedRows(after: number, bytes: bytes)
    }

    /// Rows that are in the database only. One that is damaged is left out, and moved to quarantine with what it has.
    private func storedRows(after number: Int64, bytes: Int) -> [OutboxRow] {
        var rows: [OutboxRow] = []
        var damaged: [Int64] = []
        _ = store.read { db in
            let cursor = try Row.fetchCursor(
                db,
                sql: """
                    SELECT number, codec, key_id, checksum, body FROM outbox WHERE number > ? ORDER BY number LIMIT 1000
                    """, arguments: [number])
            var size = 0
            while size < bytes, let row = try cursor.next() {
                let content = StoredBody.content(codec: row[1], key: row[2], checksum: row[3], bytes: row[4])
                guard let content else {
                    damaged.append(row[0])
                    continue
                }
                rows.append(OutboxRow(number: row[0], body: content))
                size += content.count
            }
        }
        let news = self.damaged.withLock { known in damaged.filter { known.insert($0).inserted } }
        if !news.isEmpty { store.quarantine(news, of: .outbox) }
        return rows
    }

    /// Notes progress; it becomes durable with the next commit.
    func settle(through number: Int64, receipts: [DeliveryReceipt], undeliverable: [UndeliverableEntry]) {
        settled.store(number, ordering: .relaxed)
        store.queue.add { batch in
            batch.settlements.append(
                Settlement(sink: sink, through: number, receipts: receipts, undeliverable: undeliverable))
        }
    }
}
