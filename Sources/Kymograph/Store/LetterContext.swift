import FoundationEssentials
import GRDB
import KymographCore

/// What its source said of a payload when that came: whose it is where it does not say so itself, and by which clock
/// its times are. Dead letters keep it, since configurations change; and by how much its readings were stamped later.
struct LetterContext: Hashable, Sendable {
    /// Device of readings that name none; empty for none.
    var device: [UInt8] = []
    /// Patient of readings that name none; empty for none.
    var patient: [UInt8] = []
    /// The wall clock by which times without an offset were read; nil for none.
    var timezone: String?
    /// Nanoseconds by which readings of the payload were stamped later than it came by the wall clock.
    var lead: Int64 = 0

    /// One row for each letter of a payload. Letters of earlier versions have none.
    static let table = "letter_context"

    /// Dead letters, each with its context, if it has one. Stores that this version has not opened yet have none.
    static func letters(_ db: Database) throws -> String {
        guard try db.tableExists(table) else { return "SELECT * FROM dead" }
        return """
            SELECT dead.*, \(table).device AS context_device, \(table).patient AS context_patient,
                \(table).timezone AS context_timezone, \(table).lead AS context_lead
            FROM dead LEFT JOIN \(table) ON \(table).letter = dead.number
            """
    }

    /// Keeps it for the letter `number`.
    func insert(letter number: Int64, _ db: Database) throws {
        // A repair may have a number given again.
        try db.cachedStatement(sql: "INSERT OR REPLACE INTO \(Self.table) VALUES (?, ?, ?, ?, ?)").execute(
            arguments: [number, Data(device), Data(patient), timezone, lead])
    }

    /// Forgets that of the letter `number`.
    static func forget(_ number: Int64, _ db: Database) throws {
        try db.execute(sql: "DELETE FROM \(table) WHERE letter = ?", arguments: [number])
    }

    /// Forgets those of letters that are gone, but for the newest `most` letters: of these few are gone, and it would
    /// look at all.
    static func forgetGone(butForNewest most: Int = 0, _ db: Database) throws {
        try db.cachedStatement(
            sql: """
                DELETE FROM \(table) WHERE letter <= (SELECT max(letter) FROM \(table)) - ?
                    AND letter NOT IN (SELECT number FROM dead)
                """
        ).execute(arguments: [most])
    }
}

extension LetterContext {
    /// That of a row of ``letters(_:)``; nil where it is not known.
    init?(_ row: Row) {
        guard let device = row["context_device"] as Data?, let patient = row["context_patient"] as Data? else {
            return nil
        }
        self.init(
            device: [UInt8](device), patient: [UInt8](patient), timezone: row["context_timezone"],
            lead: row["context_lead"])
    }
}
