import GRDB

/// The step to version 6.
extension StoreSchema {
    /// When the document was received that has renewed a reading which was taken back: what came before that stays out.
    /// Until then the row was deleted.
    ///
    /// The version is noted together with it: an earlier program would take what is renewed for what is out, and keep
    /// out all that comes by its name.
    static func migrateTo6(_ db: Database) throws {
        try db.execute(sql: "ALTER TABLE retraction ADD COLUMN renewed INTEGER; PRAGMA user_version = 6")
    }
}
