import GRDB

/// How far what a store was given up to a moment has come: delivered where a file is the only sink, on disk, and taken
/// by each sink. To be asked again and again; nothing waits.
struct FlushProgress {
    /// What has become of rows, by the names of sinks.
    struct Found {
        /// Rows that each sink has not taken.
        var waiting: [String: Int] = [:]
        /// Entries that each sink has refused for good.
        var refused: [String: Int] = [:]
        /// Resources of which a server has kept an earlier version.
        var lacking: [String: Int] = [:]
    }

    private var units: Int?
    private var changes: Int?
    /// The last row before, and the last that belongs to it.
    private let first: Int64
    private var last: Int64?
    /// The last dead letter before.
    private let letter: Int64

    /// Begins before `store` is given anything of it.
    init(_ store: Store) {
        let numbers = store.read { db in
            (
                try Int64.fetchOne(db, sql: "SELECT \(StoredOutbox.newest)") ?? 0,
                try Int64.fetchOne(db, sql: "SELECT max(number) FROM dead") ?? 0
            )
        }
        (first, letter) = numbers ?? (.max, .max)
    }

    /// Looks once, after `store` has been given all of it: nil before it is on disk. With `counts` rows that wait are
    /// counted; else a sink that lacks some has 1.
    mutating func look(_ store: Store, counts: Bool) -> Found? {
        let given = units ?? store.directUnits
        units = given
        guard store.isDelivered(given ?? 0) else { return nil }
        let wanted = changes ?? store.queue.changes
        changes = wanted
        guard store.queue.isCommitted(wanted) else { return nil }
        let (former, names) = (last, store.sinks)
        let found = store.read { db in
            let last = try former ?? Int64.fetchOne(db, sql: "SELECT \(StoredOutbox.newest)") ?? 0
            return (last, try find(through: last, names, counts: counts, db))
        }
        last = found?.0
        return found?.1
    }

    private func find(through last: Int64, _ names: some Sequence<String>, counts: Bool, _ db: Database) throws -> Found
    {
        var found = Found()
        for row in try Row.fetchAll(db, sql: "SELECT name, through FROM sink") where names.contains(row[0]) {
            let (name, through): (String, Int64) = (row[0], row[1])
            // Rows have the names behind their bodies: to count them reads all of these.
            found.waiting[name] =
                through >= last
                ? 0 : counts ? try OutboxRow.waiting(for: name, after: through, through: last, db) : 1
        }
        let refused = """
            SELECT source, count(*) FROM dead WHERE number > ?1 AND kind = 'entry' AND replayed IS NULL
                AND outbox > ?2 AND outbox <= ?3 GROUP BY source
            """
        for row in try Row.fetchAll(db, sql: refused, arguments: [letter, first, last]) {
            found.refused[row[0]] = row[1]
        }
        let lacking = "SELECT sink, count(*) FROM lacking WHERE origin > ?1 AND origin <= ?2 GROUP BY sink"
        for row in try Row.fetchAll(db, sql: lacking, arguments: [first, last]) { found.lacking[row[0]] = row[1] }
        return found
    }
}

extension Store {
    /// Units that a file, the only sink, has been given; nil where there is no such.
    fileprivate var directUnits: Int? { direct?.submittedUnits }

    fileprivate func isDelivered(_ count: Int) -> Bool { direct?.isDelivered(count) ?? true }
}
