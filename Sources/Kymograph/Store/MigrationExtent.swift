import GRDB

/// How much ``EntryMigration`` rewrites, which is one transaction.
struct MigrationExtent {
    /// Rows of the outbox and dead letters of entries.
    let rows: Int
    /// Bytes that the log may need for them on the disk.
    let bytes: Int

    /// What there is in `db`; nil when its tables are of no earlier version, or there is nothing to rewrite.
    init?(_ db: Database) throws {
        let version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
        guard version > 0, version < StoreSchema.firstWithEntries else { return nil }
        let row = try Row.fetchOne(
            db,
            sql: """
                SELECT count(*), coalesce(sum(length), 0) FROM (
                    SELECT length(body) AS length FROM outbox
                    UNION ALL SELECT length(body) FROM dead WHERE kind = 'entry')
                """)
        guard let row, row[0] as Int > 0 else { return nil }
        (rows, bytes) = (row[0], MigrationExtent.logBytes(bodies: row[1]))
    }

    /// Bytes of a log with `bodies` bytes of bodies: it has whole pages, which bodies of a little more than half a page
    /// fill by half only, and pages of the tables themselves.
    private static func logBytes(bodies: Int) -> Int { 2 * bodies + 16 * StorePages.size }

    /// Looks whether the disk has room.
    ///
    /// - Throws: ``StoreError`` of kind ``StoreError/Kind/full``.
    func check(_ directory: StoreDirectory, free: Int?) throws(StoreError) {
        guard let free, free < bytes else { return }
        throw StoreError(
            .full,
            "the store in \(directory.path) is of an earlier version, and to bring it up to date takes \(bytes) bytes "
                + "on its disk, of which \(free) are free: make room for \(bytes - free) more, or go on with the "
                + "earlier version until its sinks have taken what waits; nothing was changed")
    }

    /// What the operator is told at the beginning.
    func note(_ directory: StoreDirectory) -> String {
        "bringing the store in \(directory.path) up to date: \(rows) \(rows == 1 ? "row" : "rows") of its outbox and "
            + "dead letters; nothing is received until that is done"
    }
}
