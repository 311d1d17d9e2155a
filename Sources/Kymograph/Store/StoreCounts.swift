import GRDB
import KymographCore

/// How many readings a store has taken since it was made. Both only grow, and each commit notes them, so that a store
/// that has lost some knows how many: in the database, where a repair reads them, and outside of it (``StoreMark``).
struct StoreCounts: Hashable, Sendable {
    /// Readings that sources gave.
    var received = 0
    /// Readings that a commit has made durable: in the journal, or as rejected. Clients may have been told so.
    var kept = 0

    private static let receivedName = "readings received"
    private static let keptName = "readings kept"
    private static let clockName = "receive clock"
    private static let lostName = "readings lost"
    private static let unknownName = "readings lost unknown"

    /// What `batch` adds.
    static func added(by batch: StoreBatch) -> StoreCounts {
        var added = StoreCounts()
        for unit in batch.units {
            added.kept += unit.journal.map { $0.count - $0.surplus } ?? 0
            added.kept += unit.settledRetractions.count
            added.kept += unit.rejections.count { $0.place == nil && !$0.isKnown && !$0.reading.isInWindow }
        }
        for (key, count) in batch.tallies {
            if key.outcome == LedgerOutcome.received { added.received += count }
            if LedgerOutcome.isRejection(key.outcome) { added.kept += count }
        }
        return added
    }

    static func + (one: StoreCounts, other: StoreCounts) -> StoreCounts {
        StoreCounts(received: one.received + other.received, kept: one.kept + other.kept)
    }

    // MARK: In the database

    /// The counts in `db`; nil in one that has none yet.
    static func read(_ db: Database) throws -> StoreCounts? {
        guard let kept = try number(keptName, db), let received = try number(receivedName, db) else { return nil }
        return StoreCounts(received: received, kept: kept)
    }

    private static func number(_ name: String, _ db: Database) throws -> Int? {
        try Int.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = ?", arguments: [name])
    }

    /// Begins to count in a database that was written before there were counts: with what it holds.
    static func begin(_ db: Database) throws {
        guard try read(db) == nil else { return }
        try set(clockName, 0, db)
        let totals = try LedgerTotals(db)
        try StoreCounts(received: totals.balance.received, kept: totals.kept).insert(db)
    }

    /// Adds to what is noted, and notes that no reading was received after `latest`. The commit writes the page of
    /// these numbers anyway: that of the journal's is there, too.
    func add(latest: Instant, _ db: Database) throws {
        guard self != StoreCounts() else { return }
        let (keptName, receivedName, clockName) =
            (StoreCounts.keptName, StoreCounts.receivedName, StoreCounts.clockName)
        try db.cachedStatement(
            sql: """
                UPDATE sqlite_sequence SET seq =
                    CASE name WHEN ? THEN seq + ? WHEN ? THEN seq + ? ELSE max(seq, ?) END WHERE name IN (?, ?, ?)
                """
        ).execute(arguments: [
            keptName, kept, receivedName, received, latest.nanoseconds, keptName, receivedName, clockName,
        ])
    }

    /// The latest receive time of what `db` has, or later.
    static func latest(_ db: Database) throws -> Instant {
        Instant(nanoseconds: Int64(try number(clockName, db) ?? 0))
    }

    /// Notes the same of a new database.
    static func note(latest: Instant, _ db: Database) throws { try set(clockName, Int(latest.nanoseconds), db) }

    private func insert(_ db: Database) throws {
        try StoreCounts.set(StoreCounts.keptName, kept, db)
        try StoreCounts.set(StoreCounts.receivedName, received, db)
    }

    private static func set(_ name: String, _ value: Int, _ db: Database) throws {
        try db.execute(sql: "DELETE FROM sqlite_sequence WHERE name = ?", arguments: [name])
        try db.execute(sql: "INSERT INTO sqlite_sequence VALUES (?, ?)", arguments: [name, value])
    }

    // MARK: What is lost

    /// Notes what `db` must have held and holds no more, where `known` are the counts that it should have, as far as
    /// anybody knows them; `isUnknown` says that it may have been more.
    static func noteLost(_ known: StoreCounts, isUnknown: Bool, _ db: Database) throws {
        let totals = try LedgerTotals(db)
        let balance = totals.balance
        let counts = StoreCounts(
            received: max(known.received, known.kept, balance.received), kept: max(known.kept, totals.kept))
        try counts.insert(db)
        // Whose they were went with the counts.
        let nameless = TallyKey(source: ReadingSource.other, series: -1, hour: 0, outcome: LedgerOutcome.received)
        if counts.received > totals.counted { try nameless.add(counts.received - totals.counted, db) }
        try set(lostName, max(0, counts.kept - balance.accountedFor), db)
        if isUnknown { try set(unknownName, 1, db) }
    }

    /// Counts again what is lost, after rows were put aside.
    static func recountLost(_ db: Database) throws -> LostReadings {
        try set(lostName, try LedgerTotals(db).balance.lost, db)
        return try LostReadings(db)
    }

    /// What was noted as lost.
    static func lost(_ db: Database) throws -> (count: Int, isAtLeast: Bool) {
        (try number(lostName, db) ?? 0, try number(unknownName, db) != nil)
    }
}

/// Readings that were acknowledged and are no longer in the store.
struct LostReadings: Hashable, Sendable {
    /// How many are known to be lost.
    var count: Int
    /// Whether it may be more.
    var isAtLeast: Bool

    /// What was noted when the store was repaired, or rows were put aside.
    init(_ db: Database) throws { (count, isAtLeast) = try StoreCounts.lost(db) }

    /// None of them.
    var isNone: Bool { count == 0 && !isAtLeast }

    /// How many, in words.
    var text: String { LostReadings.text(count, isAtLeast: isAtLeast) }

    static func text(_ count: Int, isAtLeast: Bool) -> String {
        guard isAtLeast else { return CountText.of(count, "reading") }
        return "an unknown number of readings" + (count > 0 ? ", at least \(count)," : "")
    }

    /// What to tell the operator of the store in `directory`.
    func note(_ directory: String) -> String {
        "\(text) that were acknowledged \(isAtLeast ? "may be" : "are") lost from the store in \(directory), which was "
            + "damaged: see 'kymo ledger', and send them again from where they came"
    }
}
