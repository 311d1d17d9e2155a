import FoundationEssentials
import GRDB
import KymographCore

/// What `kymo sources` lists no more, until something new comes: devices and sources that are gone. Nothing else of a
/// store depends on it.
struct RemovedNames {
    /// What a name is of.
    enum Kind: String {
        case device
        case source
    }

    private struct Name: Hashable {
        var kind: Kind
        var name: IdentifierText
    }

    private var times: [Name: Instant] = [:]

    /// Those of the store of `db`.
    init(_ db: Database) throws {
        for row in try Row.fetchAll(db, sql: "SELECT kind, name, at FROM removed") {
            guard let kind = Kind(rawValue: row[0]) else { continue }
            let name = IdentifierText(utf8: [UInt8](row[1] as Data))
            times[Name(kind: kind, name: name)] = Instant(nanoseconds: row[2])
        }
    }

    /// Whether `name` is listed, of which something came last at `last`.
    func isListed(_ kind: Kind, _ name: IdentifierText, last: Instant) -> Bool {
        times[Name(kind: kind, name: name)].map { last > $0 } ?? true
    }

    /// Notes that `names` are to be listed no more.
    static func add(_ names: [(kind: Kind, name: IdentifierText)], at now: Instant, _ db: Database) throws {
        for (kind, name) in names {
            try db.execute(
                sql: "INSERT OR REPLACE INTO removed VALUES (?, ?, ?)",
                arguments: [kind.rawValue, Data(name.utf8), now.nanoseconds])
        }
    }
}

extension Store {
    /// Notes that `names` are to be listed no more.
    func remove(_ names: [(kind: RemovedNames.Kind, name: IdentifierText)], at now: Instant) throws(StoreError) {
        do {
            try pool.write { try RemovedNames.add(names, at: now, $0) }
        } catch {
            throw failure(error, "write to")
        }
    }
}
