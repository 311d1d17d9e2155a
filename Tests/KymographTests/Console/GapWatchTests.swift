import KymographCore
import Testing

@testable import Kymograph

/// Devices with gaps are found in the store, for the overview.
@Suite struct GapWatchTests {
    private static let now = DurableRehearsal.start.nanoseconds / 1_000_000_000
    private let scratch = Scratch()

    private func line(_ time: Int64, _ device: String) -> [UInt8] {
        let text = Instant(seconds: time).text
        return Array(
            #"{"deviceId":"\#(device)","type":"heartRate","timestamp":"\#(text)","value":70,"unit":"/min"}"#.utf8)
    }

    /// Readings of two hours, one each ten seconds, without those whose offsets `gap` has.
    private func times(without gap: Range<Int64>) -> [Int64] {
        (0..<720).map { $0 * 10 }.filter { !gap.contains($0) }.map { Self.now - 7_200 + $0 }
    }

    private func watch() -> GapWatch { GapWatch(directory: scratch.path) { "name of \($0.text)" } }

    private func search(
        _ round: GapWatch.Round = .init(), for time: Duration = .seconds(60), later: Int64 = 0
    ) throws -> GapWatch.Round {
        try watch().search(after: round, for: time, at: Instant(seconds: Self.now + later))
    }

    private func fill() throws {
        let set = try #require(PipelineRehearsal.reading)
        let devices: [(name: String, gap: Range<Int64>)] = [
            ("whole", 0..<0), ("small", 600..<1_200), ("large", 600..<3_000),
        ]
        let readings = devices.flatMap { device in times(without: device.gap).map { (time: $0, device: device.name) } }
        var run = try StoredRun(scratch.path, set: set)
        try run.take(readings.sorted { $0.time < $1.time }.map { line($0.time, $0.device) }, delivers: true)
        try run.end()
    }

    @Test func findsThoseWithGapsTheWorstFirst() throws {
        try fill()
        let round = try search()
        #expect(round.gaps.map(\.mask) == ["name of large", "name of small"])
        #expect(round.gaps.map(\.missing) == [240, 60])
        #expect(round.gaps.map(\.accepted) == [480, 660])
        #expect(round.gaps.map(\.types) == [["heartRate"], ["heartRate"]])
        // The series leads to the device's timeline.
        let reader = try StoreReader(directory: scratch.path)
        #expect(try reader.subject(ofSeries: round.gaps[0].series)?.device == "large")
    }

    /// One that has fallen silent has a gap, too.
    @Test func silenceIsAGap() throws {
        try fill()
        #expect(try search(later: 600).gaps.contains { $0.mask == "name of whole" && (55...61).contains($0.missing) })
    }

    @Test func goesOnWhereTheTimeWasOver() throws {
        try fill()
        let former = try search()
        let again = try search(former, for: .seconds(-1))
        #expect(again.gaps == former.gaps && again.place == former.place)
        var gone = GapWatch.Round(place: 2)
        gone.looks["name of nobody"] = GapWatch.Look(
            mark: .init(), time: Instant(seconds: 0),
            gap: .init(series: 9, mask: "gone", types: [], missing: 9, accepted: 9))
        #expect(try search(gone).gaps == former.gaps)
    }

    /// Of a device of which nothing has come since, what was found holds for a while; then its silence is looked at.
    @Test func whatHasNotChangedIsNotLookedAtAgain() throws {
        try fill()
        var former = try search()
        for device in former.looks.keys { former.looks[device]?.gap?.mask = "as it was" }
        #expect(try search(former, later: 599).gaps.allSatisfy { $0.mask == "as it was" })
        #expect(try search(former, later: 600).gaps.allSatisfy { $0.mask.hasPrefix("name of") })
        former.looks["small"]?.mark.readings -= 1
        #expect(try search(former).gaps.map(\.mask) == ["as it was", "name of small"])
        // The hours without any reading are the same for an hour.
        let look = GapWatch.Look(mark: .init(), time: Instant(seconds: 0))
        #expect(look.holds(.init(), at: Instant(seconds: 3_599)) && !look.holds(.init(), at: Instant(seconds: 3_600)))
        // The clock was set back.
        #expect(!look.holds(.init(), at: Instant(seconds: -1)))
    }

    /// What is in open windows is known, and read once for all devices.
    @Test func openWindowsAreLookedAtToo() throws {
        try fill()
        var run = try StoredRun(scratch.path, set: try #require(PipelineRehearsal.reading))
        try run.take((0..<6).map { line(Self.now + $0 * 10, "whole") }, delivers: false)
        let reader = try StoreReader(directory: scratch.path)
        let (from, now) = (Instant(seconds: Self.now - 7_200), Instant(seconds: Self.now + 60))
        let (open, mark) = try reader.withTimelines(of: ["whole", "large"]) { batch in
            let query = TimelineQuery(device: "whole", patient: nil, from: from, to: now, now: now)
            return (try batch.timeline(query), try batch.mark(of: "whole", from: from, to: now))
        }
        #expect(open.series.map(\.open) == [6] && open.series.flatMap(\.missing).reduce(0, +) == 0)
        #expect(mark.open == 6 && mark.last == (Self.now + 50) * 1_000_000_000)
        let round = try search(later: 60)
        #expect(round.devices == 3 && round.looks.count == 3 && !round.isCut && round.gaps.count == 2)
        try run.end()
    }

    @Test func withoutAStoreThereAreNone() throws {
        #expect(throws: PipelineError.self) { try search() }
        #expect(watch().latest().gaps.isEmpty)
    }
}
