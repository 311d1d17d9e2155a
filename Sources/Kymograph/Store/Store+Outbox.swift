import GRDB

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
}
