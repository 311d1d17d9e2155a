import FoundationEssentials
import GRDB
import KymographCore

/// Makes entry blocks of what versions 1 to 3 kept as text: rows of the outbox, and dead letters of entries.
///
/// Numbers, sinks and what tables say of resources by their names stay as they are.
struct EntryMigration: ~Copyable {
    private let db: Database
    private let now: Instant
    private var compressor = BodyCompressor()
    private var outcome = MigrationOutcome()

    private init(_ db: Database, now: Instant) { (self.db, self.now) = (db, now) }

    /// Migrates what `db` has, within a transaction; gives what could not be.
    static func run(_ db: Database, now: Instant) throws -> MigrationOutcome {
        var migration = EntryMigration(db, now: now)
        try migration.run()
        return migration.outcome
    }

    private mutating func run() throws {
        CrashPoint.beforeMigration.pass()
        for number in try Int64.fetchAll(db, sql: "SELECT number FROM outbox ORDER BY number") {
            CrashPoint.duringMigration.pass()
            try migrateRow(number)
        }
        for number in try Int64.fetchAll(db, sql: "SELECT number FROM dead WHERE kind = 'entry' ORDER BY number") {
            CrashPoint.duringMigration.pass()
            try migrateLetter(number)
        }
        CrashPoint.afterMigration.pass()
    }

    private mutating func migrateRow(_ number: Int64) throws {
        // What is damaged is put aside by who stumbles over it.
        guard let text = try text(of: number, "outbox") else { return }
        guard let block = FormerBundle.sameBlock(of: text) else { return try quarantine(number) }
        try store(compressor.body(block), number, "outbox")
        try db.execute(sql: "UPDATE outbox SET size = ? WHERE number = ?", arguments: [block.count, number])
    }

    private mutating func quarantine(_ number: Int64) throws {
        let created = try Int64.fetchOne(db, sql: "SELECT created FROM outbox WHERE number = ?", arguments: [number])
        outcome.noteUnread(created: Instant(nanoseconds: created ?? now.nanoseconds))
        try Store.quarantine([.outbox: [number]], now, db)
    }

    /// A letter that is no bundle of entries stays as it is, and is not sent again (``EntryLetter``).
    private mutating func migrateLetter(_ number: Int64) throws {
        guard let text = try text(of: number, "dead") else { return }
        guard let block = FormerBundle.sameBlock(of: text) else { return outcome.textLetters += 1 }
        try store(compressor.body(block), number, "dead")
    }

    private func text(of number: Int64, _ table: String) throws -> [UInt8]? {
        let sql = "SELECT codec, key_id, checksum, body FROM \(table) WHERE number = ?"
        guard let row = try Row.fetchOne(db, sql: sql, arguments: [number]) else { return nil }
        return StoredBody.content(codec: row[0], key: row[1], checksum: row[2], bytes: row[3])
    }

    private func store(_ body: StoredBody, _ number: Int64, _ table: String) throws {
        try db.execute(
            sql: "UPDATE \(table) SET codec = ?, key_id = ?, checksum = ?, body = ? WHERE number = ?",
            arguments: [body.codec.rawValue, body.key, Int64(body.checksum), body.bytes, number])
    }
}
