import GRDB

/// The step to version 5: tables that builds of version 4 made when they first needed them, so that any of them may be
/// there already.
extension StoreSchema {
    /// All of it, in steps that may each be there already. The version is noted together with them: an earlier program
    /// would not see what has decided on readings, and would let in again what was retracted.
    static func migrateTo5(_ db: Database) throws {
        let steps = [
            keepRemovedNames, keepSuccesses, keepReceiptLines, keepPauses, keepDeciders, keepRetractions,
        ]
        for step in steps {
            CrashPoint.duringTables.pass()
            try step(db)
        }
        try db.execute(sql: "PRAGMA user_version = 5")
        CrashPoint.afterTables.pass()
    }

    /// Tables that came after the step to version 5, in the order in which they came: the last one of each, and what
    /// makes it.
    ///
    /// They are no steps to further versions, since a program that does not know them can use the store, and has no use
    /// for what is in them: another number would have it refuse the store for nothing. A store that it has used
    /// meanwhile lacks what happened then. A table without which readings would be let in again, or counted twice,
    /// needs a version of its own.
    static let addedTables: [(table: String, make: @Sendable (Database) throws -> Void)] = [
        ("receipt_taken", keepReceiptTakers), (StoredPayloads.index, keepPayloads),
        (SequenceWindow.table, keepSequences), (TopicPosition.table, keepPositions),
        (SettledLetters.counts, keepSettled),
    ]

    /// What `kymo sources` lists no more (``RemovedNames``).
    private static func keepRemovedNames(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS removed (
                    kind TEXT NOT NULL, name BLOB NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (kind, name)) WITHOUT ROWID
                """)
    }

    /// When each sink has last taken readings of each type (``TypeSuccesses``).
    private static func keepSuccesses(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS success (
                    sink TEXT NOT NULL, type TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (sink, type)) WITHOUT ROWID
                """)
    }

    /// Lines of receipts that wait for their files.
    private static func keepReceiptLines(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS receipt_line (
                    number INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, line BLOB NOT NULL)
                """)
    }

    /// How far each of those who take receipts has come, where they are several. Stores of version 5 that were made
    /// before it do not have it, and programs that do not know it bring files again what waits for others: it is made
    /// besides the steps, and a damaged store may be without.
    static func keepReceiptTakers(_ db: Database) throws {
        try db.execute(
            sql: "CREATE TABLE receipt_taken (taker TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID")
    }

    /// Payloads as they came (``StoredPayloads``), made besides the steps as those before.
    static func keepPayloads(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS raw (
                    number INTEGER PRIMARY KEY, at INTEGER NOT NULL, payloads INTEGER NOT NULL, codec INTEGER NOT NULL,
                    key_id INTEGER NOT NULL, checksum INTEGER NOT NULL, body BLOB NOT NULL);
                CREATE TABLE IF NOT EXISTS raw_device (
                    device BLOB NOT NULL, hour INTEGER NOT NULL, raw INTEGER NOT NULL,
                    PRIMARY KEY (device, hour, raw)) WITHOUT ROWID;
                """)
    }

    /// What keys of sealed datagrams have had (``SequenceWindow``). As ``keepReceiptTakers(_:)``, it is made besides
    /// the steps: programs that do not know it have no sources that take sealed datagrams.
    static func keepSequences(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE \(SequenceWindow.table) (
                    key BLOB PRIMARY KEY, highest INTEGER NOT NULL, seen BLOB NOT NULL) WITHOUT ROWID
                """)
    }

    /// Up to where partitions of topics were read (``TopicPosition``), by what brokers call their cluster, by group and
    /// topic. It is made besides the steps, too: programs that do not know it go by the positions of groups, and tell
    /// these as they always did. `print` is of the record right before `next`.
    static func keepPositions(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE \(TopicPosition.table) (
                    cluster TEXT NOT NULL, "group" TEXT NOT NULL, topic TEXT NOT NULL, partition INTEGER NOT NULL,
                    next INTEGER NOT NULL, told INTEGER NOT NULL, telling INTEGER NOT NULL, print BLOB,
                    PRIMARY KEY (cluster, "group", topic, partition)) WITHOUT ROWID
                """)
    }

    /// Rejections whose letters came again (``SettledLetters``). It is made besides the steps, too: programs that do
    /// not know it take spans for incomplete where letters were replayed, and settle none.
    static func keepSettled(_ db: Database) throws {
        let row = "source INTEGER NOT NULL, series INTEGER NOT NULL, hour INTEGER NOT NULL, outcome TEXT NOT NULL"
        try db.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS \(SettledLetters.letters) (letter INTEGER PRIMARY KEY, \(row));
                CREATE TABLE IF NOT EXISTS \(SettledLetters.counts) (
                    \(row), count INTEGER NOT NULL, PRIMARY KEY (source, series, hour, outcome)) WITHOUT ROWID
                """)
    }

    /// What is paused (``Pause``), and which dead letters that has put aside.
    private static func keepPauses(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS pause (
                    kind TEXT NOT NULL, name TEXT NOT NULL, since INTEGER NOT NULL, PRIMARY KEY (kind, name))
                    WITHOUT ROWID;
                CREATE INDEX IF NOT EXISTS dead_paused ON dead (reason, at) WHERE \(Pause.isPutAside);
                """)
    }

    /// What has decided on readings (``StoreDecider``): of version 4, an empty table of its name said so.
    private static func keepDeciders(_ db: Database) throws {
        try db.execute(sql: "CREATE TABLE IF NOT EXISTS decider (name TEXT PRIMARY KEY) WITHOUT ROWID")
        for decider in try StoreDecider.usedInVersion4(db) {
            try decider.note(db)
            try db.execute(sql: "DROP TABLE \(decider.rawValue)")
        }
    }

    /// What senders have taken back (``StoredRetraction``). `patient` is empty where the sender named none, and else 1
    /// and the identifier; `series` and `start` are of the window that the reading was in. Of one that was only kept
    /// out, the number of the series that it would belong to stands there with all its bits inverted, which makes it
    /// negative; of one that never came, nothing.
    private static func keepRetractions(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS retraction (
                    device BLOB NOT NULL, type TEXT NOT NULL, name BLOB NOT NULL, patient BLOB NOT NULL,
                    at INTEGER NOT NULL, series INTEGER, start INTEGER,
                    PRIMARY KEY (device, type, name, patient)) WITHOUT ROWID;
                CREATE INDEX IF NOT EXISTS retraction_at ON retraction (at);
                """)
    }
}
