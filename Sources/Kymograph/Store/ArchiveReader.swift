import GRDB
import KymographCore

/// Finds single rows for shards on a connection of its own: the window, the series or the id that a reading asks for.
/// A re-sent day asks for thousands.
///
/// Each look-up sees what was committed before it, and holds no transaction afterwards, so that the log can be emptied.
struct ArchiveReader: ~Copyable, Sendable {
    private let window: WindowStatement
    private let series: WindowStatement
    private let id: WindowStatement
    /// Nobody else uses it.
    private let database: DatabaseQueue

    /// Opens the database at `path`, which is there.
    ///
    /// - Throws: `DatabaseError` when it cannot be read.
    init(path: String) throws {
        var configuration = try StorePages.configuration()
        configuration.readonly = true
        let database = try DatabaseQueue(path: path, configuration: configuration)
        let window = try ArchiveReader.prepare(
            "SELECT codec, key_id, checksum, body FROM window WHERE start = ? AND series = ?", database)
        let series = try ArchiveReader.prepare("SELECT number FROM series WHERE key = ?", database)
        let id = try ArchiveReader.prepare("SELECT instant FROM reading_id WHERE series = ? AND id = ?", database)
        self.database = database
        self.window = window
        self.series = series
        self.id = id
    }

    /// Gives what `body` finds.
    func look<Value>(_ body: (borrowing ArchiveReader) throws -> Value) rethrows -> Value { try body(self) }

    private static func prepare(_ sql: String, _ database: DatabaseQueue) throws -> WindowStatement {
        var made: WindowStatement?
        try database.read { made = try WindowStatement(sql, $0) }
        guard let statement = made.take() else { throw DatabaseError(resultCode: .SQLITE_MISUSE) }
        return statement
    }

    /// Appends the block of the window of `number` that begins at `start`.
    ///
    /// - Throws: `DatabaseError` when it cannot be read.
    func load(series number: Int, start: Instant, into writer: inout ByteWriter) throws -> ArchiveLookup {
        window.bind(start.nanoseconds, to: 1)
        window.bind(Int64(number), to: 2)
        let isWhole = try window.withRow { row in
            StoredBody.append(
                codec: Int(row.number(0)), key: Int(row.number(1)), checksum: row.number(2), bytes: row.bytes(3),
                to: &writer)
        }
        return isWhole.map { $0 ? .found : .damaged } ?? .absent
    }

    /// The number of the series `key`, or nil.
    ///
    /// - Throws: `DatabaseError` when it cannot be read.
    func number(of key: [UInt8]) throws -> Int? {
        try key.withByteView { key in
            series.bind(key, to: 1)
            return try series.withRow { Int($0.number(0)) }
        }
    }

    /// The time of the reading called `name` of the series `number`, or nil.
    ///
    /// - Throws: `DatabaseError` when it cannot be read.
    func instant(of name: [UInt8], series number: Int) throws -> Instant? {
        try name.withByteView { name in
            id.bind(Int64(number), to: 1)
            id.bind(name, to: 2)
            return try id.withRow { Instant(nanoseconds: $0.number(0)) }
        }
    }
}
