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
}
