import FoundationEssentials
import GRDB

/// A table as a repair reads and writes it.
struct SalvagedTable {
    let name: String
    private let columns: [String]
    private let key: [String]
    /// Whether it is `WITHOUT ROWID`.
    let isKeyed: Bool

    /// The tables of `db`, except those of SQLite and of migrations, to be read from `old`, nil when nothing of that
    /// can be read. Columns that a table of an earlier version does not have are left out: with them no row could be
    /// read. A table that is not there may be lost, and counts so if it is among those that are `expected`.
    static func all(of db: Database, from old: Database?, expected: Set<String>) throws -> [SalvagedTable] {
        let rows = try Row.fetchAll(db, sql: "SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY rowid")
        let known = old.flatMap { try? Self.columns($0) }
        return try rows.compactMap { row in
            let name: String = row["name"]
            guard !name.hasPrefix("sqlite_"), !name.hasPrefix("grdb_") else { return nil }
            if let known, known[name] == nil, !expected.contains(name) { return nil }
            let sql: String = row["sql"]
            let columns = try Row.fetchAll(db, sql: "PRAGMA table_info(\(name))")
            let places: [(place: Int, name: String)] = columns.map { ($0["pk"], $0["name"]) }
            let key = places.filter { $0.place > 0 }.sorted { $0.place < $1.place }
            return SalvagedTable(
                name: name, columns: places.map(\.name).filter { known?[name]?.contains($0) ?? true },
                key: key.map(\.name), isKeyed: sql.contains("WITHOUT ROWID"))
        }
    }

    /// The names of columns of each table that `db` has.
    private static func columns(_ db: Database) throws -> [String: [String]] {
        let names = try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
        return try names.reduce(into: [:]) { columns, name in
            columns[name] = try Row.fetchAll(db, sql: "PRAGMA table_info(\(name))").map { $0["name"] as String }
        }
    }

    private var list: String { columns.map { "\"\($0)\"" }.joined(separator: ", ") }

    /// Rows after a number, the number first.
    var selection: String { "SELECT rowid, \(list) FROM \(name) WHERE rowid > ? ORDER BY rowid" }

    /// The number of the first row from a number on.
    var seek: String { "SELECT rowid FROM \(name) NOT INDEXED WHERE rowid >= ? ORDER BY rowid LIMIT 1" }

    /// All rows of a table without numbers, from one of its ends.
    func ordered(_ direction: String) -> String {
        "SELECT \(list) FROM \(name) ORDER BY " + key.map { "\"\($0)\" \(direction)" }.joined(separator: ", ")
    }

    /// Adds a row; one that is there stays.
    var insertion: String {
        "INSERT OR IGNORE INTO \(name) (\(list)) VALUES (" + columns.map { _ in "?" }.joined(separator: ", ") + ")"
    }

    /// The place of the body among the columns, after codec, key and checksum.
    var body: Int? { columns.contains("checksum") ? columns.firstIndex(of: "body") : nil }

    /// Whether a row is one that a start can use: of some tables, one that cannot be read lets no store open.
    func isUsable(_ values: [DatabaseValue]) -> Bool {
        switch name {
        case SequenceWindow.table: [KeyPrint: SequenceWindow].entry(values) != nil
        case TopicPosition.table: [TopicPartition: TopicPosition].entry(values) != nil
        default: true
        }
    }

    /// Whether a row's body is what was stored.
    static func isWhole(_ values: [DatabaseValue], bodyAt place: Int) -> Bool {
        guard let codec = Int.fromDatabaseValue(values[place - 3]), let key = Int.fromDatabaseValue(values[place - 2]),
            let checksum = Int64.fromDatabaseValue(values[place - 1]),
            let bytes = Data.fromDatabaseValue(values[place])
        else { return false }
        return StoredBody.content(codec: codec, key: key, checksum: checksum, bytes: bytes) != nil
    }
}
