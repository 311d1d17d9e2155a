import FoundationEssentials
import GRDB

extension SequenceWindow {
    /// Where a store keeps them.
    static let table = "sealed"
}

/// What keys of sealed datagrams have had, as a store keeps it: a datagram that comes again after a restart is not new.
extension [KeyPrint: SequenceWindow] {
    /// Writes them in the place of what was kept of the same keys.
    func write(_ db: Database) throws {
        for (key, window) in self {
            guard let highest = window.highest else { continue }
            let sql = "INSERT OR REPLACE INTO \(SequenceWindow.table) (key, highest, seen) VALUES (?, ?, ?)"
            try db.cachedStatement(sql: sql).execute(arguments: [
                Data(key.bytes), Int64(bitPattern: highest), Data(window.bytes),
            ])
        }
    }

    /// What is kept.
    ///
    /// - Throws: ``StoreError`` when a row is damaged: what it forbids is not known.
    static func stored(_ db: Database) throws -> Self {
        var windows: Self = [:]
        for row in try Row.fetchAll(db, sql: "SELECT key, highest, seen FROM \(SequenceWindow.table)") {
            guard let (key, window) = entry(Array(row.databaseValues)) else {
                throw StoreError(.damaged, "the sequence numbers of sealed datagrams are damaged")
            }
            windows[key] = window
        }
        return windows
    }

    /// A key and its numbers, of a row with `key`, `highest` and `seen`; nil when it is damaged.
    static func entry(_ values: [DatabaseValue]) -> (key: KeyPrint, window: SequenceWindow)? {
        guard values.count == 3, let key = Data.fromDatabaseValue(values[0]), key.count == KeyPrint.size,
            let highest = Int64.fromDatabaseValue(values[1]), let seen = Data.fromDatabaseValue(values[2]),
            let window = SequenceWindow(highest: UInt64(bitPattern: highest), bytes: [UInt8](seen))
        else { return nil }
        return (KeyPrint([UInt8](key)), window)
    }
}
