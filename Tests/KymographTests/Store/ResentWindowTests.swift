import Foundation
import GRDB
@testable import Kymograph
@testable import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// What comes again for windows that are archived: how it is found, and what the archive says of it.
@Suite struct ResentWindowTests {
    private static let now = DurableRehearsal.start

    // MARK: A day that comes again

    private static func play(_ set: MappingSet, _ lines: [[UInt8]], _ store: MemoryShardStore) {
        store.restart()
        var settings = OrderAndRestartTests.settings
        settings.limits.archiveBytes = 1 << 20
        var rehearsal = DurableRehearsal(set: set, store: store, settings: settings)
        rehearsal.begin { store.replay(into: &$0) }
        for (number, line) in lines.enumerated() {
            rehearsal.take(line)
            if number % 16 == 15 { rehearsal.handOver() }
        }
        rehearsal.handOver()
        rehearsal.drain()
    }

    /// Windows of an earlier run are durable: to wait for commits there, window by window, cost more than all else.
    @Test func windowsOfAnEarlierRunAreFoundWithoutWaiting() throws {
        let set = try #require(PipelineRehearsal.reading)
        let store = MemoryShardStore()
        Self.play(set, RecordedHour.lines, store)
        let output = store.output
        #expect(store.waits == 0)
        let loads = store.loads
        Self.play(set, RecordedHour.lines, store)
        #expect(store.output == output)
        #expect(store.loads - loads >= 10)
        #expect(store.waits == 0)
    }

    /// A window that this run has closed, and memory has dropped, may still be on its way to the store.
    @Test func windowsThatMemoryHasDroppedAreWaitedFor() throws {
        let set = try #require(PipelineRehearsal.reading)
        let store = MemoryShardStore()
        var settings = OrderAndRestartTests.settings
        settings.limits.archiveBytes = 200
        var rehearsal = DurableRehearsal(set: set, store: store, settings: settings)
        rehearsal.begin { store.replay(into: &$0) }
        for line in RecordedHour.lines { rehearsal.take(line) }
        rehearsal.handOver()
        #expect(store.waits == 0)
        let loads = store.loads
        rehearsal.take(RecordedHour.lines[0])
        rehearsal.handOver()
        #expect(store.waits == 1)
        // All of them have come with it: those that follow are read at once.
        for line in RecordedHour.lines.dropFirst(10) { rehearsal.take(line) }
        rehearsal.handOver()
        #expect(store.loads > loads + 2 && store.waits == 1)
        rehearsal.drain()
    }

    /// A store that shows windows no sooner than it is waited for gives the same as one that has them at once, and is
    /// waited for a few times only.
    @Test func whatIsOnItsWayIsNeverPassedOver() throws {
        let set = try #require(PipelineRehearsal.reading)
        var settings = OrderAndRestartTests.settings
        settings.limits.archiveBytes = 200
        var random = SeededGenerator(seed: Trials.seed(22))
        let again =
            RecordedHour.lines
            + (0..<2_000).map { _ in
                RecordedHour.lines[Int.random(in: 0..<RecordedHour.lines.count, using: &random)]
            }
        let stores = [MemoryShardStore(), MemoryShardStore(isSlow: true)]
        for store in stores {
            var rehearsal = DurableRehearsal(set: set, store: store, settings: settings)
            rehearsal.begin { store.replay(into: &$0) }
            for (number, line) in (RecordedHour.lines + again).enumerated() {
                rehearsal.take(line)
                if number % 64 == 63 { rehearsal.handOver() }
            }
            rehearsal.handOver()
            rehearsal.drain()
        }
        #expect(stores[0].output == stores[1].output && !stores[0].output.isEmpty)
        #expect(stores[1].waits > 0 && stores[1].waits < stores[1].loads)
    }

    /// Of more windows than are told apart, each may be on its way.
    @Test func tooManyWindowsAreAllWaitedFor() {
        var submitted = SubmittedWindows()
        func name(_ number: Int) -> WindowName { WindowName(series: number, start: Self.now) }
        func hand(_ numbers: Range<Int>) {
            var windows = ClosedWindows()
            for number in numbers {
                let place = JournalPlace(block: 0, index: 0)
                windows.append(
                    ClosedWindow(series: number, start: Self.now, facts: .unread, through: place),
                    block: ByteView(""))
            }
            submitted.insert(windows)
        }
        hand(0..<10)
        #expect(submitted.mayContain(name(9)) && !submitted.mayContain(name(10)))
        hand(10..<9_000)
        #expect(submitted.mayContain(name(9)) && submitted.mayContain(name(100_000)))
        submitted.removeAll()
        #expect(!submitted.mayContain(name(9)))
        hand(9..<10)
        #expect(submitted.mayContain(name(9)) && !submitted.mayContain(name(8)))
    }

    // MARK: Look-ups

    private struct Opened: ~Copyable {
        let scratch: Scratch
        let store: Store
        var commit: StoreCommit

        init(_ scratch: Scratch = Scratch()) throws {
            self.scratch = scratch
            let set = try #require(PipelineRehearsal.reading)
            store = try Store(path: scratch.path)
            store.begin(shards: 1)
            commit = StoreCommit(store, MappingExchange(set))
        }

        mutating func insert(_ window: ClosedWindow, _ block: [UInt8]) throws {
            var unit = ShardUnit.made()
            block.withByteView { unit.windows.append(window, block: $0) }
            try commit.commit(.made(unit), now: ResentWindowTests.now)
        }

        func load(_ series: Int) -> (found: String, block: [UInt8]) {
            var writer = ByteWriter(capacity: 16)
            let outcome = store.load(series: series, windowStart: ResentWindowTests.now, into: &writer)
            return ("\(outcome)", writer.view.array)
        }
    }

    private static func window(_ series: Int, duplicates: UInt32 = 0, through: Int64 = 1) -> ClosedWindow {
        var readings = InlineArray<16, UInt32>(repeating: 0)
        readings[0] = 2
        let facts = WindowFacts(
            end: now.advanced(by: 60), firstReading: now, lastReading: now.advanced(by: 9), readings: readings,
            duplicates: duplicates, conflicts: 0, journal: 1)
        return ClosedWindow(
            series: series, start: now, facts: facts, through: JournalPlace(block: through, index: Int(through)))
    }

    /// Each look-up sees what was committed before it, also after one that found nothing.
    @Test func aLookUpFindsWhatWasCommittedBefore() throws {
        var opened = try Opened()
        #expect(opened.load(3) == ("absent", []))
        try opened.insert(Self.window(3), [1, 2, 3])
        #expect(opened.load(3) == ("found", [1, 2, 3]))
        #expect(opened.load(4) == ("absent", []))
        try opened.insert(Self.window(3), [4])
        #expect(opened.load(3) == ("found", [4]))
        opened.store.close()
    }

    @Test func aCompressedBlockIsFoundWhole() throws {
        var opened = try Opened()
        try opened.insert(Self.window(3), [1])
        var compressor = BodyCompressor()
        let block = Array(repeating: UInt8(7), count: 5_000)
        let body = compressor.body(block)
        #expect(body.codec == .zstd)
        try opened.store.pool.write {
            try $0.execute(
                sql: "UPDATE window SET codec = ?, checksum = ?, body = ?",
                arguments: [body.codec.rawValue, Int64(body.checksum), body.bytes])
        }
        #expect(opened.load(3) == ("found", block))
        opened.store.close()
    }

    @Test(arguments: ["body = x'010204'", "checksum = checksum + 1", "codec = 9", "key_id = 1"])
    func aDamagedBlockIsSaidToBeDamaged(change: String) throws {
        var opened = try Opened()
        try opened.insert(Self.window(3), [1, 2, 3])
        try opened.store.pool.write { try $0.execute(sql: "UPDATE window SET \(change)") }
        #expect(opened.load(3) == ("damaged", []))
        opened.store.close()
    }

    /// A look-up holds no transaction: the log can be emptied behind it.
    @Test func theLogCanBeEmptiedAfterALookUp() throws {
        var opened = try Opened()
        try opened.insert(Self.window(3), [1, 2, 3])
        #expect(opened.load(3).found == "found")
        try opened.insert(Self.window(4), [1, 2, 3])
        opened.store.shrinkLog()
        let log = try FileManager.default.attributesOfItem(atPath: opened.store.directory.database + "-wal")
        #expect(log[.size] as? Int == 0)
        opened.store.close()
    }

    @Test func seriesAndIdsOfAnEarlierRunAreFound() throws {
        let scratch = Scratch()
        do {
            var opened = try Opened(scratch)
            var unit = ShardUnit.made(introduces: 7, windowOf: 7)
            unit.windows.nameLast([NamedReading(id: [9, 8], instant: Self.now)])
            try opened.commit.commit(.made(unit), now: Self.now)
            #expect(opened.store.instant(ofReading: [9, 8], series: 7) == Self.now)
            #expect(opened.store.instant(ofReading: [9], series: 7) == nil)
            #expect(opened.store.instant(ofReading: [9, 8], series: 6) == nil)
            opened.store.close()
        }
        let again = try Store(path: scratch.path)
        #expect(again.number(of: ShardUnit.key(7)) == (7, false))
        #expect(again.number(of: ShardUnit.key(6)) == (8, true))
        again.close()
    }

    // MARK: Counts

    private static let columns = """
        duplicates, through_block, through_index, hex(body), checksum, revision, number, readings, modified
        """

    private static func row(
        _ duplicates: Int, through: Int, _ body: String, _ checksum: UInt32
    ) -> [DatabaseValue] {
        let numbers: [any DatabaseValueConvertible] = [
            duplicates, through, through, body, Int64(checksum), 1, 1, 2, now.nanoseconds,
        ]
        return numbers.map(\.databaseValue)
    }

    /// Neither counts nor new receive times are another version. What one window had is not left for the next.
    @Test func whatCameAgainIsCountedAndIsNoOtherVersion() throws {
        var opened = try Opened()
        let sums = [[1, 2, 3], [4, 5]].map { (block: [UInt8]) in block.withByteView { BodyCompressor.checksum($0) } }
        try opened.insert(Self.window(3, duplicates: 1), [1, 2, 3])
        try opened.insert(Self.window(4), [1, 2, 3])
        let sql = "SELECT \(Self.columns) FROM window WHERE series = 3"
        func row(_ store: Store) throws -> [DatabaseValue]? {
            try store.pool.read { try Row.fetchOne($0, sql: sql).map { Array($0.databaseValues) } }
        }
        try opened.insert(Self.window(3, duplicates: 2, through: 5), [])
        #expect(try row(opened.store) == Self.row(3, through: 5, "010203", sums[0]))
        var restamped = Self.window(3, duplicates: 4, through: 6)
        restamped.facts.isRestamped = true
        try opened.insert(restamped, [4, 5])
        #expect(try row(opened.store) == Self.row(7, through: 6, "0405", sums[1]))
        try opened.insert(Self.window(3, duplicates: 1, through: 7), [])
        #expect(try row(opened.store) == Self.row(8, through: 7, "0405", sums[1]))
        #expect(try opened.store.value("SELECT duplicates FROM window WHERE series = 4") == 0)
        opened.store.close()
    }

    /// What came again to a window that the archive has dropped meanwhile is counted all the same.
    @Test(arguments: [false, true])
    func whatCameAgainToADroppedWindowIsCounted(isRestamped: Bool) throws {
        var opened = try Opened()
        try opened.insert(Self.window(3), [1])
        try opened.store.pool.write { try $0.execute(sql: "DELETE FROM window") }
        var window = Self.window(3, duplicates: 6)
        window.facts.isRestamped = isRestamped
        try opened.insert(window, isRestamped ? [2] : [])
        let sql = "SELECT count FROM tally WHERE outcome = '\(LedgerOutcome.droppedDuplicate)' AND series = 3"
        #expect(try opened.store.value(sql) == 6)
        #expect(try opened.store.value("SELECT count(*) FROM window") == 0)
        opened.store.close()
    }
}
