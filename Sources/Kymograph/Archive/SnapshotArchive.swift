import FoundationEssentials
import GRDB
import KymographCore

/// What one state of a store has of the windows that readings of its journal belong to; and what these windows are with
/// them. Good for one transaction, as its database is.
final class SnapshotArchive: WindowArchive {
    private let db: Database
    /// ``StoreFacts/floor``.
    private let floor: Instant?
    let hasRetractions: Bool
    private var identities: [SeriesIdentity] = []
    /// The store's numbers, by series.
    private var numbers: [Int] = []
    /// The latest start of the windows that were dropped, by series.
    private var dropped: [Instant?] = []
    /// The windows that differ from what the archive has.
    private(set) var windows: [ArchivedWindow] = []
    /// Why the database could not be read: nothing that was found counts then.
    private(set) var failure: (any Error)?

    /// Of the state that `db` sees.
    init(_ db: Database) throws {
        self.db = db
        floor = try Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'floor'")
            .map { Instant(nanoseconds: $0) }
        hasRetractions = try StoredRetraction.exist(db)
    }

    /// What `body` reads; nil after a failure.
    private func attempt<Value>(_ body: () throws -> Value?) -> Value? {
        guard failure == nil else { return nil }
        do {
            return try body()
        } catch {
            failure = error
            return nil
        }
    }

    // MARK: Series

    func introduce(series: Int, identity: SeriesIdentity) {
        let row = attempt {
            try Row.fetchOne(
                try db.cachedStatement(sql: "SELECT number, dropped_through FROM series WHERE key = ?"),
                arguments: [Data(SeriesKey.encode(identity))])
        }
        identities.append(identity)
        numbers.append(row?[0] ?? -1)
        let own = (row?[1] as Int64?).map { Instant(nanoseconds: $0) }
        dropped.append([own, floor].compactMap { $0 }.max())
    }

    func number(of series: Int) -> Int { numbers[series] }

    func series(ofDevice device: [UInt8]) -> [[UInt8]] {
        attempt {
            try StoredSeries.keys(ofDevice: device, db)
        } ?? []
    }

    // MARK: What it has

    func load(series: Int, windowStart: Instant, into writer: inout ByteWriter) -> ArchiveLookup {
        let row = attempt {
            try Row.fetchOne(
                try db.cachedStatement(
                    sql: "SELECT codec, key_id, checksum, body FROM window WHERE start = ? AND series = ?"),
                arguments: [windowStart.nanoseconds, numbers[series]])
        }
        guard let row else { return failure == nil ? .absent : .damaged }
        guard let content = StoredBody.content(codec: row[0], key: row[1], checksum: row[2], bytes: row[3]) else {
            return .damaged
        }
        writer.append(content)
        return .found
    }

    func evictedThrough(series: Int) -> Instant? { dropped[series] }

    func instant(of id: ByteView, series: Int) -> Instant? {
        attempt {
            try Int64.fetchOne(
                try db.cachedStatement(sql: "SELECT instant FROM reading_id WHERE series = ? AND id = ?"),
                arguments: [numbers[series], Data(id.array)])
        }.map { Instant(nanoseconds: $0) }
    }

    func retractions(ofDevice device: [UInt8]) -> [Retraction] {
        guard hasRetractions else { return [] }
        return attempt { try StoredRetraction.read(ofDevice: device, db) } ?? []
    }

    var storedBytes: Int { 0 }

    var evictedWindows: Int { 0 }

    // MARK: What is open

    /// Notes a window that is open. One of which only receipts are newer is as the archive has it.
    func store(series: Int, windowStart: Instant, facts: WindowFacts, block: ByteView) {
        guard !facts.isRestamped, numbers[series] >= 0 else { return }
        let name = ArchiveCursor(start: windowStart.nanoseconds, series: numbers[series])
        let former = attempt { try ArchivedWindow.read(name, db) }
        let window = ArchivedWindow(
            openAt: name, of: identities[series], facts, content: block.array, former: former)
        guard former != nil || window.readings > 0, !(former?.hasContent(of: window) ?? false) else { return }
        windows.append(window)
    }
}
