import GRDB
import KymographCore

/// What an earlier run has left, as far as numbers go on from it.
struct StoreFacts {
    var lastBlock: Int64
    var lastSeries: Int
    /// The newest row of the outbox that is there, or 0.
    var lastBundle: Int64
    var latestWindow: Int64?
    /// The latest start of dropped windows, by series.
    var dropped: [Int: Int64]
    /// The latest start of windows that were lost, of whatever series.
    var floor: Int64?
    /// Whether there are retractions.
    var hasRetractions: Bool
    /// Readings that it has taken.
    var counts: StoreCounts
    /// None of them was received after this time.
    var latestReceipt: Instant
    /// Those of them that it has no more.
    var lost: LostReadings
    /// What keys of sealed datagrams have had.
    var sequences: [KeyPrint: SequenceWindow]
    /// Up to where it has partitions of topics.
    var positions: [TopicPartition: TopicPosition]

    /// Reads them.
    ///
    /// - Throws: ``StoreError`` when types are missing: what is stored cannot be understood.
    init(_ db: Database) throws {
        guard try StoredTypes.areWhole(db) else {
            throw StoreError(.damaged, "the measurement types of stored readings are damaged")
        }
        lastBlock = try StoreFacts.number("journal", db) ?? 0
        lastBundle = try Int64.fetchOne(db, sql: "SELECT max(number) FROM outbox") ?? 0
        lastSeries = try StoreFacts.lastSeries(db)
        latestWindow = try Int64.fetchOne(db, sql: "SELECT max(start) FROM window")
        floor = try StoreFacts.number("floor", db)
        hasRetractions = try StoredRetraction.exist(db)
        counts = try StoreCounts.read(db) ?? StoreCounts()
        latestReceipt = try StoreCounts.latest(db)
        lost = try LostReadings(db)
        sequences = try .stored(db)
        positions = try .stored(db)
        dropped = [:]
        for row in try Row.fetchAll(
            db, sql: "SELECT number, dropped_through FROM series WHERE dropped_through IS NOT NULL")
        { dropped[row[0]] = row[1] }
    }

    /// The last number that a series has, or that anything refers to: readings of another series must never get it.
    private static func lastSeries(_ db: Database) throws -> Int {
        // The key of counts begins with the source: their table is not read whole. That of windows would be, so what
        // they refer to is noted.
        var queries = ["SELECT max(number) FROM series"]
        queries += (-1...ReadingSource.other).map { "SELECT max(series) FROM tally WHERE source = \($0)" }
        let noted: Int? = try number("series", db)
        if noted == nil { queries.append("SELECT max(series) FROM window") }
        return max(try queries.compactMap { try Int.fetchOne(db, sql: $0) }.max() ?? -1, noted ?? -1)
    }

    /// Notes that something refers to the series `number`, and to none after it.
    static func note(lastSeries number: Int, _ db: Database) throws {
        try db.execute(
            sql: "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'series'", arguments: [number])
        guard db.changesCount == 0 else { return }
        try db.execute(sql: "INSERT INTO sqlite_sequence VALUES ('series', ?)", arguments: [number])
    }

    /// A number by chance that tells the store from others. A repair does not keep it: rows may be numbered anew then.
    static func lineage(_ db: Database) throws -> Int64 {
        if let known: Int64 = try number("lineage", db) { return known }
        return try makeLineage(db)
    }

    private static func makeLineage(_ db: Database) throws -> Int64 {
        let made = Int64.random(in: 1 ... .max)
        try db.execute(sql: "INSERT INTO sqlite_sequence VALUES ('lineage', ?)", arguments: [made])
        return made
    }

    /// Has the store be another one: rows were numbered anew, as after it was restored from a copy.
    static func renewLineage(_ db: Database) throws -> Int64 {
        try db.execute(sql: "DELETE FROM sqlite_sequence WHERE name = 'lineage'")
        return try makeLineage(db)
    }

    /// The last dead letter of before the types were lost: the number that its record has is of none that there is now.
    static func untypedLetters(_ db: Database) throws -> Int64 { try number("untyped", db) ?? 0 }

    /// The greatest sequence that `sink` has sent to a database. What has not been noted yet is noted: what there is
    /// may have been sent before, and what comes has not.
    static func sentThrough(by sink: String, _ db: Database) throws -> Int64 {
        if let known: Int64 = try number(sent(by: sink), db) { return known }
        let newest: Int64 = try number("outbox", db) ?? 0
        let sequence = OutboxRow.lastSequence(through: newest)
        try note(sentThrough: sequence, by: sink, db)
        return sequence
    }

    /// Notes that `sink` sends what has a sequence up to `sequence`.
    static func note(sentThrough sequence: Int64, by sink: String, _ db: Database) throws {
        try db.execute(
            sql: "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", arguments: [sequence, sent(by: sink)])
        guard db.changesCount == 0 else { return }
        try db.execute(sql: "INSERT INTO sqlite_sequence VALUES (?, ?)", arguments: [sent(by: sink), sequence])
    }

    /// What no table is called.
    private static func sent(by sink: String) -> String { "sent \(sink)" }

    /// Where SQLite keeps the last numbers of tables; a repair keeps others there, which no table may go below.
    private static func number<Value: DatabaseValueConvertible>(_ name: String, _ db: Database) throws -> Value? {
        try Value.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = ?", arguments: [name])
    }

    /// Rows that may have been lost beyond the last that is known.
    private static let gap: Int64 = 1 << 20

    /// Sees to it that numbers in `target` go on after those of `old`, what may have been lost included: a place in the
    /// journal, and the progress of a sink, must never seem to be later than what comes.
    ///
    /// The letters up to `untyped` are of types that were lost.
    static func keepNumbers(from old: Database?, floor: Int64?, untyped: Int64?, _ target: Database) throws {
        let others = [
            "journal": "SELECT max(through_block) FROM window", "outbox": "SELECT max(through) FROM sink",
            "series": "SELECT max(series) FROM window", "dead": "SELECT 0",
        ]
        func known(_ db: Database?, _ sql: String) -> Int64? {
            guard let db, let value = try? Int64.fetchOne(db, sql: sql) else { return nil }
            return value
        }
        var numbers = others.mapValues { _ in 0 as Int64 }
        for (name, other) in others {
            let used = "SELECT seq FROM sqlite_sequence WHERE name = '\(name)'"
            let found = [known(old, used), known(old, other), known(target, other), known(target, used)]
            let last = known(target, "SELECT max(number) FROM \(name)") ?? 0
            numbers[name] = max(last, found.compactMap { $0 }.max() ?? 0) + gap
        }
        // Only what takers have counts, and without a gap: lines are reckoned by their numbers.
        let lines = [
            known(old, "SELECT seq FROM sqlite_sequence WHERE name = 'receipt_line'"),
            known(target, "SELECT max(number) FROM receipt_line"),
            known(target, "SELECT max(number) FROM receipt_taken"),
        ]
        numbers["receipt_line"] = lines.compactMap { $0 }.max() ?? 0
        let floors = [floor, known(old, "SELECT seq FROM sqlite_sequence WHERE name = 'floor'")].compactMap { $0 }
        numbers["floor"] = floors.max()
        let letters = [untyped, known(old, "SELECT seq FROM sqlite_sequence WHERE name = 'untyped'")].compactMap { $0 }
        numbers["untyped"] = letters.max()
        try target.execute(sql: "DELETE FROM sqlite_sequence")
        for (name, number) in numbers {
            try target.execute(sql: "INSERT INTO sqlite_sequence VALUES (?, ?)", arguments: [name, number])
        }
    }
}
