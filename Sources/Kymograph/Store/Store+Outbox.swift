import GRDB

/// What waits in the outbox, and for whom.
extension Store {
    /// Bundles after row `number`.
    func bundlesWaiting(after number: Int64) -> Int {
        let count = read { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM outbox WHERE number > ?", arguments: [number])
        }
        return count.flatMap { $0 } ?? 0
    }

    /// How many bundles each sink of an earlier run still waits for, except the one called `name`.
    func bundlesWaiting(except name: String) -> [(sink: String, count: Int)] {
        let rows = read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT name, (SELECT count(*) FROM outbox WHERE number > through) AS waiting FROM sink
                    WHERE name <> ? AND waiting > 0 ORDER BY name
                    """, arguments: [name])
        }
        return (rows ?? []).map { ($0[0], $0[1]) }
    }
}
