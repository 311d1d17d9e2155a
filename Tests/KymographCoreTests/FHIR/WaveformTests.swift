@testable import KymographCore
@testable import KymographTemplates
import KymographTestKit
import Testing
import TrialSupport

/// Arrays of samples as SampledData.
@Suite struct WaveformTests {
    private static func template(_ value: String, period: String = "instance") -> String {
        """
        {"typeName":"ecg","period":"\(period)","codes":[{"system":"urn:iso:std:iso:11073:10101","code":"131328"}],
         "value":{"valueType":"SampledData","unit":"mV","code":"mV",\(value)}}
        """
    }

    private let twoNames = template("\"valueNames\":[\"I\",\"II\"],\"rateName\":\"rate\",\"defaultPeriod\":4")

    private func series(_ pipeline: TestPipeline, _ window: borrowing TestWindow) throws -> JSONNode {
        let observation = try pipeline.observation(window)
        return try #require(observation.member("valueSampledData"))
    }

    /// Decoding gives back every sample of every signal at its time; what is missing is what was counted.
    @Test(arguments: Trials.seeds(300)) func everySampleComesBackOrIsCounted(seed: UInt64) throws {
        let trial = WaveformTrial(seed: seed)
        let (text, outcome) = try TestPipeline(trial.template).text(trial.window)
        #expect(outcome == .written(condensedValues: trial.overlapping), "seed \(seed)")
        let series = try #require(try SeriesDecoder.series(of: JSONTree(parsing: Array(text.utf8))).first)
        let start = TestWindow.tenOClock + trial.blocks[0].time * 1_000_000
        #expect(series.samples.count == trial.expected.count, "seed \(seed)")
        for (index, sample) in series.samples.enumerated() where index < trial.expected.count {
            let frame = Int64(index / trial.dimensions)
            let off = (sample.instant.nanoseconds - start) * trial.rate - frame * 1_000_000_000
            // Whole nanoseconds, and of 360 Hz a period of whole picoseconds.
            #expect(abs(off) <= 2 * trial.rate && sample.dimension == index % trial.dimensions, "seed \(seed)")
            let token = trial.expected[index]
            let value: SeriesDecoder.Value = token == "E" ? .missing : .number(signed(token))
            #expect(sample.value == value, "seed \(seed), token \(index)")
        }
    }

    @Test func signalsInArraysOfTheirOwn() throws {
        var window = TestWindow()
        window.add(0, [2: "500"], arrays: [0: ["1", "2", "3"], 1: ["-1", "E"]])
        let observation = try TestPipeline(twoNames).observation(window)
        #expect(observation.text("valueSampledData.period") == "2")
        #expect(observation.text("valueSampledData.dimensions") == "2")
        // The shorter array has no sample where the longer one has.
        #expect(observation.text("valueSampledData.data") == "1 -1 2 E 3 E")
        #expect(observation.text("effectivePeriod.start") == "2024-05-01T10:00:00Z")
        #expect(observation.text("effectivePeriod.end") == "2024-05-01T10:00:00.004Z")
    }

    @Test func aSignalThatTheReadingLacksIsE() throws {
        var window = TestWindow()
        window.add(0, [2: "500"], arrays: [1: ["7", "8"]])
        #expect(try series(TestPipeline(twoNames), window).text("data") == "E 7 E 8")
    }

    @Test func thePeriodOfTheTemplateCountsWhereTheReadingSaysNone() throws {
        var window = TestWindow()
        window.add(0, arrays: [0: ["1", "2"]])
        #expect(try series(TestPipeline(twoNames), window).text("period") == "4")
    }

    @Test(arguments: [
        ("1000", "1"), ("128", "7.8125"), ("360", "2.777777778"), ("0.1", "10000"), ("3", "333.333333333"),
        ("62.50", "16"),
    ])
    func samplesPerSecondGiveThePeriod(rate: String, period: String) throws {
        var window = TestWindow()
        window.add(0, [2: rate], arrays: [0: ["1", "2"]])
        #expect(try series(TestPipeline(twoNames), window).text("period") == period)
    }

    @Test func millisecondsGiveThePeriod() throws {
        var window = TestWindow()
        window.add(0, [1: "0.5"], arrays: [0: ["1", "2", "3"]])
        let pipeline = try TestPipeline(
            WaveformTests.template("\"valueName\":\"x\",\"dimensions\":1,\"periodName\":\"p\""))
        #expect(try series(pipeline, window).text("period") == "0.5")
        #expect(try pipeline.observation(window).text("effectivePeriod.end") == "2024-05-01T10:00:00.001Z")
    }

    @Test(arguments: ["0", "-500", "0.000001"]) func ratesThatGiveNoPeriodAreRefused(rate: String) throws {
        var window = TestWindow()
        window.add(0, [2: rate], arrays: [0: ["1", "2"]])
        #expect(try TestPipeline(twoNames).text(window).outcome == .skipped(.invalidValue))
    }

    @Test func originFactorAndLimitsAreWritten() throws {
        let pipeline = try TestPipeline(
            WaveformTests.template(
                "\"valueName\":\"x\",\"dimensions\":2,\"defaultPeriod\":4,\"origin\":-5,\"factor\":0.005,"
                    + "\"lowerLimit\":0,\"upperLimit\":4095"))
        var window = TestWindow()
        window.add(0, arrays: [0: ["0", "4095", "4096", "17"]])
        let found = try series(pipeline, window)
        #expect(found.text("origin.value") == "-5" && found.text("factor") == "0.005")
        #expect(found.text("data") == "0 4095 U 17")
        #expect(found.text("lowerLimit") == "0" && found.text("upperLimit") == "4095")
    }

    /// R5 has an interval in place of the period.
    @Test func intervalOfR5() throws {
        var pipeline = try TestPipeline(twoNames)
        pipeline.options.version = .r5
        var window = TestWindow()
        window.add(0, [2: "500"], arrays: [0: ["1", "2"], 1: ["3", "4"]])
        let found = try series(pipeline, window)
        #expect(found.text("interval") == "2" && found.text("intervalUnit") == "ms")
        #expect(found.text("data") == "1 3 2 4" && found.text("dimensions") == "2" && found.text("period") == nil)
    }

    /// Numbers alone are a series as ever, and beside arrays they are arrays of one.
    @Test func numbersAreSamplesToo() throws {
        let pipeline = try TestPipeline(
            WaveformTests.template("\"valueName\":\"x\",\"dimensions\":1,\"defaultPeriod\":4", period: "1m"))
        var numbers = TestWindow()
        numbers.add(0, [0: "1"])
        numbers.add(8_000_000, [0: "2"])
        #expect(try series(pipeline, numbers).text("data") == "1 E 2")
        var mixed = TestWindow()
        mixed.add(0, arrays: [0: ["1", "2"]])
        mixed.add(12_000_000, [0: "3"])
        #expect(try series(pipeline, mixed).text("data") == "1 2 E 3")
    }

    /// Readings of two rates share the finer grid, and none of their samples is lost.
    @Test func readingsOfTwoRates() throws {
        let pipeline = try TestPipeline(twoNames.replacing("instance", with: "1m"))
        var window = TestWindow()
        window.add(0, [2: "250"], arrays: [0: ["1", "2"], 1: ["3", "4"]])
        window.add(8_000_000, [2: "500"], arrays: [0: ["5", "6"], 1: ["7", "8"]])
        let found = try series(pipeline, window)
        #expect(found.text("period") == "2")
        #expect(found.text("data") == "1 3 E E 2 4 E E 5 7 6 8")
    }

    @Test func readingsWithoutAKnownRateAreCounted() throws {
        let pipeline = try TestPipeline(
            twoNames.replacing("instance", with: "1m").replacing(",\"defaultPeriod\":4", with: ""))
        var window = TestWindow()
        window.add(0, [2: "500"], arrays: [0: ["1", "2"]])
        window.add(4_000_000, arrays: [0: ["3", "4"]])
        window.add(8_000_000, [2: "500"], texts: [0: "NaN"])
        var encoder = pipeline.encoder()
        var writer = ByteWriter()
        #expect(window.withContent { encoder.encode($0, into: &writer) } == .written(condensedValues: 0))
        #expect(encoder.losses.passedOver == 2)
        #expect(try TextJSON.parse(writer.view.string).text("valueSampledData.data") == "1 E 2 E")
    }

    /// A text in place of the array is the reason why there is none.
    @Test func aTextInPlaceOfTheArray() throws {
        let pipeline = try TestPipeline(
            WaveformTests.template("\"valueName\":\"x\",\"dimensions\":1,\"defaultPeriod\":4,\"absent\":true"))
        #expect(!pipeline.types[0].isNumeric[0])
        var window = TestWindow()
        window.add(0, texts: [0: "NaN"])
        let observation = try pipeline.observation(window)
        #expect(observation.text("dataAbsentReason.coding.0.code") == "not-a-number")
        var other = TestWindow()
        other.add(0, arrays: [0: ["1", "2"]])
        #expect(try series(pipeline, other).text("data") == "1 2")
    }

    /// A reading with a length begins with it.
    @Test func theFirstSampleIsAtTheStartOfTheReading() throws {
        var pipeline = try TestPipeline(twoNames, durationSlot: 3)
        pipeline.types[0].valueNames.append("(length)")
        var window = TestWindow()
        window.add(second, [2: "500", 3: "6000000"], arrays: [0: ["1", "2", "3", "4"]])
        let observation = try pipeline.observation(window)
        #expect(observation.text("effectivePeriod.start") == "2024-05-01T10:00:00.994Z")
        #expect(observation.text("effectivePeriod.end") == "2024-05-01T10:00:01Z")
    }

    @Test func aSeriesBeyondTheCapIsRefused() throws {
        let pipeline = try TestPipeline(twoNames.replacing("instance", with: "1h"))
        var window = TestWindow(seconds: 3_600)
        window.add(0, [2: "500"], arrays: [0: ["1"]])
        window.add(1_500 * second, [2: "500"], arrays: [0: ["2"]])
        #expect(pipeline.text(window).outcome == .skipped(.valueTooLong))
    }
}
