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
            let (key, highest, seen): (Data, Int64, Data) = (row[0], row[1], row[2])
            guard let window = SequenceWindow(highest: UInt64(bitPattern: highest), bytes: [UInt8](seen)) else {
                throw StoreError(.damaged, "the sequence numbers of sealed datagrams are damaged")
            }
            windows[KeyPrint([UInt8](key))] = window
        }
        return windows
    }
}
