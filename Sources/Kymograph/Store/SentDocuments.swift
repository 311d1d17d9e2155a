import GRDB

/// Whether runs of a store may have sent samples in documents (`output.attachOver`). Without the setting, later
/// versions of their windows have to take them back.
///
/// It is a name in the table of what has decided on readings (``StoreDecider``), where programs that do not know it
/// pass it over.
enum SentDocuments {
    private static let name = "sent_documents"

    static func note(_ db: Database) throws {
        try db.execute(sql: "INSERT OR IGNORE INTO decider VALUES (?)", arguments: [name])
    }

    static func exist(_ db: Database) throws -> Bool {
        try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM decider WHERE name = ?)", arguments: [name]) ?? false
    }
}

extension Store {
    /// Notes that this run may send documents, before it does.
    func noteDocuments() throws(StoreError) {
        do { try pool.write { try SentDocuments.note($0) } } catch {
            throw failure(error, "write to")
        }
    }

    /// Whether any run may have sent documents; nil when that cannot be read.
    var hasSentDocuments: Bool? { read { try SentDocuments.exist($0) } }
}
