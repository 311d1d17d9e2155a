import GRDB
import KymographCore

/// A type or a source of which nothing is taken, as an operator has asked.
struct Pause: Hashable, Sendable {
    /// What is paused.
    enum Kind: String, Codable, CaseIterable, Sendable {
        case type
        case source

        /// Why readings are put aside meanwhile.
        var reason: Rejection { self == .type ? .typePaused : .sourcePaused }
    }

    var kind: Kind
    /// The name of the type or source.
    var name: String
    /// When it began.
    var since: Instant

    /// Whether both are of one type or source.
    func isSame(as other: Pause) -> Bool { kind == other.kind && isNamed(other.name) }

    /// Whether that is its name, byte by byte.
    func isNamed(_ other: String) -> Bool { name.utf8.elementsEqual(other.utf8) }

    /// Holds in SQL for dead letters that pauses have put aside, and that were not sent again. As the index has it.
    static let isPutAside = "reason IN ('typePaused', 'sourcePaused') AND replayed IS NULL"

    /// All in the store of `db`, by name.
    static func read(_ db: Database) throws -> [Pause] {
        try Row.fetchAll(db, sql: "SELECT kind, name, since FROM pause ORDER BY kind, name").compactMap { row in
            Kind(rawValue: row[0]).map { Pause(kind: $0, name: row[1], since: Instant(nanoseconds: row[2])) }
        }
    }

    /// Has `pauses` in the store of `db`, and no others.
    static func write(_ pauses: [Pause], _ db: Database) throws {
        try db.execute(sql: "DELETE FROM pause")
        for pause in pauses {
            try db.execute(
                sql: "INSERT INTO pause VALUES (?, ?, ?)",
                arguments: [pause.kind.rawValue, pause.name, pause.since.nanoseconds])
        }
    }

    /// Dead letters that it has put aside, that were not sent again and can be: not without the name of their topic.
    func letters(_ db: Database) throws -> Int {
        let isOfIt =
            kind == .source
            ? "source = ?3" : "(detail = 'type ' || ?3 OR substr(detail, 1, length(?3) + 6) = 'type ' || ?3 || ',')"
        return try Int.fetchOne(
            db,
            sql: """
                SELECT count(*) FROM dead WHERE \(Pause.isPutAside) AND reason = ?1 AND at >= ?2 AND \(isOfIt)
                    AND substr(detail, -length(?4)) != ?4
                """, arguments: [kind.reason.name, since.nanoseconds, name, Peer.topicText]) ?? 0
    }
}

extension Store {
    /// What is paused.
    var pauses: [Pause] { read { try Pause.read($0) } ?? [] }

    /// Keeps that these are paused, and no others, on disk.
    func note(_ pauses: [Pause]) throws(StoreError) {
        do {
            try pool.write { try Pause.write(pauses, $0) }
        } catch {
            throw failure(error, "write to")
        }
    }
}
