import CSQLiteChecksums
import GRDB
import Glibc
import KymographCore

/// How the databases of stores are opened: with a checksum in each page, so that nothing is taken for content that the
/// disk has changed.
enum StorePages {
    /// Bytes of a page. One of 16 KiB holds most bodies whole.
    static let size = Int(KYMO_PAGE_BYTES)

    /// How long another program that has the database locked is waited for, in milliseconds.
    static let patience = 2_000

    private static let registration = kymo_pages_register()

    /// What all connections have in common. One that `salvages` only reads, and takes files that are too short.
    static func configuration(salvages: Bool = false) throws -> Configuration {
        try register()
        var configuration = Configuration()
        configuration.readonly = salvages
        configuration.busyMode = .timeout(Double(patience) / 1_000)
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
    ///
    /// - Throws: ``SealError`` when that cannot be known.
    static func areSealed(_ database: String) throws(SealError) -> Bool {
        // Safe: the string is lent for the call.
        let answer = unsafe kymo_pages_are_sealed(database)
        guard answer >= 0 else { throw SealError(message: "cannot read \(database): \(ErrorText.of(errno))") }
        return answer == 1
    }

    /// What the first page of a database is.
    enum FirstPage: Hashable, Sendable {
        /// There is no database, or not a page of it.
        case missing
        /// Encrypted with the store's keys.
        case whole
        /// Something else, and what that is.
        case strange(String)
    }

    /// What the first page of `database` is, for a store with the keys of `seal`.
    static func firstPage(of database: String, _ seal: StoreSeal) -> FirstPage {
        // Safe: the string is lent for the call, and the ring lives as long as the process.
        switch unsafe kymo_pages_first(database, seal.ring) {
        case kymo_first_missing: .missing
        case kymo_first_whole: .whole
        case kymo_first_plain: .strange("its first page is not encrypted")
        case kymo_first_lacks_key: .strange("its data key is not in the list")
        case kymo_first_damaged: .strange("its first page cannot be decrypted")
        default: .strange("it cannot be read")
        }
    }

    /// Whether any page of `database` needs a data key that `seal` lacks.
    static func lackKey(_ database: String, _ seal: StoreSeal) -> Bool {
        // Safe: as above.
        unsafe kymo_pages_lack_key(database, seal.ring) == 1
    }

    /// Whether the write-ahead log of `database` needs one.
    static func logLacksKey(_ database: String, _ seal: StoreSeal) -> Bool {
        // Safe: as above.
        unsafe kymo_log_lacks_key(database + "-wal", seal.ring) == 1
    }

    /// Transactions of the write-ahead log of `database` that were durable and cannot be read any more.
    static func lostTransactions(of database: String) -> Int {
        // Safe: the string is lent for the call.
        Int(unsafe kymo_log_lost(database + "-wal"))
    }
}
