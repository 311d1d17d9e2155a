import GRDB
import KymographCore

/// Counts what came again to windows of the archive, and gives them other receive times where these are new. Neither is
/// another version: what they show is the same.
struct WindowRecount: ~Copyable {
    private let counts: WindowStatement
    private let receipts: WindowStatement

    /// Prepares for `db`, on whose thread all else happens.
    ///
    /// - Throws: `DatabaseError` when SQLite does not take it.
    init(_ db: Database) throws {
        func update(_ more: String) -> String {
            """
            UPDATE window SET merged = merged + ?3, duplicates = duplicates + ?4, conflicts = conflicts + ?5,
                through_block = ?6, through_index = ?7\(more) WHERE start = ?1 AND series = ?2
            """
        }
        let counts = try WindowStatement(update(""), db)
        let coding = "codec = \(BodyCodec.plain.rawValue), key_id = \(StoredBody.noKey)"
        let receipts = try WindowStatement(update(", \(coding), checksum = ?8, body = ?9"), db)
        self.counts = counts
        self.receipts = receipts
    }

    /// Counts what came to `window`, and keeps `block` where that has its receive times. The number of changes says
    /// whether it was there.
    ///
    /// - Throws: `DatabaseError` when SQLite fails.
    func update(_ window: ClosedWindow, _ block: ByteView) throws {
        guard window.facts.isRestamped else {
            bind(window, to: counts)
            return try counts.run()
        }
        bind(window, to: receipts)
        receipts.bind(Int64(BodyCompressor.checksum(block)), to: 8)
        receipts.bind(block, to: 9)
        try receipts.run()
    }

    private func bind(_ window: ClosedWindow, to statement: borrowing WindowStatement) {
        statement.bind(window.start.nanoseconds, to: 1)
        statement.bind(Int64(window.series), to: 2)
        statement.bind(Int64(window.facts.merged), to: 3)
        statement.bind(Int64(window.facts.duplicates), to: 4)
        statement.bind(Int64(window.facts.conflicts), to: 5)
        statement.bind(window.through.block, to: 6)
        statement.bind(Int64(window.through.index), to: 7)
    }
}
