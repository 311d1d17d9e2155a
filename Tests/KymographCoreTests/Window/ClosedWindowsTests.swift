@testable import KymographCore
import Testing
import TrialSupport

/// Closed windows on their way to a store, against a list of what was added.
@Suite struct ClosedWindowsTests {
    private struct Expected {
        var series: Int
        var start: Instant
        var journal: Int64
        var block: [UInt8]
        /// Sources of rejected readings, by which they are told apart.
        var rejected: [UInt8]
    }

    /// Whatever is added, and however many are taken out from time to time, each window keeps its own block and
    /// rejections, and what waits says what it needs of the journal.
    @Test func eachWindowKeepsWhatIsItsOwn() {
        for seed in Trials.seeds(100) {
            var random = WindowRandom(seed: seed)
            var waiting = ClosedWindows()
            var expected: [Expected] = []
            for _ in 0..<60 {
                for _ in 0..<random.int(0...8) {
                    let next = Self.next(&random)
                    Self.append(next, to: &waiting)
                    expected.append(next)
                }
                let count = random.once(in: 3) ? expected.count : random.int(0...expected.count)
                let taken = waiting.takeFirst(count)
                Self.compare(taken, Array(expected.prefix(count)), seed)
                expected.removeFirst(count)
                Self.compare(waiting, expected, seed)
                #expect(waiting.needed == expected.map(\.journal).min() ?? .max, "seed \(seed)")
                Self.compareNewest(waiting, expected, seed)
            }
        }
    }

    private static func next(_ random: inout WindowRandom) -> Expected {
        Expected(
            series: random.int(0...3), start: Instant(nanoseconds: Int64(random.int(0...2))),
            journal: Int64(random.int(1...1_000)),
            block: random.once(in: 4) ? [] : (0..<random.int(1...40)).map { _ in UInt8(random.int(0...255)) },
            rejected: random.once(in: 5) ? (0..<random.int(1...3)).map { _ in UInt8(random.int(0...15)) } : [])
    }

    private static func append(_ window: Expected, to waiting: inout ClosedWindows) {
        let facts = WindowFacts(
            end: window.start, firstReading: window.start, lastReading: window.start, readings: .init(repeating: 0),
            duplicates: 0, conflicts: 0, journal: window.journal)
        let closed = ClosedWindow(
            series: window.series, start: window.start, facts: facts,
            through: JournalPlace(block: window.journal, index: 0))
        let rejections = window.rejected.map { KeptRejection(reading: rejected($0), payload: []) }
        window.block.withByteView { waiting.append(closed, block: $0, rejections: rejections) }
    }

    private static func rejected(_ mark: UInt8) -> RejectedReading {
        var reading = Measurement(instant: Instant(nanoseconds: 0), received: Instant(nanoseconds: 0))
        reading.mark = mark
        return RejectedReading(
            reason: .tooManyDevices, measurement: reading, identity: SeriesIdentity(type: 0, device: [1]), series: 0,
            isInWindow: true)
    }

    private static func compare(_ windows: ClosedWindows, _ expected: [Expected], _ seed: UInt64) {
        guard windows.count == expected.count else { return #expect(Bool(false), "count, seed \(seed)") }
        var bytes = 0
        for place in 0..<windows.count {
            let (window, other) = (windows[place], expected[place])
            #expect(window.series == other.series && window.start == other.start, "seed \(seed)")
            #expect(window.hasBlock == !other.block.isEmpty, "seed \(seed)")
            #expect(windows.withBlock(of: window) { $0.array } == other.block, "seed \(seed)")
            #expect(windows.rejections(at: place).map(\.reading.measurement.mark) == other.rejected, "seed \(seed)")
            bytes += other.block.count + other.rejected.count * KeptRejection.byteCount
        }
        #expect(windows.isEmpty == expected.isEmpty && windows.byteCount >= bytes, "seed \(seed)")
    }

    private static func compareNewest(_ windows: ClosedWindows, _ expected: [Expected], _ seed: UInt64) {
        for series in 0..<4 {
            let start = Instant(nanoseconds: 1)
            let found = windows.newest(series: series, start: start).map { window in
                windows.withBlock(of: window) { $0.array }
            }
            let other = expected.last { $0.series == series && $0.start == start && !$0.block.isEmpty }
            #expect(found == other?.block, "seed \(seed)")
        }
    }

    /// What the archive had of a window is part of its facts, and nothing of an earlier one stays.
    @Test func factsKeepWhatTheArchiveHad() {
        var facts = WindowFacts.unread
        #expect(!facts.isRestored && facts.restored.isEmpty)
        facts.restored = (1...16).map { $0 }
        #expect(facts.isRestored && facts.restored == Array(1...16))
        facts.restored = [7]
        #expect(facts.restored == [7] + Array(repeating: 0, count: 15))
        facts.restored = []
        #expect(!facts.isRestored && facts.restored.isEmpty)
    }
}
