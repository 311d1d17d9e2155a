import FoundationEssentials
import GRDB
import KymographCore

/// Rejections that a span lacks no more: what their dead letters hold was mapped again, and all of it is counted
/// again, each reading as one that was taken or as one that was rejected once more. The balance of the store keeps both
/// rejection and replay, since both were received.
///
/// A letter is settled once, with one of the rejections of its row of the ledger, in the commit that makes durable what
/// came of it. In doubt it is not: then the span stays incomplete.
enum SettledLetters {
    /// Letters that were settled, while they are there, each with its row of the ledger.
    static let letters = "settled_letter"
    /// How many of a row's rejections were settled, whatever has become of the letters.
    static let counts = "settled_rejection"

    private static let row = "source, series, hour, outcome"

    /// Settles the letter `number`, unless it was settled before, or nothing shows what it was counted as.
    static func settle(_ number: Int64, _ db: Database) throws {
        guard let key = try rejection(of: number, db)?.first(where: { try open($0, db) > 0 }) else { return }
        try db.cachedStatement(sql: "INSERT OR IGNORE INTO \(letters) (letter, \(row)) VALUES (?, ?, ?, ?, ?)").execute(
            arguments: [number, key.source, key.series, key.hour, key.outcome])
        guard db.changesCount > 0 else { return }
        try add(1, to: key, db)
    }

    /// Takes back that the letter `number` was settled.
    static func open(_ number: Int64, _ db: Database) throws {
        let sql = "DELETE FROM \(letters) WHERE letter = ? RETURNING \(row)"
        guard let row = try Row.fetchAll(db, sql: sql, arguments: [number]).first else { return }
        try add(-1, to: TallyKey(source: row[0], series: row[1], hour: row[2], outcome: row[3]), db)
    }

    /// The letters that are there and were settled.
    static func all(_ db: Database) throws -> Set<Int64> {
        guard try db.tableExists(letters) else { return [] }
        return try Int64.fetchSet(db, sql: "SELECT letter FROM \(letters)")
    }

    /// Forgets which letters were settled that are gone: they can come no more, and their rejections stay settled.
    static func forgetGone(_ db: Database) throws {
        try db.cachedStatement(sql: "DELETE FROM \(letters) WHERE letter NOT IN (SELECT number FROM dead)").execute()
    }

    private static func add(_ count: Int, to key: TallyKey, _ db: Database) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO \(counts) (\(row), count) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (\(row)) DO UPDATE SET count = count + excluded.count
                """
        ).execute(arguments: [key.source, key.series, key.hour, key.outcome, count])
    }

    // MARK: Rows of the ledger

    /// Rejections of the row `key` that are not settled.
    private static func open(_ key: TallyKey, _ db: Database) throws -> Int {
        let sql = """
            SELECT sum(count) FROM \(try counted(db)) WHERE source = ? AND series = ? AND hour = ? AND outcome = ?
            """
        return try Int.fetchOne(db, sql: sql, arguments: [key.source, key.series, key.hour, key.outcome]) ?? 0
    }

    /// The rows of which one counts the rejection that the letter `number` is of, the likeliest first; nil of a letter
    /// that is gone or damaged, or no reading's.
    private static func rejection(of number: Int64, _ db: Database) throws -> [TallyKey]? {
        let row = try Row.fetchOne(
            db,
            sql: """
                SELECT kind, reason, source, at, codec, key_id, checksum, body FROM dead
                WHERE number = ? AND kind <> 'entry'
                """, arguments: [number])
        guard let row else { return nil }
        let bytes = StoredBody.content(codec: row[4], key: row[5], checksum: row[6], bytes: row[7])
        return try StoredRejection(kind: row[0], reason: row[1], source: row[2], at: Instant(nanoseconds: row[3]))
            .rows(bytes, db)
    }

    /// What the ledger goes by: a table, or a query in its place, with the columns of `tally`. Settled rejections are
    /// taken off; there are none in a store from before there was such a table.
    static func counted(_ db: Database) throws -> String {
        guard try db.tableExists(counts) else { return "tally" }
        return "(SELECT \(row), count FROM tally UNION ALL SELECT \(row), -count FROM \(counts))"
    }

    /// How many were settled, by reason.
    static func reasons(_ db: Database) throws -> [String: Int] {
        guard try db.tableExists(counts) else { return [:] }
        let rows = try Row.fetchAll(
            db, sql: "SELECT outcome, sum(count) FROM \(counts) GROUP BY outcome HAVING sum(count) > 0")
        return Dictionary(rows.map { ($0[0], $0[1]) }, uniquingKeysWith: +)
    }

    /// Rows of which more was settled than was rejected, or less than nothing.
    static func wrongRows(_ db: Database) throws -> Int {
        guard try db.tableExists(counts) else { return 0 }
        let sql = """
            SELECT count(*) FROM \(counts) AS settled LEFT JOIN tally USING (\(row))
            WHERE settled.count < 0 OR settled.count > coalesce(tally.count, 0)
            """
        return try Int.fetchOne(db, sql: sql) ?? 0
    }
}

/// What a dead letter says of the rejection that it is of.
struct StoredRejection {
    var kind: String
    var reason: String
    var source: String
    var at: Instant

    /// The rows of the ledger of which one counts it; nil when the letter does not say which. `bytes` are the letter's.
    func rows(_ bytes: [UInt8]?, _ db: Database) throws -> [TallyKey]? {
        guard kind == StoredDeadLetter.Kind.measurement.rawValue else {
            let number = try Int.fetchOne(db, sql: "SELECT number FROM source WHERE name = ?", arguments: [source])
            let hour = LedgerOutcome.hour(of: at)
            return [TallyKey(source: number ?? ReadingSource.other, series: -1, hour: hour, outcome: reason)]
        }
        guard let record = bytes.flatMap({ LetterRecord(letter: $0) }), let reading = record.reading else { return nil }
        let known = try Int.fetchOne(
            db, sql: "SELECT number FROM series WHERE key = ?", arguments: [Data(record.series)])
        let (source, hour) = (ReadingSource.number(reading.mark), LedgerOutcome.hour(of: reading, rejectedFor: reason))
        // One that found no room for its series was counted without it, though the series may be there by now.
        return [known, -1].compactMap { series in
            series.map { TallyKey(source: source, series: $0, hour: hour, outcome: reason) }
        }
    }
}
