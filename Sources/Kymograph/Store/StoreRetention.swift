import GRDB
import KymographCore

/// Keeps a store within its limits: drops old windows, and refuses more when the disk share is used up.
struct StoreRetention {
    private let settings: StoreSettings
    private var commits = 0
    private var bytes = 0
    /// Bytes submitted since the last look at the size.
    private var added = 0
    private var alarm = StoreAlarm()

    /// Commits between two looks at the size, and at the age of windows; windows dropped at a time.
    private static let sizeInterval = 8
    private static let interval = 64
    private static let most = 2_000
    /// Dead letters kept, the newest; all of them are counted.
    static let mostLetters = 100_000

    init(_ settings: StoreSettings) {
        self.settings = settings
    }

    mutating func noteCommit() { commits += 1 }

    /// Looks at the size now and then.
    ///
    /// - Throws: ``StoreError`` of kind ``StoreError/Kind/full`` when what cannot be dropped is over the limit.
    mutating func check(_ store: Store, adding size: Int) throws {
        added += size
        let isDue = commits % StoreRetention.sizeInterval == 0 || added >= settings.maxBytes / 16
        guard isDue || bytes >= settings.maxBytes else { return }
        added = 0
        bytes = try store.pool.read { try StoreRetention.used($0) }
        store.noteUsed(bytes: bytes)
        alarm.note(store.fill).map(store.watch.note)
        guard bytes >= settings.maxBytes else {
            alarm.note(drops: false, store.fill).map(store.watch.note)
            return
        }
        while bytes >= settings.maxBytes {
            let dropped = try store.pool.write { try dropOldest($0, before: .max) }
            store.noteDropped(dropped)
            if dropped.isEmpty, try store.pool.write({ try dropReceipts($0) }) == 0 { throw full(store) }
            alarm.note(drops: true, store.fill).map(store.watch.note)
            bytes = try store.pool.read { try StoreRetention.used($0) }
        }
        store.noteUsed(bytes: bytes)
    }

    private func full(_ store: Store) -> StoreError {
        StoreError(
            .full,
            "the store in \(store.directory.path) has reached its limit of \(settings.maxBytes) bytes, all of it "
                + "readings of open windows and bundles that no sink has taken: mend the sink, or raise store.maxBytes")
    }

    /// Bytes of pages in use.
    static func used(_ db: Database) throws -> Int {
        let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
        let free = try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0
        return (pages - free) * (try Int.fetchOne(db, sql: "PRAGMA page_size") ?? 0)
    }

    /// Drops windows that have not changed for longer than the age. Gives the latest start of those that were dropped,
    /// by series.
    mutating func drop(_ now: Instant, _ db: Database) throws -> [Int: Int64] {
        guard commits % StoreRetention.interval == 0 else { return [:] }
        // A flood of what nobody can read must not push out windows.
        try db.cachedStatement(sql: "DELETE FROM dead WHERE number <= (SELECT max(number) FROM dead) - ?").execute(
            arguments: [StoreRetention.mostLetters])
        try forgetOrder(db)
        guard settings.archiveAge > 0 else { return [:] }
        let limit = now.nanoseconds &- settings.archiveAge
        try db.cachedStatement(
            sql: """
                DELETE FROM receipt WHERE number IN
                    (SELECT number FROM (SELECT number, at FROM receipt ORDER BY number LIMIT ?2) WHERE at < ?1)
                """
        ).execute(arguments: [limit, StoreRetention.most])
        // As old as the windows that the archive drops.
        try db.cachedStatement(sql: "DELETE FROM lacking WHERE at < ?").execute(arguments: [limit])
        return try dropOldest(db, before: limit)
    }

    /// Forgets what is newer than letters that are gone, and how old rows are that are settled and no letter's.
    private func forgetOrder(_ db: Database) throws {
        try db.cachedStatement(
            sql: "DELETE FROM newer WHERE resource NOT IN (SELECT resource FROM dead WHERE resource IS NOT NULL)"
        ).execute()
        try db.cachedStatement(
            sql: """
                DELETE FROM replay WHERE outbox NOT IN (SELECT number FROM outbox)
                    AND outbox NOT IN (SELECT outbox FROM dead WHERE outbox IS NOT NULL)
                    AND outbox NOT IN (SELECT outbox FROM receipt)
                """
        ).execute()
    }

    /// Drops the oldest receipts, which are the proof of windows that are gone by now; gives how many.
    private func dropReceipts(_ db: Database) throws -> Int {
        try db.execute(
            sql: "DELETE FROM receipt WHERE number IN (SELECT number FROM receipt ORDER BY number LIMIT ?)",
            arguments: [StoreRetention.most])
        return db.changesCount
    }

    private func dropOldest(_ db: Database, before limit: Int64) throws -> [Int: Int64] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                DELETE FROM window WHERE number IN
                    (SELECT number FROM (SELECT number, modified FROM window ORDER BY number LIMIT ?2)
                     WHERE modified < ?1)
                RETURNING series, start, sources, merged, duplicates, conflicts, first, last, through_block,
                    through_index
                """, arguments: [limit, StoreRetention.most])
        var dropped: [Int: Int64] = [:]
        var tallies: [TallyKey: Int] = [:]
        for row in rows {
            dropped[row[0]] = max(dropped[row[0]] ?? .min, row[1])
            LedgerOutcome.countDropped(row, in: &tallies)
            try DroppedWindows.note(row, db)
            try db.cachedStatement(sql: "DELETE FROM reading_id WHERE series = ? AND instant BETWEEN ? AND ?").execute(
                arguments: [row[0] as Int, row[6] as Int64, row[7] as Int64])
        }
        for (key, count) in tallies { try key.add(count, db) }
        for (series, start) in dropped {
            try db.cachedStatement(
                sql: "UPDATE series SET dropped_through = max(coalesce(dropped_through, ?1), ?1) WHERE number = ?2"
            ).execute(arguments: [start, series])
        }
        return dropped
    }
}
