import Foundation
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

    /// What a page makes of a slice.
    private struct Told: Decodable, Equatable {
        var id: Int
        var time: Int
        var series: [Int]
        var times: [Int]
        var values: [Double?]
        var isBeginning: Bool?
        var isPartial: Bool?

        /// Of each series the number and the milliseconds since 1970.
        var numbers: [Int] { WallForm.numbers(series) }
        var milliseconds: [Int] { WallForm.milliseconds(times, from: time * 1_000) }
    }

    private func told(_ answer: WallFeed.Answer) throws -> [Told] {
        try answer.slices.map { try JSONDecoder().decode(Told.self, from: Data($0)) }
    }

    private func opened() throws -> StoredRun {
        try StoredRun(scratch.path, set: try #require(PipelineRehearsal.reading))
    }

    /// Each reading is told once, of each series the latest with its value, to every page.
    @Test func whatIsNewIsToldOnce() throws {
        let feed = WallFeed(directory: scratch.path)
        var run = try opened()
        try run.take(
            [line(1, "a", "70"), line(2, "a", "71.5"), line(0, "a", "60"), line(1, "b", "80")], delivers: false)
        let (begin, time) = (ContinuousClock.now, WallClock.now())
        let first = try told(feed.answer(after: nil, now: begin, at: time))
        // What was there before the first look came at any time.
        #expect(first.map(\.id) == [1] && first[0].isBeginning == true)
        let reader = try StoreReader(directory: scratch.path)
        let found = try reader.newestReadings(after: nil, limit: 1_000)
        #expect(found.series.map(\.count) == [3, 1] && found.series.map(\.number) == first[0].numbers)
        #expect(first[0].time == Int(time.nanoseconds / 1_000_000_000) && first[0].isPartial == nil)
        #expect(first[0].milliseconds == [(Self.start - 58) * 1_000, (Self.start - 59) * 1_000].map { Int($0) })
        #expect(first[0].values == [71.5, 80])
        let names = try reader.series(numbers: first[0].numbers + [99])
        #expect(names.map(\.series.device) == ["a", "b"] && names.map(\.type) == ["heartRate", "heartRate"])
        #expect(names.map(\.unit) == ["/min", "/min"])

        try run.take([line(5, "b", "81")], delivers: false)
        // Another page asks before a second has passed: it gets what was found.
        #expect(try told(feed.answer(after: nil, now: begin + .milliseconds(500), at: time)) == first)
        #expect(try told(feed.answer(after: 1, now: begin + .milliseconds(500), at: time)).isEmpty)
        let second = try told(feed.answer(after: 1, now: begin + .seconds(1), at: time))
        #expect(second.map(\.id) == [2] && second[0].isBeginning == nil)
        // Of the one that has sent, and of no other.
        #expect(second[0].numbers == [first[0].numbers[1]] && second[0].values == [81])
        #expect(try reader.newestReadings(after: found.through, limit: 1_000).series.map(\.count) == [1])
        #expect(try told(feed.answer(after: nil, now: begin + .seconds(1), at: time)) == first + second)
        // What a page has of another run is none of this one.
        #expect(try told(feed.answer(after: 7_000, now: begin + .seconds(1), at: time)) == first + second)
        let later = try told(feed.answer(after: 2, now: begin + .seconds(60), at: time))
        #expect(later.map(\.id) == [3] && later[0].isBeginning == true && later[0].values == [71.5, 81])
        try run.end()
    }

    /// All pages get the bytes of one rendering, and not each a copy.
    @Test func pagesShareOneRendering() throws {
        let feed = WallFeed(directory: scratch.path)
        var run = try opened()
        try run.take([line(1, "a", "70")], delivers: false)
        let (begin, time) = (ContinuousClock.now, WallClock.now())
        let answers = try (0..<2).map { _ in try feed.answer(after: nil, now: begin, at: time) }
        #expect(answers[0].slices == answers[1].slices && answers[0].slices[0].place == answers[1].slices[0].place)
        try run.end()
    }

    /// A page that comes later gets the same bytes as one that was there, though they are kept in fewer.
    @Test func olderLooksAreKeptPackedAndToldAsTheyWere() throws {
        let feed = WallFeed(directory: scratch.path)
        var run = try opened()
        let (begin, time) = (ContinuousClock.now, WallClock.now())
        var live: [[UInt8]] = []
        for second in 0..<3 {
            try run.take((0..<1_000).map { line(Int64(second), "bed-\($0)", "\(60 + $0 % 40)") }, delivers: false)
            let former = second == 0 ? nil : second
            live += try feed.answer(after: former, now: begin + .seconds(second), at: time).slices
        }
        #expect(live.count == 3 && live.allSatisfy { $0.count > 4_096 })
        #expect(try feed.answer(after: nil, now: begin + .seconds(2), at: time).slices == live)
        // The newest is kept as it is, since all pages are about to ask for it.
        #expect(feed.heldBytes - live[2].count < (live[0].count + live[1].count) / 2)
        try run.end()
    }

    /// A minute that is more than an answer has room for comes in parts, each of which goes on behind the former.
    @Test func aLongMinuteComesInParts() throws {
        let feed = WallFeed(directory: scratch.path, mostBytes: 1)
        var run = try opened()
        let (begin, time) = (ContinuousClock.now, WallClock.now())
        for second in 0..<3 {
            try run.take([line(Int64(second), "a", "7\(second)")], delivers: false)
            _ = try feed.answer(after: nil, now: begin + .seconds(second), at: time)
        }
        var (parts, former): ([Told], Int?) = ([], nil)
        for number in 1...3 {
            let answer = try feed.answer(after: former, now: begin + .seconds(2), at: time)
            #expect(answer.slices.count == 1 && answer.isMore == (number < 3))
            parts += try told(answer)
            former = parts.last?.id
        }
        #expect(parts.map(\.id) == [1, 2, 3] && parts.map(\.values) == [[70], [71], [72]])
        try run.end()
    }

    /// The memory of a minute is freed when pages have gone, and not while one of them asks each second.
    @Test func aMinuteThatNobodyAsksForIsForgotten() throws {
        let feed = WallFeed(directory: scratch.path)
        var run = try opened()
        try run.take([line(1, "a", "70")], delivers: false)
        let (begin, time) = (ContinuousClock.now, WallClock.now())
        _ = try feed.answer(after: nil, now: begin, at: time)
        feed.forgetUnused(now: begin + .seconds(10))
        #expect(feed.heldBytes > 0)
        feed.forgetUnused(now: begin + .seconds(11))
        #expect(feed.heldBytes == 0)
        let again = try told(feed.answer(after: 1, now: begin + .seconds(12), at: time))
        #expect(again.map(\.id) == [2] && again[0].isBeginning == true && again[0].values == [70])
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
