import CommandSupport
@testable import Kymograph
import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// An hour of readings gives the same Observations in whatever order, how often and across how many restarts it comes.
///
/// What this must catch: in ``StoredArchive/load(series:windowStart:into:)``, let windows of an earlier run be absent
/// (`guard wasRecent else { return .absent }`), and a late reading after a restart replaces the full Observation by a
/// partial one.
@Suite struct OrderAndRestartTests {
    /// `KYMO_TORTURE` asks for all 10,000.
    static let rounds = Trials.isTorture ? 10_000 : 20

    /// Little memory for closed windows: most must come back from the store.
    static let settings = WindowSettings(
        lateness: 30_000_000_000, idle: 0, limits: WindowLimits(archiveBytes: 4_000))

    @Test func anyOrderGivesTheSameContent() throws {
        let set = try #require(PipelineRehearsal.reading)
        let hour = RecordedHour.lines
        try #require(hour.count > 300)
        let sorted = try OrderAndRestartTests.run(set, hour, breaks: [])
        try #require(sorted.observations.count >= 12)
        for seed in Trials.seeds(OrderAndRestartTests.rounds) {
            var generator = SeededGenerator(seed: seed)
            let lines = OrderAndRestartTests.disturbed(hour, &generator)
            let breaks = (0..<Int.random(in: 1...4, using: &generator)).map { _ in
                Int.random(in: 0..<lines.count, using: &generator)
            }
            let found = try OrderAndRestartTests.run(set, lines, breaks: Set(breaks))
            let differences = found.differences(from: sorted, ignoring: ["status"])
            try #require(differences == [], "seed \(seed), breaks after \(breaks.sorted())")
        }
    }

    /// The property above can fail: a store that loses windows lets partial Observations replace full ones.
    @Test func aPartialThatReplacesAFullIsNoticed() throws {
        let set = try #require(PipelineRehearsal.reading)
        let sorted = try OrderAndRestartTests.run(set, RecordedHour.lines, breaks: [])
        var generator = SeededGenerator(seed: Trials.seed(1))
        let lines = RecordedHour.lines.shuffled(using: &generator)
        let found = try OrderAndRestartTests.run(
            set, lines, breaks: [lines.count / 2], store: MemoryShardStore(forgets: true))
        #expect(found.differences(from: sorted, ignoring: ["status"]).contains { $0.contains("component") })
    }

    /// Delays some of `lines`, by little or by much, and sends some twice; every fourth time all are shuffled.
    static func disturbed(_ lines: [[UInt8]], _ generator: inout SeededGenerator) -> [[UInt8]] {
        if Int.random(in: 0..<4, using: &generator) == 0 { return lines.shuffled(using: &generator) }
        let most = [5, 60, lines.count].randomElement(using: &generator) ?? 5
        var placed: [(place: Int, line: [UInt8])] = []
        for (number, line) in lines.enumerated() {
            let isLate = Int.random(in: 0..<5, using: &generator) == 0
            placed.append((number + (isLate ? Int.random(in: 0...most, using: &generator) : 0), line))
            guard Int.random(in: 0..<10, using: &generator) == 0 else { continue }
            placed.append((number + Int.random(in: 0...most, using: &generator), line))
        }
        return placed.enumerated().sorted { ($0.element.place, $0.offset) < ($1.element.place, $1.offset) }
            .map(\.element.line)
    }

    /// What a server has in the end, when the process dies and begins again after each line of `breaks`. A client sends
    /// again what was not handed over.
    static func run(
        _ set: MappingSet, _ lines: [[UInt8]], breaks: Set<Int>, store: MemoryShardStore = MemoryShardStore()
    ) throws -> BundleReader {
        var durable = 0
        var rest = breaks
        while durable < lines.count {
            store.restart()
            var rehearsal = DurableRehearsal(
                set: set, store: store, settings: OrderAndRestartTests.settings)
            rehearsal.begin { store.replay(into: &$0) }
            var next = durable
            var isDead = false
            while next < lines.count, !isDead {
                rehearsal.take(lines[next])
                next += 1
                isDead = rest.remove(next) != nil
                guard !isDead, next % 16 == 0 || next == lines.count else { continue }
                rehearsal.handOver()
                durable = next
            }
            if durable == lines.count { rehearsal.drain() }
        }
        var reader = BundleReader()
        try reader.read(ndjson: store.output)
        return reader
    }
}

/// An hour of heart rates that a device has recorded, or one that is made when the recording is not there.
enum RecordedHour {
    static let lines: [[UInt8]] = recorded.count > 300 ? recorded : made

    private static let recorded: [[UInt8]] = {
        let root = SharedMaterial.environment["KYMO_SHARED"] ?? "../shared"
        return Files.read("\(root)/data/fitbit_hr.ndjson").split(separator: 0x0A).prefix(600).map(Array.init)
    }()

    private static let made: [[UInt8]] = (0..<600).map { number in
        let (minute, second) = (number / 10, number % 10 * 6)
        let time = "2026-03-01T08:\(minute < 10 ? "0" : "")\(minute):\(second < 10 ? "0" : "")\(second)Z"
        let line = """
            {"deviceId":"watch-1","type":"heartRate","timestamp":"\(time)","value":\(60 + number % 37),"unit":"/min"}
            """
        return Array(line.utf8)
    }
}
