import Foundation
import GRDB
@testable import Kymograph
@testable import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// What the archive says of a window is what the shard said, whatever was inserted before it.
@Suite struct WindowInsertionTests {
    private static let now = DurableRehearsal.start

    private struct Made {
        var window: ClosedWindow
        var block: [UInt8]
        var route: BundleRoute { window.facts.route }
    }

    /// A store without sinks and one that a batch with `windows` is committed to at `now`.
    private func commit(_ windows: [Made], to commit: inout StoreCommit, now: Instant) throws {
        var unit = ShardUnit.made()
        for made in windows { made.block.withByteView { unit.windows.append(made.window, block: $0) } }
        try commit.commit(.made(unit), now: now)
    }

    /// A window whose numbers are taken from few, so that those of neighbours are often the same.
    private static func window(_ series: Int, _ random: inout SeededGenerator) -> Made {
        func number(_ most: Int64) -> Int64 { Int64.random(in: 0...3, using: &random) * most / 3 }
        let start = Instant(nanoseconds: number(3) - 1)
        var readings = InlineArray<16, UInt32>(repeating: 0)
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            readings[Int.random(in: 0...15, using: &random)] = UInt32(number(3_000_000_000))
        }
        let facts = WindowFacts(
            end: start.advanced(by: number(60)), firstReading: start.advanced(by: number(9)),
            lastReading: start.advanced(by: number(30)), readings: readings, merged: UInt32(number(3)),
            duplicates: UInt32(number(3)), conflicts: UInt32(number(3)), journal: 1)
        let through = JournalPlace(block: number(.max / 4), index: Int(number(.max / 4)))
        let window = ClosedWindow(series: series, start: start, facts: facts, through: through)
        let size = Int.random(in: 1...80, using: &random)
        return Made(window: window, block: (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) })
    }

    /// The columns of `made` in the archive, without those that count versions.
    private static func row(of made: Made, modified: Instant) -> [DatabaseValue] {
        let facts = made.window.facts
        let pairs = facts.readings.indices.filter { facts.readings[$0] > 0 }.map { "\($0):\(facts.readings[$0])" }
        let total = facts.readings.indices.reduce(Int64(0)) { $0 + Int64(facts.readings[$1]) }
        let checksum = made.block.withByteView { BodyCompressor.checksum($0) }
        let values: [any DatabaseValueConvertible] = [
            made.window.series, made.window.start.nanoseconds, facts.end.nanoseconds, facts.firstReading.nanoseconds,
            facts.lastReading.nanoseconds, total, pairs.joined(separator: " "), Int64(facts.merged),
            Int64(facts.duplicates), Int64(facts.conflicts), modified.nanoseconds, made.window.through.block,
            made.window.through.index, Int64(checksum), Data(made.block),
        ]
        return values.map(\.databaseValue)
    }

    private static let columns = """
        series, start, "end", first, last, readings, sources, merged, duplicates, conflicts, modified, through_block,
        through_index, checksum, body
        """

    /// Each series has one window: every column of its row is its own, not that of the row before.
    @Test func everyColumnIsTheWindowsOwn() throws {
        let scratch = Scratch()
        let set = try #require(PipelineRehearsal.reading)
        let store = try Store(path: scratch.path)
        defer { store.close() }
        store.begin(shards: 1)
        var commit = StoreCommit(store, MappingExchange(set))
        var random = SeededGenerator(seed: Trials.seed(7))
        var expected: [[DatabaseValue]] = []
        for batch in 0..<20 {
            let now = Self.now.advanced(by: Int64(batch / 2))
            let windows = (0..<30).map { Self.window(batch * 30 + $0, &random) }
            try self.commit(windows, to: &commit, now: now)
            expected += windows.map { Self.row(of: $0, modified: now) }
        }
        let sql = "SELECT \(Self.columns) FROM window ORDER BY number"
        let rows = try store.pool.read { try Row.fetchAll($0, sql: sql).map { Array($0.databaseValues) } }
        #expect(rows == expected)
        let plain = "SELECT count(*) FROM window WHERE codec = 0 AND key_id = 0 AND revision = 1 AND sinks IS NULL"
        #expect(try store.value(plain) == expected.count)
    }

    /// Of two versions in one batch the later one counts, with all that was counted for both.
    @Test func twoVersionsInOneBatch() throws {
        let scratch = Scratch()
        let set = try #require(PipelineRehearsal.reading)
        let store = try Store(path: scratch.path)
        defer { store.close() }
        store.begin(shards: 1)
        var commit = StoreCommit(store, MappingExchange(set))
        var random = SeededGenerator(seed: Trials.seed(8))
        var first = Self.window(0, &random)
        first.window.facts.duplicates = 2
        var second = first
        second.window.facts.duplicates = 3
        second.window.facts.readings = .init(repeating: 0)
        second.window.facts.readings[2] = 5
        second.window.facts.readings[13] = 21
        second.window.facts.restored = [0, 0, 5]
        second.block = [9, 8, 7]
        var counted = second
        counted.window.facts.duplicates = 4
        counted.block = []
        try self.commit([first, Self.window(1, &random), second, counted], to: &commit, now: Self.now)
        let sql = "SELECT sources, readings, duplicates, revision, hex(body), number FROM window WHERE series = 0"
        let row = try #require(try store.pool.read { try Row.fetchOne($0, sql: sql) })
        // The number says that it has changed after the other window.
        let expected: [DatabaseValue] = [
            "2:5 13:21".databaseValue, 26.databaseValue, 9.databaseValue, 2.databaseValue, "090807".databaseValue,
            3.databaseValue,
        ]
        #expect(Array(row.databaseValues) == expected)
        #expect(try store.value("SELECT count(*) FROM window") == 2)
    }

    /// Sinks of one window are not those of the next, which has none.
    @Test func sinksAreTheWindowsOwn() throws {
        let scratch = Scratch()
        let set = try #require(PipelineRehearsal.reading)
        let store = try Store(path: scratch.path)
        defer { store.close() }
        store.begin(shards: 1)
        try store.begin(sinks: ["a"])
        var commit = StoreCommit(store, MappingExchange(set))
        var random = SeededGenerator(seed: Trials.seed(9))
        var windows = (0..<4).map { Self.window($0, &random) }
        for place in [0, 2] { windows[place].window.facts.route = .all }
        try self.commit(windows, to: &commit, now: Self.now)
        let sinks = try store.pool.read { try String?.fetchAll($0, sql: "SELECT sinks FROM window ORDER BY number") }
        #expect(sinks == ["a", nil, "a", nil])
    }
}
