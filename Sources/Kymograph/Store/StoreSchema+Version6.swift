import GRDB

/// The step to version 6.
extension StoreSchema {
    /// What is known of retractions since then, and what letters keep of their sources. The version is noted together
    /// with it: an earlier program would take what is renewed for what is out, and keep out all that comes by its name.
    static func migrateTo6(_ db: Database) throws {
        try keepRenewals(db)
        try keepContexts(db)
        try db.execute(sql: "PRAGMA user_version = 6")
    }

    /// When the document was received that has renewed a reading which was taken back: what came before that stays out.
    /// Until then the row was deleted. And when the last document came that takes it back (`came`): what else that has
    /// may come later. Of retractions of before, that is not known.
    ///
    /// A reading may have been in several series. The row has the last one, and `retraction_series` those before: a
    /// repair can read the rows of both versions.
    private static func keepRenewals(_ db: Database) throws {
        try db.execute(
            sql: """
                ALTER TABLE retraction ADD COLUMN renewed INTEGER;
                ALTER TABLE retraction ADD COLUMN came INTEGER;
                CREATE TABLE retraction_series (
                    device BLOB NOT NULL, type TEXT NOT NULL, name BLOB NOT NULL, patient BLOB NOT NULL,
                    series INTEGER NOT NULL, start INTEGER NOT NULL,
                    PRIMARY KEY (device, type, name, patient, series)) WITHOUT ROWID;
                """)
    }

    /// What sources said of payloads that became dead letters, and the stamps of their readings (``LetterContext``). Of
    /// letters of earlier versions nothing is known.
    private static func keepContexts(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE \(LetterContext.table) (
                    letter INTEGER PRIMARY KEY, device BLOB NOT NULL, patient BLOB NOT NULL, timezone TEXT,
                    lead INTEGER NOT NULL DEFAULT 0)
                """)
    }
}
