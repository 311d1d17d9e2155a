import FoundationEssentials
import GRDB
import KymographCore

/// Makes entry blocks of what versions 1 to 3 kept as text: rows of the outbox, and dead letters of entries.
///
/// Numbers, sinks and what tables say of resources by their names stay as they are.
enum EntryMigration {
    /// Migrates what `db` has, within a transaction.
    static func run(_ db: Database, now: Instant) throws {
        var compressor = BodyCompressor()
        CrashPoint.beforeMigration.pass()
        for number in try Int64.fetchAll(db, sql: "SELECT number FROM outbox ORDER BY number") {
            CrashPoint.duringMigration.pass()
            try migrateRow(number, &compressor, now, db)
        }
        for number in try Int64.fetchAll(db, sql: "SELECT number FROM dead WHERE kind = 'entry' ORDER BY number") {
            CrashPoint.duringMigration.pass()
            try migrateLetter(number, &compressor, db)
        }
        CrashPoint.afterMigration.pass()
    }

    private static func migrateRow(
        _ number: Int64, _ compressor: inout BodyCompressor, _ now: Instant, _ db: Database
    ) throws {
        // What is damaged is put aside by who stumbles over it.
        guard let text = try text(of: number, "outbox", db) else { return }
        guard let block = FormerBundle.sameBlock(of: text) else {
            return try Store.quarantine([.outbox: [number]], now, db)
        }
        try store(compressor.body(block), number, "outbox", db)
        try db.execute(sql: "UPDATE outbox SET size = ? WHERE number = ?", arguments: [block.count, number])
    }

    /// A letter that is no bundle of entries was refused for that, and stays as it is.
    private static func migrateLetter(_ number: Int64, _ compressor: inout BodyCompressor, _ db: Database) throws {
        guard let text = try text(of: number, "dead", db), let block = FormerBundle.sameBlock(of: text) else { return }
        try store(compressor.body(block), number, "dead", db)
    }

    private static func text(of number: Int64, _ table: String, _ db: Database) throws -> [UInt8]? {
        let sql = "SELECT codec, key_id, checksum, body FROM \(table) WHERE number = ?"
        guard let row = try Row.fetchOne(db, sql: sql, arguments: [number]) else { return nil }
        return StoredBody.content(codec: row[0], key: row[1], checksum: row[2], bytes: row[3])
    }

    private static func store(_ body: StoredBody, _ number: Int64, _ table: String, _ db: Database) throws {
        try db.execute(
            sql: "UPDATE \(table) SET codec = ?, key_id = ?, checksum = ?, body = ? WHERE number = ?",
            arguments: [body.codec.rawValue, body.key, Int64(body.checksum), body.bytes, number])
    }
}
