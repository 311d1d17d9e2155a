import GRDB
import KymographCore

/// Windows that the archive has dropped while the journal still had readings of them: those were in the archive, and a
/// restart must not take them for new ones, which would count them, and reject them, once more.
enum DroppedWindows {
    /// Notes a dropped window: series, start, and at the end of the row how far the journal was in it.
    static func note(_ row: Row, _ db: Database) throws {
        let (block, index) = (row[row.count - 2] as Int64, row[row.count - 1] as Int64)
        try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO dropped (series, start, through_block, through_index)
                SELECT ?1, ?2, ?3, ?4 WHERE EXISTS (SELECT 1 FROM journal WHERE number <= ?3)
                """
        ).execute(arguments: [row[0] as Int, row[1] as Int64, block, index])
    }

    /// How far the journal is in the archived content of a window, dropped or not; nil when it never was archived.
    static func through(series: Int, start: Instant, _ db: Database) throws -> JournalPlace? {
        let statement = try db.cachedStatement(
            sql: """
                SELECT through_block, through_index FROM window WHERE start = ?1 AND series = ?2
                UNION ALL SELECT through_block, through_index FROM dropped WHERE start = ?1 AND series = ?2
                ORDER BY 1 DESC, 2 DESC LIMIT 1
                """)
        return try Row.fetchOne(statement, arguments: [start.nanoseconds, series]).map {
            JournalPlace(block: $0[0], index: $0[1])
        }
    }

    /// Forgets those whose readings the journal, which begins with block `oldest`, has no longer.
    static func trim(before oldest: Int64, _ db: Database) throws {
        try db.cachedStatement(sql: "DELETE FROM dropped WHERE through_block < ?").execute(arguments: [oldest])
    }
}
