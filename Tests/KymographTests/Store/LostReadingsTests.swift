import GRDB
@testable import Kymograph
import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// What was acknowledged and is gone is counted as lost; nothing else is, and no count is below zero.
@Suite struct LostReadingsTests {
    static let rounds = Trials.isTorture ? 120 : 20

    /// A store with `count` readings, which are durable, and its files at half of them.
    struct Image {
        var files: DamagedFiles
        var older: DamagedFiles
        var acknowledged: Int
    }

    static func image(_ set: MappingSet, isKilled: Bool, count: Int) throws -> Image {
        let scratch = Scratch(inMemory: true)
        let lines = Array(BitRotTests.early.prefix(count))
        var run = try StoredRun(scratch.path, set: set)
        try run.take(Array(lines.prefix(count / 2)), delivers: !isKilled)
        let older = DamagedFiles(withMarkOf: scratch.path)
        try run.take(Array(lines.suffix(from: count / 2)), delivers: !isKilled)
        if !isKilled { try run.end() }
        let files = DamagedFiles(withMarkOf: scratch.path)
        if isKilled { run.store.close() }
        return Image(files: files, older: older, acknowledged: count)
    }

    /// Catches a repair that is silent, a loss that nobody counts, and counts below zero. Each damage of a seed is
    /// followed by starts until one goes well, as a supervisor would have it, and by `kymo ledger --verify`.
    @Test func whatIsGoneIsCounted() throws {
        let set = try #require(PipelineRehearsal.reading)
        var losses = 0
        for seed in Trials.seeds(Self.rounds, from: 0) {
            var generator = SeededGenerator(seed: seed)
            let count = Int.random(in: 60...500, using: &generator)
            let image = try Self.image(set, isKilled: seed % 3 != 0, count: count)
            var files = image.files
            files.lose(image.older, &generator)
            let scratch = Scratch(inMemory: true)
            files.write(to: scratch.path)
            let end = try Self.restart(scratch.path, set)
            let story = "seed \(seed): \(files.story), \(end)"
            let gone = max(0, image.acknowledged - end.present)
            if gone > 0 { losses += 1 }
            #expect(end.balance.lost == gone && !end.balance.isLostAtLeast, "\(gone) are gone; \(story)")
            #expect(
                gone == 0 || end.notes.contains { $0.contains("\(gone) readings that were acknowledged") }, "\(story)")
            #expect(end.differences.isEmpty == (gone == 0), "\(gone) are gone; \(story)")
            #expect(Self.isSound(end.balance), "\(story)")
        }
        #expect(losses > Self.rounds / 5, "\(losses) losses")
    }

    /// Without the mark nobody may know how many they were: then the count says so, and is not below zero.
    @Test func withoutTheMark() throws {
        let set = try #require(PipelineRehearsal.reading)
        let image = try Self.image(set, isKilled: false, count: 300)
        var files = image.files
        files.files["kymo.mark"] = nil
        files.files["kymo.sqlite"]?[100] ^= 1
        let scratch = Scratch(inMemory: true)
        files.write(to: scratch.path)
        let end = try Self.restart(scratch.path, set)
        #expect(end.balance.isLostAtLeast && Self.isSound(end.balance), "\(end)")
        #expect(end.notes.contains { $0.contains("an unknown number of readings") }, "\(end)")
        #expect(!end.differences.isEmpty)
    }

    /// A store that was killed, and is whole, has lost nothing: a mark that ran ahead of the database would say so.
    @Test func healthyStores() throws {
        let set = try #require(PipelineRehearsal.reading)
        for count in stride(from: 25, through: 425, by: 80) {
            let image = try Self.image(set, isKilled: true, count: count)
            let scratch = Scratch(inMemory: true)
            image.files.write(to: scratch.path)
            let end = try Self.restart(scratch.path, set)
            #expect(end.balance.lost == 0 && end.differences.isEmpty && end.present == count, "\(end)")
            #expect(!end.notes.contains { $0.contains("lost") }, "\(end.notes)")
        }
    }

    // MARK: Starts

    /// What starts have made of a damaged store.
    struct End {
        var balance = LedgerBalance()
        var differences: [String] = []
        var notes: [String] = []
        /// Readings that are still there, or that are counted as rejected.
        var present = 0
    }

    static func restart(_ path: String, _ set: MappingSet) throws -> End {
        var end = End()
        for _ in 0..<4 {
            do {
                try start(path, set, &end)
                return end
            } catch {
                end.notes.append("\(error)")
            }
        }
        Issue.record("four starts were not enough: \(end.notes)")
        return end
    }

    private static func start(_ path: String, _ set: MappingSet, _ end: inout End) throws {
        let notes = NoteList()
        defer { end.notes += notes.all }
        var run = try StoredRun(path, set: set)
        run.store.watch.begin(note: notes.take) { notes.add($0.message) }
        do throws(StoreError) {
            try run.take([], delivers: true)
            try run.end()
        } catch {
            run.store.close()
            throw error
        }
        let reader = try StoreReader(directory: path)
        end.differences = try reader.verifyLedger(isRunning: false) { _ in }.differences
        end.balance = try reader.ledger(ArchiveFilter(), isRunning: false).balance
        let windows = try reader.windows(ArchiveFilter(), limit: 10_000)
        var present = 0
        for window in windows { _ = window.forEachReading { _, _ in present += 1 } }
        // A reading that was rejected is kept as a letter; the ones of a window that has gone are not.
        end.present = present + end.balance.rejected.values.reduce(0, +)
    }

    static func isSound(_ balance: LedgerBalance) -> Bool {
        let parts = [
            balance.accepted, balance.duplicate, balance.conflict, balance.open, balance.onTheWay, balance.lost,
        ]
        let counts = parts + balance.rejected.values
        return counts.allSatisfy { $0 >= 0 } && balance.received == counts.reduce(0, +)
    }
}
