import KymographCore
import Testing

@testable import Kymograph

/// What came of each series in each second.
@Suite struct WallFeedTests {
    private static let start = DurableRehearsal.start.nanoseconds / 1_000_000_000
    private let scratch = Scratch()

    private func line(_ second: Int64, _ device: String, _ value: String) -> [UInt8] {
        let time = Instant(seconds: Self.start - 60 + second).text
        return Array(
            #"{"deviceId":"\#(device)","type":"heartRate","timestamp":"\#(time)","value":\#(value),"unit":"/min"}"#.utf8
        )
    }

    /// Each reading is told once, of each series the latest with its value, to every page.
    @Test func whatIsNewIsToldOnce() throws {
        let feed = WallFeed(directory: scratch.path)
        var run = try StoredRun(scratch.path, set: try #require(PipelineRehearsal.reading))
        try run.take(
            [line(1, "a", "70"), line(2, "a", "71.5"), line(0, "a", "60"), line(1, "b", "80")], delivers: false)
        let (begin, time) = (ContinuousClock.now, WallClock.now())
        let first = try feed.slices(after: nil, now: begin, at: time)
        // What was there before the first look came at any time.
        #expect(first.map(\.id) == [1] && first[0].isBeginning && first[0].readings.map(\.count) == [3, 1])
        #expect(first[0].readings[0].last == Instant(seconds: Self.start - 58))
        #expect(first[0].readings.map(\.value) == [.init(mantissa: 715, exponent: -1), .init(mantissa: 80)])
        let names = try StoreReader(directory: scratch.path).series(numbers: first[0].readings.map(\.number) + [99])
        #expect(names.map(\.series.device) == ["a", "b"] && names.map(\.type) == ["heartRate", "heartRate"])

        try run.take([line(5, "b", "81")], delivers: false)
        // Another page asks before a second has passed: it gets what was found.
        #expect(try feed.slices(after: nil, now: begin + .milliseconds(500), at: time).map(\.id) == [1])
        #expect(try feed.slices(after: 1, now: begin + .milliseconds(500), at: time).isEmpty)
        let second = try feed.slices(after: 1, now: begin + .seconds(1), at: time)
        #expect(second.map(\.id) == [2] && !second[0].isBeginning && second[0].readings.map(\.count) == [1])
        #expect(try feed.slices(after: nil, now: begin + .seconds(1), at: time).map(\.id) == [1, 2])
        // What a page has of another run is none of this one.
        #expect(try feed.slices(after: 7_000, now: begin + .seconds(1), at: time).map(\.id) == [1, 2])
        let later = try feed.slices(after: 2, now: begin + .seconds(60), at: time)
        #expect(later.map(\.id) == [3] && later[0].isBeginning && later[0].readings.map(\.count) == [3, 2])
        try run.end()
    }

    /// A number that is 0 is told as 0, and not as one that is missing.
    @Test func zeroIsANumber() throws {
        var run = try StoredRun(scratch.path, set: try #require(PipelineRehearsal.reading))
        try run.take([line(1, "a", "0"), line(1, "b", "70"), line(2, "b", "0")], delivers: false)
        let found = try StoreReader(directory: scratch.path).newestReadings(after: nil, limit: 1_000)
        #expect(found.series.map(\.count) == [1, 2])
        #expect(found.series.map(\.value) == [.init(mantissa: 0), .init(mantissa: 0)])
        try run.end()
    }

    @Test func ofManyTheNewestAreTold() throws {
        var run = try StoredRun(scratch.path, set: try #require(PipelineRehearsal.reading))
        try run.take((0..<50).map { line($0, "a", "70") }, delivers: false)
        let reader = try StoreReader(directory: scratch.path)
        let all = try reader.newestReadings(after: nil, limit: 1_000)
        #expect(all.series.map(\.count) == [50] && !all.isPartial && all.through > 0)
        let some = try reader.newestReadings(after: nil, limit: 25)
        #expect(some.isPartial && some.through == all.through && some.series.map(\.last) == all.series.map(\.last))
        #expect((1...25).contains(some.series[0].count))
        let none = try reader.newestReadings(after: all.through, limit: 1_000)
        #expect(none.series.isEmpty && none.through == all.through && !none.isPartial)
        try run.end()
    }
}
