import GRDB
@testable import Kymograph
@testable import KymographCore
import KymographTestKit

extension ShardUnit {
    /// A unit of shard 0 with a journal block of `bytes` bytes, the introduction of a series, or a window of one.
    static func made(
        journal: Int64? = nil, bytes: Int = 16, needed: Int64? = nil, introduces: Int? = nil, windowOf: Int? = nil,
        bundle: Int = 0, route: BundleRoute = .all
    ) -> ShardUnit {
        var unit = ShardUnit(shard: 0)
        unit.needed = needed
        unit.journal = journal.map { JournalBlock(number: $0, count: 1, bytes: noise(bytes)) }
        if let introduces { unit.series = [Series(number: introduces, key: key(introduces))] }
        if let windowOf {
            noise(40).withByteView { unit.windows.append(window(of: windowOf, through: needed ?? 1), block: $0) }
        }
        if bundle > 0 { unit.blocks = [Block(route: route, bytes: noise(bundle), since: WallClock.now())] }
        return unit
    }

    /// The key of a device that belongs to `series`.
    static func key(_ series: Int) -> [UInt8] {
        SeriesKey.encode(SeriesIdentity(type: 0, device: Array("device-\(series)".utf8)))
    }

    private static func window(of series: Int, through block: Int64) -> ClosedWindow {
        var readings = InlineArray<16, UInt32>(repeating: 0)
        readings[0] = 1
        let start = Instant(seconds: 1_900_000_000)
        let facts = WindowFacts(
            end: start.advanced(by: 60_000_000_000), firstReading: start, lastReading: start, readings: readings,
            duplicates: 0, conflicts: 0, journal: block)
        return ClosedWindow(
            series: series, start: start, facts: facts, through: JournalPlace(block: block, index: .max))
    }

    /// Bytes that nothing makes smaller.
    private static func noise(_ count: Int) -> [UInt8] {
        var generator = SeededGenerator(seed: UInt64(count))
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }
}

extension StoreBatch {
    /// A batch of units.
    static func made(_ units: ShardUnit...) -> StoreBatch {
        var batch = StoreBatch()
        batch.units = units
        batch.byteCount = units.reduce(0) { $0 + $1.byteCount }
        return batch
    }
}

extension Store {
    /// Lets the database grow no more, as a full disk does, or again.
    func setFull(_ isFull: Bool) throws {
        try pool.writeWithoutTransaction { db in
            let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
            try db.execute(sql: "PRAGMA max_page_count = \(isFull ? pages : 1 << 30)")
        }
    }

    /// The number that a query of the database gives.
    func value(_ sql: String) throws -> Int? { try pool.read { try Int.fetchOne($0, sql: sql) } }
}
