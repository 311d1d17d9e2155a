import GRDB
import Synchronization

/// The tables of a store, and how those of earlier versions become those of this one.
///
/// Every stored body has a codec, the id of the key that encrypts it (0: none) and a checksum (``StoredBody``), so that
/// encryption needs no new tables.
enum StoreSchema {
    /// Written to `PRAGMA user_version`: greater than that of all earlier versions.
    static let version = 6
    /// The first version whose outbox and dead letters have entries, and not bundles as text.
    static let firstWithEntries = 4

    /// Brings the tables to this version; gives what of an earlier one could not be read.
    @discardableResult static func prepare(_ writer: some DatabaseWriter) throws -> MigrationOutcome {
        let outcome = Mutex(MigrationOutcome())
        let migrator = migrator { unread in outcome.withLock { $0 = unread } }
        let isFormer = try writer.read { try Int.fetchOne($0, sql: "PRAGMA user_version") } ?? 0 < version
        try migrator.migrate(writer)
        if isFormer { CrashPoint.migrated.pass() }
        try writer.write { db in
            // To write what is there already would wait for the disk at each start.
            guard try Int.fetchOne(db, sql: "PRAGMA user_version") != version else { return }
            try db.execute(sql: "PRAGMA user_version = \(version)")
        }
        try addTables(writer)
        return outcome.withLock { $0 }
    }

    /// Makes the tables that a store of this version may be without, each in a transaction of its own.
    private static func addTables(_ writer: some DatabaseWriter) throws {
        for (table, make) in addedTables where try writer.read({ try !$0.tableExists(table) }) {
            CrashPoint.duringTables.pass()
            try writer.write { try make($0) }
        }
    }

    /// The steps, each named after the version that it leads to. `note` takes what of entries could not be read.
    private static func migrator(_ note: @escaping @Sendable (MigrationOutcome) -> Void) -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { try create($0) }
        migrator.registerMigration("2") { try migrateTo2($0) }
        migrator.registerMigration("3") { try migrateTo3($0) }
        migrator.registerMigration("4") { note(try migrateTo4($0)) }
        migrator.registerMigration("5") { try migrateTo5($0) }
        migrator.registerMigration("6") { try migrateTo6($0) }
        return migrator
    }

    /// The names of the tables that each store of `version` has.
    static func tables(of version: Int) throws -> Set<String> {
        let queue = try DatabaseQueue()
        try migrator { _ in }.migrate(queue, upTo: "\(version)")
        return try queue.read { try String.fetchSet($0, sql: "SELECT name FROM sqlite_master WHERE type = 'table'") }
    }

    /// The error for the tables of a version that this one does not know.
    static func tooNew(_ found: Int, _ directory: String) -> StoreError {
        StoreError(
            .tooNew,
            "the store in \(directory) was written by a newer kymo (tables \(found), this one knows \(version)): "
                + "use that version, or another --data directory")
    }

    /// The error of who only reads, for tables that no start of this version has brought up to date.
    static func tooOld(_ found: Int, _ directory: String) -> StoreError {
        StoreError(
            .tooOld,
            "the store in \(directory) was written by an earlier kymo (tables \(found), this one reads \(version)): "
                + "start 'kymo run' once on it, which brings it up to date")
    }

    /// What a type means is asked only while there are readings of it. Of windows that were dropped, it stays known how
    /// far the journal is in them.
    ///
    /// A row of the outbox that holds what a dead letter kept (`replay`) is as old as the row which that came with
    /// (`origin`). Of a resource with a dead letter it stays known what the sink was given last (`newer`), whatever
    /// becomes of its receipt. `lacking` has what a server was sent and has not taken, since it kept what it had.
    private static func migrateTo2(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE INDEX series_type ON series (type);
                CREATE TABLE dropped (
                    start INTEGER NOT NULL, series INTEGER NOT NULL, through_block INTEGER NOT NULL,
                    through_index INTEGER NOT NULL, PRIMARY KEY (start, series)) WITHOUT ROWID;
                CREATE TABLE replay (outbox INTEGER PRIMARY KEY, origin INTEGER NOT NULL);
                CREATE TABLE newer (
                    sink TEXT NOT NULL, resource TEXT NOT NULL, origin INTEGER NOT NULL,
                    PRIMARY KEY (sink, resource)) WITHOUT ROWID;
                CREATE INDEX dead_resource ON dead (resource) WHERE resource IS NOT NULL;
                CREATE TABLE lacking (
                    sink TEXT NOT NULL, resource TEXT NOT NULL, origin INTEGER NOT NULL, at INTEGER NOT NULL,
                    PRIMARY KEY (sink, resource)) WITHOUT ROWID;
                INSERT INTO newer
                    SELECT receipt.sink, receipt.resource, max(receipt.outbox) FROM receipt
                    JOIN dead ON dead.resource = receipt.resource AND dead.source = receipt.sink
                    WHERE dead.kind = 'entry' GROUP BY 1, 2;
                """)
        try noteReplacements(db)
        try keepIds(db)
    }

    /// By which wall clock a source read times without an offset when it was last opened: its dead letters are read by
    /// the same one.
    private static func migrateTo3(_ db: Database) throws {
        try db.execute(sql: "ALTER TABLE source ADD COLUMN timezone TEXT")
    }

    /// Entries in the place of bundles. The version is noted together with them: an earlier program must not read them.
    private static func migrateTo4(_ db: Database) throws -> MigrationOutcome {
        let outcome = try EntryMigration.run(db, now: WallClock.now())
        try db.execute(sql: "PRAGMA user_version = 4")
        return outcome
    }

    /// At which time the readings of archived windows are that their senders name; gone with their windows.
    private static func keepIds(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE reading_id (
                    series INTEGER NOT NULL, id BLOB NOT NULL, instant INTEGER NOT NULL,
                    PRIMARY KEY (series, id)) WITHOUT ROWID;
                CREATE INDEX reading_id_time ON reading_id (series, instant);
                """)
    }

    /// A reading of the journal that has taken the place of another, which was rejected for it, is taken from there
    /// again, and counts as none.
    private static func noteReplacements(_ db: Database) throws {
        try db.execute(sql: "ALTER TABLE withdrawn ADD COLUMN supersedes INTEGER NOT NULL DEFAULT 0")
    }

    /// What is stored, as ``StoredBody`` has it.
    private static let body =
        "codec INTEGER NOT NULL, key_id INTEGER NOT NULL, checksum INTEGER NOT NULL, body BLOB NOT NULL"

    /// The tables of version 1. A repair copies them in this order.
    private static func create(_ db: Database) throws {
        try createSeries(db)
        try createReadings(db)
        try createOutbox(db)
        try createAccounts(db)
    }

    /// What readings are of, and where they came from.
    private static func createSeries(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE type (number INTEGER PRIMARY KEY, name TEXT NOT NULL, form TEXT NOT NULL);
                CREATE TABLE source (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
                CREATE TABLE series (
                    number INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, type INTEGER NOT NULL, device TEXT NOT NULL,
                    patient TEXT, encounter TEXT, dropped_through INTEGER);
                CREATE INDEX series_device ON series (device);
                CREATE INDEX series_patient ON series (patient) WHERE patient IS NOT NULL;
                """)
    }

    /// Readings of open windows, and closed windows.
    private static func createReadings(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE journal (
                    number INTEGER PRIMARY KEY AUTOINCREMENT, shard INTEGER NOT NULL, readings INTEGER NOT NULL,
                    \(body));
                CREATE TABLE withdrawn (
                    block INTEGER NOT NULL, place INTEGER NOT NULL, PRIMARY KEY (block, place)) WITHOUT ROWID;
                CREATE TABLE window (
                    number INTEGER PRIMARY KEY, start INTEGER NOT NULL, series INTEGER NOT NULL, "end" INTEGER NOT NULL,
                    first INTEGER NOT NULL, last INTEGER NOT NULL, readings INTEGER NOT NULL, sources TEXT NOT NULL,
                    merged INTEGER NOT NULL, outbox INTEGER NOT NULL, sinks TEXT, duplicates INTEGER NOT NULL,
                    conflicts INTEGER NOT NULL, revision INTEGER NOT NULL,
                    modified INTEGER NOT NULL, through_block INTEGER NOT NULL, through_index INTEGER NOT NULL, \(body));
                CREATE UNIQUE INDEX window_name ON window (start, series);
                """)
    }

    /// What waits for sinks, and what they have taken.
    private static func createOutbox(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE outbox (
                    number INTEGER PRIMARY KEY AUTOINCREMENT, created INTEGER NOT NULL, size INTEGER NOT NULL, \(body),
                    sinks TEXT);
                CREATE TABLE former_sink (name TEXT PRIMARY KEY);
                CREATE TABLE sink (name TEXT PRIMARY KEY, through INTEGER NOT NULL) WITHOUT ROWID;
                CREATE TABLE receipt (
                    number INTEGER PRIMARY KEY, sink TEXT NOT NULL, outbox INTEGER NOT NULL, resource TEXT NOT NULL,
                    status INTEGER NOT NULL, location TEXT NOT NULL, version TEXT NOT NULL, attempts INTEGER NOT NULL,
                    at INTEGER NOT NULL);
                CREATE INDEX receipt_resource ON receipt (resource);
                CREATE INDEX receipt_outbox ON receipt (outbox);
                """)
    }

    /// Runs, dead letters, counts, and what is damaged.
    private static func createAccounts(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE run (number INTEGER PRIMARY KEY, began INTEGER NOT NULL, ended INTEGER);
                CREATE TABLE dead (
                    number INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, kind TEXT NOT NULL,
                    reason TEXT NOT NULL, source TEXT NOT NULL, detail TEXT NOT NULL, replayed INTEGER,
                    resource TEXT, outbox INTEGER, \(body));
                CREATE TABLE tally (
                    source INTEGER NOT NULL, series INTEGER NOT NULL, hour INTEGER NOT NULL, outcome TEXT NOT NULL,
                    count INTEGER NOT NULL, PRIMARY KEY (source, series, hour, outcome)) WITHOUT ROWID;
                CREATE TABLE quarantine (
                    number INTEGER PRIMARY KEY, at INTEGER NOT NULL, place TEXT NOT NULL, body BLOB NOT NULL);
                """)
    }
}
