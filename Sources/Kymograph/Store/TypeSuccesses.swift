import GRDB
import KymographCore

/// When each sink has last taken readings of each type, to a second. For the store's thread alone.
struct TypeSuccesses {
    private struct Name: Hashable {
        var sink: String
        var type: String
    }

    /// What the database has, as far as this has written it.
    private var seconds: [Name: Int64] = [:]

    /// Notes that sinks, by name, have `taken` readings of types by `now`; a name that is not `among` the types is left
    /// out.
    mutating func note(_ taken: [String: Set<String>], among types: [String], _ now: Instant, _ db: Database) throws {
        let known = Set(types)
        let second = now.nanoseconds / 1_000_000_000
        for (sink, names) in taken {
            for type in names.intersection(known) where seconds[Name(sink: sink, type: type)] != second {
                try write(sink, type, second, db)
                seconds[Name(sink: sink, type: type)] = second
            }
        }
    }

    private mutating func write(_ sink: String, _ type: String, _ second: Int64, _ db: Database) throws {
        try db.cachedStatement(sql: "INSERT OR REPLACE INTO success VALUES (?, ?, ?)").execute(
            arguments: [sink, type, second])
    }

    /// All that the store of `db` knows, by the names of sinks and types.
    static func read(_ db: Database) throws -> [(sink: String, type: String, second: Int64)] {
        try Row.fetchAll(db, sql: "SELECT sink, type, at FROM success ORDER BY sink, type").map {
            ($0[0], $0[1], $0[2])
        }
    }
}
