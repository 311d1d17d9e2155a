import CSQLiteChecksums
import GRDB

/// How the databases of stores are opened: with a checksum in each page, so that nothing is taken for content that the
/// disk has changed.
enum StorePages {
    /// Bytes of a page. One of 16 KiB holds most bodies whole.
    static let size = Int(KYMO_PAGE_BYTES)

    private static let registration = kymo_pages_register()

    /// What all connections have in common. One that `salvages` only reads, and takes files that are too short.
    static func configuration(salvages: Bool = false) throws -> Configuration {
        try register()
        var configuration = Configuration()
        configuration.readonly = salvages
        configuration.prepareDatabase { db in
            if salvages { return try db.execute(sql: "PRAGMA writable_schema = ON; PRAGMA cell_size_check = ON") }
            // Size and room of pages count only where there is no table yet.
            try db.execute(
                sql: "PRAGMA page_size = \(size); PRAGMA synchronous = FULL; PRAGMA cell_size_check = ON")
            // Safe: the connection is open, and SQLite keeps nothing of the call's arguments.
            let code = unsafe kymo_pages_reserve(db.sqliteConnection)
            guard code == 0 else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
        }
        return configuration
    }

    /// Makes SQLite open the databases of this process with checksums, and encrypted ones with their keys.
    static func register() throws {
        guard registration == 0 else { throw DatabaseError(resultCode: ResultCode(rawValue: registration)) }
    }

    /// Makes `VACUUM INTO` leave room for what a sealed page needs.
    static func reserveForSeal(_ db: Database) throws {
        // Safe: as above.
        let code = unsafe kymo_pages_reserve_for_seal(db.sqliteConnection)
        guard code == 0 else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }

    /// Whether the file `database` begins with an encrypted page.
    static func areSealed(_ database: String) -> Bool {
        // Safe: the string is lent for the call.
        unsafe kymo_pages_are_sealed(database) == 1
    }

    /// Transactions of the write-ahead log of `database` that were durable and cannot be read any more.
    static func lostTransactions(of database: String) -> Int {
        // Safe: the string is lent for the call.
        Int(unsafe kymo_log_lost(database + "-wal"))
    }
}
