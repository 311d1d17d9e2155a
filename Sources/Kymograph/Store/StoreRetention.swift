import GRDB
import KymographCore
import Synchronization

/// Keeps a store within its limits: drops old windows, and refuses more when the disk share is used up.
struct StoreRetention {
    private var settings: StoreSettings
    private var commits = 0
    private var bytes = 0
    /// Bytes submitted since the last look at the size.
    private var added = 0
    private var alarm = StoreAlarm()
    /// When it last looked at the age of windows, and whether it left some that are too old.
    private var (aged, isBehind) = (Instant.distantPast, false)

    /// Commits between two looks at the size, and at dead letters; windows dropped at a time.
    private static let sizeInterval = 8
    private static let interval = 64
    private static let most = 2_000
    /// Nanoseconds between two looks at the age of windows.
    private static let ageInterval: Int64 = 1_000_000_000
    /// Rows of payloads dropped at a time, in each commit.
    private static let mostRows = 200
    /// The part of the store that receipts may take, and bytes that one takes of it, when files are too slow.
    private static let (lineShare, lineBytes) = (8, 512)
    /// Most bytes of receipts that are kept for nobody but a reader of a socket who is away.
    private static let mostAwaitedBytes = 256 << 20
    /// Dead letters kept, the newest, of what came and of what was refused each, besides those that pauses have put
    /// aside; all of them are counted.
    static let mostLetters = 100_000
    /// Whether the operator has been told how many pauses have put aside.
    private var hasToldLetters = false

    init(_ settings: StoreSettings) {
        self.settings = settings
    }

    mutating func noteCommit() { commits += 1 }

    /// Looks at the size now and then.
    ///
    /// - Throws: ``StoreError`` of kind ``StoreError/Kind/full`` when what cannot be dropped is over the limit.
    mutating func check(_ store: Store, adding size: Int) throws {
        settings = store.settings
        added += size
        let isDue = commits % StoreRetention.sizeInterval == 0 || added >= settings.maxBytes / 16
        guard isDue || bytes >= settings.maxBytes else { return }
        added = 0
        try limitAwaitedLines(store)
        bytes = try store.pool.read { try StoreRetention.used($0) }
        store.noteUsed(bytes: bytes)
        alarm.note(store.fill).map(store.watch.note)
        guard bytes >= settings.maxBytes else {
            alarm.note(drops: false, store.fill).map(store.watch.note)
            noteReceiptsTaken(store)
            return
        }
        while bytes >= settings.maxBytes {
            if try dropReceiptLines(store) { continue }
            if try dropPayloads(store) { continue }
            // Noted before it shows: who does not find a window must know that there was one.
            let count = try store.pool.write { db in
                let (dropped, count) = try dropOldest(db, before: .max)
                store.noteDropped(dropped)
                return count
            }
            if count == 0, try store.pool.write({ try dropReceipts($0) }) == 0 { throw full(store) }
            alarm.note(drops: true, store.fill).map(store.watch.note)
            bytes = try store.pool.read { try StoreRetention.used($0) }
        }
        store.noteUsed(bytes: bytes)
    }

    /// Drops receipts that those who wait for them do not take, or not fast enough, before anything of readings goes;
    /// false when there are none.
    private mutating func dropReceiptLines(_ store: Store) throws -> Bool {
        let takers = store.receiptProgress
        guard !takers.isEmpty else { return false }
        // While they are taken, they leave by themselves: only what none lacks but who takes nothing goes at once.
        let working = takers.filter { !$0.isStuck }.map(\.taken).min() ?? .max
        let kept = settings.maxBytes / Self.lineShare / Self.lineBytes
        let dropped = try store.pool.write { db in
            let lacking = try Settlement.dropOldestLines(through: working, Self.most, db)
            guard lacking.isEmpty, try Settlement.lineCount(db) > kept else { return lacking }
            return try Settlement.dropOldestLines(Self.most, db)
        }
        guard !dropped.isEmpty else { return false }
        note(dropped, of: takers, "the store in \(store.directory.path) is full", store)
        bytes = try store.pool.read { try StoreRetention.used($0) }
        return true
    }

    /// Drops the oldest payloads, before any window goes; false when there are none.
    private mutating func dropPayloads(_ store: Store) throws -> Bool {
        let dropped = try store.pool.write { try StoredPayloads.dropOldest(Self.mostRows, before: .max, $0) }
        guard dropped > 0 else { return false }
        alarm.noteDroppedPayloads(store.fill).map(store.watch.note)
        bytes = try store.pool.read { try StoreRetention.used($0) }
        return true
    }

    /// Drops payloads by their age: with those that were kept before nothing was to be kept any more, windows go.
    private func dropOldPayloads(_ now: Instant, _ db: Database) throws {
        let age = settings.keepRaw > 0 ? settings.keepRaw : settings.archiveAge
        guard age > 0 else { return }
        _ = try StoredPayloads.dropOldest(Self.mostRows, before: now.nanoseconds &- age, db)
    }

    /// Drops the oldest of the receipts that only a socket's reader lacks who takes nothing, when they are too many:
    /// nobody may ever come, and the disk is for readings.
    private func limitAwaitedLines(_ store: Store) throws {
        let takers = store.receiptProgress
        guard takers.contains(where: { $0.taker == .socket && $0.isStuck }) else { return }
        let others = takers.filter { $0.taker != .socket }.map(\.taken).min() ?? .max
        let most = min(settings.maxBytes / Self.lineShare, Self.mostAwaitedBytes)
        let last = try store.pool.read {
            try Settlement.lastLine(through: others, beyond: most, atLeast: Self.lineBytes, $0)
        }
        guard let last else { return }
        let reason = "nobody reads receiptSocket, and the store keeps \(most) bytes for that"
        while true {
            let dropped = try store.pool.write { try Settlement.dropOldestLines(through: last, Self.most, $0) }
            guard !dropped.isEmpty else { return }
            note(dropped, of: takers, reason, store)
        }
    }

    /// Has each of `takers` know which of the lines `dropped` it lacks.
    private func note(_ dropped: [Int64], of takers: [ReceiptProgress], _ reason: String, _ store: Store) {
        for progress in takers {
            let (count, taker) = (dropped.count { $0 > progress.taken }, progress.taker)
            guard count > 0, progress.noteDropped(count) else { continue }
            store.watch.note(.error("\(reason): receipts that wait for \(taker.name) are dropped; \(taker.remedy)"))
        }
    }

    /// Says how many receipts are missing, once they are taken again.
    private func noteReceiptsTaken(_ store: Store) {
        for progress in store.receiptProgress where !progress.isStuck {
            let count = progress.takeDropped()
            guard count > 0 else { continue }
            let place = progress.taker == .files ? "in the files" : "there"
            store.watch.note(
                .warning(
                    "receipts: \(progress.taker.taking) them again; \(count) were dropped, because the store was "
                        + "full or they were too many, and their numbers are missing \(place)"))
        }
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
    mutating func drop(_ store: Store, _ now: Instant, _ db: Database) throws -> [Int: Int64] {
        settings = store.settings
        // With each commit, as many may come with one.
        try dropOldPayloads(now, db)
        if commits % StoreRetention.interval == 0 {
            try dropLetters(db)
            try forgetOrder(db)
            try StoredRetraction.dropUnknown(beyond: StoreRetention.mostLetters, db)
        }
        let wait = now.nanoseconds &- aged.nanoseconds
        let isDue = isBehind || wait >= StoreRetention.ageInterval || wait < 0
        return settings.archiveAge > 0 && isDue ? try dropAged(now, db) : [:]
    }

    /// Drops what is older than the age, not more at a time than holds up a commit for some milliseconds: of the rest,
    /// as much goes with the next commit, and there is one each second.
    private mutating func dropAged(_ now: Instant, _ db: Database) throws -> [Int: Int64] {
        aged = now
        let limit = now.nanoseconds &- settings.archiveAge
        try db.cachedStatement(
            sql: """
                DELETE FROM receipt WHERE number IN
                    (SELECT number FROM (SELECT number, at FROM receipt ORDER BY number LIMIT ?2) WHERE at < ?1)
                """
        ).execute(arguments: [limit, StoreRetention.most])
        let receipts = db.changesCount
        // As old as the windows that the archive drops.
        try db.cachedStatement(sql: "DELETE FROM lacking WHERE at < ?").execute(arguments: [limit])
        let (dropped, windows) = try dropOldest(db, before: limit)
        isBehind = max(receipts, windows) >= StoreRetention.most
        try StoredRetraction.drop(before: min(limit, try oldestOpenLetter(db) ?? .max), db)
        return dropped
    }

    /// When the oldest letter came that may be replayed: what was taken back since must not come again by it.
    private func oldestOpenLetter(_ db: Database) throws -> Int64? {
        // Most have none.
        guard try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM retraction)") ?? false else { return nil }
        let statement = try db.cachedStatement(
            sql: "SELECT at FROM dead WHERE kind <> 'entry' AND replayed IS NULL ORDER BY number LIMIT 1")
        return try Int64.fetchOne(statement)
    }

    /// Counts rows: a repair goes on with numbers far behind those that are there.
    ///
    /// A flood of what nobody can read must not push out windows, nor Observations that a server has refused. What
    /// pauses have put aside was acknowledged, nobody sends it again, and it pushes out no other letters.
    private func dropLetters(_ db: Database) throws {
        func count(_ condition: String) throws -> Int {
            try Int.fetchOne(db, sql: "SELECT count(*) FROM dead WHERE \(condition)") ?? 0
        }
        let isEntry = "resource IS NOT NULL"
        let entries = try count(isEntry)
        let kept = try count(Pause.isPutAside) + entries
        try db.cachedStatement(
            sql: """
                DELETE FROM dead WHERE number <= (SELECT number FROM dead ORDER BY number DESC LIMIT 1 OFFSET ?)
                    AND NOT (\(Pause.isPutAside)) AND NOT (\(isEntry))
                """
        ).execute(arguments: [StoreRetention.mostLetters + kept])
        try db.cachedStatement(
            sql: """
                DELETE FROM dead WHERE \(isEntry) AND number IN
                    (SELECT number FROM dead WHERE \(isEntry) ORDER BY number LIMIT max(0, ?))
                """
        ).execute(arguments: [entries - StoreRetention.mostLetters])
        try SettledLetters.forgetGone(db)
        try LetterContext.forgetGone(butForNewest: StoreRetention.mostLetters + kept, db)
    }

    /// Tells once that pauses have put aside more than is kept of other letters.
    mutating func tellLetters(_ store: Store) {
        guard !hasToldLetters, commits % StoreRetention.interval == 0 else { return }
        let count = store.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM dead WHERE \(Pause.isPutAside)") }
        guard let count = count ?? nil, count > StoreRetention.mostLetters else { return }
        hasToldLetters = true
        store.watch.note(
            .warning(
                "\(count) dead letters of what is or was paused are kept, and take room of the store until they are "
                    + "replayed or discarded: when it is full, nothing more is taken"))
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

    /// Drops the oldest windows of those that have not changed since `limit`: as ``drop(_:_:_:)`` gives them, and how
    /// many they were.
    private func dropOldest(
        _ db: Database, before limit: Int64
    ) throws -> (dropped: [Int: Int64], count: Int) {
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
        return (dropped, rows.count)
    }
}
