@testable import KymographCore
@testable import KymographTemplates
import Testing
import TrialSupport

@Suite struct SeriesTests {
    @Test func gridFollowsTheDataAndMarksHoles() throws {
        let pipeline = try TestPipeline(TestTemplates.heartRate)
        var window = TestWindow()
        for (at, value) in [(5, "60"), (10, "61.0"), (20, "62")] { window.add(Int64(at) * second, [0: value]) }
        let series = try #require(try pipeline.observation(window)["component.3.valueSampledData"])
        #expect(series.text("period") == "5000")
        #expect(series.text("dimensions") == "1")
        #expect(series.text("data") == "60 61.0 E 62")
        #expect(series.text("origin.value") == "0")
        #expect(series.text("origin.code") == "/min")
    }

    @Test func periodKeepsFractionsOfMilliseconds() throws {
        let pipeline = try TestPipeline(TestTemplates.heartRate)
        var window = TestWindow()
        for index in 0..<3 { window.add(Int64(index) * 2_500_500, [0: "6\(index)"]) }
        let series = try #require(try pipeline.observation(window)["component.3.valueSampledData"])
        #expect(series.text("period") == "2.5005")
        #expect(series.text("data") == "60 61 62")
    }

    @Test func irregularSeriesKeepsEveryTime() throws {
        let pipeline = try TestPipeline(TestTemplates.heartRate)
        var window = TestWindow()
        let times: [Int64] = [1_003, 7_919, 20_011, 31_337, 59_999]
        for (index, time) in times.enumerated() { window.add(time * 1_000_000, [0: "\(60 + index)"]) }
        let observation = try pipeline.observation(window)
        let series = try #require(observation["component.3.valueSampledData"])
        #expect(series.text("data") == "60 61 62 63 64")
        #expect(series.text("extension.1.valueString") == "0 6916 19008 30334 58996")
        #expect(series.text("period") == "14749")
        #expect(try decodeSeries(series, start: times[0] * 1_000_000) == times.map { $0 * 1_000_000 })
    }

    @Test(arguments: [
        ("latest", "3 E 5"), ("min", "1 E 4"), ("max", "3 E 5"), ("mean", "2.0 E 4.5"), ("sum", "6 E 9"),
    ])
    func fixedPeriodCondensesByPolicy(policy: String, data: String) throws {
        let pipeline = try TestPipeline(
            TestTemplates.sampled.replacing("\"unit\":\"mV\"", with: "\"unit\":\"mV\",\"collision\":\"\(policy)\""))
        var window = TestWindow(seconds: 3600)
        for (time, value) in [(0, "1"), (300, "2"), (900, "3"), (2100, "4"), (2200, "5")] {
            window.add(Int64(time) * 1_000_000, [0: value])
        }
        let (text, outcome) = pipeline.text(window)
        let observation = try TextJSON.parse(text)
        #expect(outcome == .written(condensedValues: 3))
        #expect(observation.text("valueSampledData.data") == data)
        #expect(observation.text("valueSampledData.period") == "1000")
        #expect(observation.text("effectivePeriod.end") == "2024-05-01T10:00:02.200Z")
    }

    @Test func oneSampleStillHasAPeriod() throws {
        let pipeline = try TestPipeline(TestTemplates.sampled)
        var window = TestWindow(seconds: 3600)
        window.add(second, [0: "0.42"])
        let observation = try pipeline.observation(window)
        #expect(observation.text("effectivePeriod.start") == "2024-05-01T10:00:01Z")
        #expect(observation.text("effectivePeriod.end") == "2024-05-01T10:00:01Z")
        #expect(observation.text("valueSampledData.data") == "0.42")
    }

    @Test func refusesAGridBeyondTheCap() throws {
        let pipeline = try TestPipeline(TestTemplates.sampled.replacing("1000", with: "0.001"))
        var window = TestWindow(seconds: 3600)
        window.add(0, [0: "1"])
        window.add(3000 * second, [0: "2"])
        #expect(pipeline.text(window).outcome == .skipped(.valueTooLong))
    }

    @Test(
        arguments: [
            (Int64.min + 2, Int64.max, false), (.min / 2, .max / 2 + 1, false), (0, .max - 1, true), (0, 2, true),
        ] as [(Int64, Int64, Bool)])
    func readingsCenturiesApartDoNotTrap(first: Int64, last: Int64, isWritten: Bool) throws {
        let pipeline = try TestPipeline(TestTemplates.heartRate.replacing("\"1m\"", with: "\"correlation\""))
        var window = TestWindow(correlation: "c", start: 0, seconds: 0)
        window.add(first, [0: "60"])
        window.add(first + 1, [0: "61"])
        window.add(last, [0: "62"])
        let (text, outcome) = pipeline.text(window)
        #expect(outcome == .written(condensedValues: 0))
        // What the readings have in common is written without their series, too.
        let components = try TextJSON.parse(text).member("component")
        let series = try #require(components?.elements?.last)
        #expect(series.text("code.coding.0.code") == "149530")
        #expect(series.text("dataAbsentReason.coding.0.code") == (isWritten ? nil : "error"))
        #expect((series.member("valueSampledData") != nil) == isWritten)
    }

    @Test(arguments: Trials.seeds(60)) func decodedSeriesIsTheReadings(seed: UInt64) throws {
        var random = SeriesRandom(seed: seed)
        let pipeline = try TestPipeline(
            TestTemplates.heartRate.replacing("\"covered\"", with: seed % 2 == 0 ? "\"covered\"" : "\"window\""))
        let unit = [1, 1_000, 1_000_000, 250_000_000, second].randomElement(using: &random) ?? second
        let times = Set(
            (0..<Int.random(in: 2...40, using: &random)).map { _ in
                Int64.random(in: 0..<(60 * second), using: &random) / unit * unit
            }
        ).sorted()
        var window = TestWindow()
        var values: [String] = []
        for time in times {
            values.append("\(Int.random(in: 30...220, using: &random)).\(Int.random(in: 0...99, using: &random))")
            window.add(time, [0: values[values.count - 1]])
        }
        guard times.count > 1 else { return }
        let observation = try pipeline.observation(window)
        let series = try #require(observation["component.3.valueSampledData"], "seed \(seed)")
        let start = observation.text("effectivePeriod.start") == "2024-05-01T10:00:00Z" ? 0 : times[0]
        #expect(try decodeSeries(series, start: start) == times, "seed \(seed)")
        let data = (series.text("data") ?? "").split(separator: " ").filter { $0 != "E" }.map(String.init)
        #expect(data == values, "seed \(seed)")
    }
}

/// The times (nanoseconds) of the values of `series`, whose first sample is at `start`.
private func decodeSeries(_ series: JSONNode, start: Int64) throws -> [Int64] {
    if let offsets = series.text("extension.1.valueString") {
        return try offsets.split(separator: " ").map { start + (try milliseconds($0)) }
    }
    let period = try milliseconds(Substring(try #require(series.text("period"))))
    let tokens = try #require(series.text("data")).split(separator: " ")
    return tokens.indices.filter { tokens[$0] != "E" }.map { start + Int64($0) * period }
}

/// Nanoseconds of a decimal number of milliseconds.
private func milliseconds(_ text: Substring) throws -> Int64 {
    let parts = text.split(separator: ".")
    let fraction = parts.count == 2 ? String(parts[1]) : ""
    let digits = parts[0] + fraction + String(repeating: "0", count: 6 - fraction.count)
    return try #require(Int64(digits))
}

/// SplitMix64, so that a failing seed repeats.
private struct SeriesRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
