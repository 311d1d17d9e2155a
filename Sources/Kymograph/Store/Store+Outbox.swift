import GRDB
import KymographCore

/// What waits in the outbox, and for whom.
extension Store {
    /// How many bundles each sink of an earlier run still waits for, except those called by one of `names`.
    func bundlesWaiting(except names: [String]) -> [(sink: String, count: Int)] {
        let waiting = read { db in
            try Row.fetchAll(db, sql: "SELECT name, through FROM sink ORDER BY name").map { row in
                (sink: row[0] as String, count: try OutboxRow.waiting(for: row[0], after: row[1], db))
            }
        }
        return (waiting ?? []).filter { $0.count > 0 && !names.contains($0.sink) }
    }

    /// Age of the oldest bundle in seconds, 0 when none waits; nil when the database cannot be read, or not any more:
    /// who looks on must not end the process.
    func outboxAge(now: Instant) -> Double? {
        try? pool.read { db in
            let oldest = try Int64.fetchOne(db, sql: "SELECT created FROM outbox ORDER BY number LIMIT 1")
            return oldest.map { Double(max(0, now.nanoseconds &- $0)) / 1e9 } ?? 0
        }
    }

    /// Adds `body`, whose content has `size` bytes, for `sinks` (``OutboxRow/sinks``); gives the number of the row.
    static func insert(
        _ body: StoredBody, size: Int, sinks: String?, _ now: Instant, _ db: Database
    ) throws -> Int64 {
        try db.cachedStatement(
            sql: "INSERT INTO outbox (created, size, codec, key_id, checksum, body, sinks) VALUES (?, ?, ?, ?, ?, ?, ?)"
        ).execute(arguments: [
            now.nanoseconds, size, body.codec.rawValue, body.key, Int64(body.checksum), body.bytes, sinks,
        ])
        return db.lastInsertedRowID
    }

    /// Ends `sink`: windows that it has not got say so from here on, and what it refused and was to get again is a dead
    /// letter as before; its receipts stay.
    static func giveUp(_ sink: String, _ db: Database) throws {
        let line = "char(10) || ? || char(10)"
        try db.execute(
            sql: """
                UPDATE window SET sinks = trim(replace(char(10) || sinks || char(10), \(line), \(line)), char(10))
                WHERE outbox > (SELECT through FROM sink WHERE name = ?)
                    AND instr(char(10) || sinks || char(10), \(line)) > 0
                """, arguments: [sink, OutboxRow.givenUp + sink, sink, sink])
        try db.execute(
            sql: """
                UPDATE dead SET replayed = NULL
                WHERE kind = 'entry' AND source = ?1 AND outbox > (SELECT through FROM sink WHERE name = ?1)
                """, arguments: [sink])
        try db.execute(sql: "INSERT OR IGNORE INTO former_sink VALUES (?)", arguments: [sink])
        try db.execute(sql: "DELETE FROM sink WHERE name = ?", arguments: [sink])
    }
}
