import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// Decoding our own SampledData and Statistics gives back every reading; what is missing is what was counted.
@Suite struct SeriesRoundTripTests {
    @Test(arguments: Trials.seeds(tenthOf: 400)) func everyReadingComesBackOrIsCounted(seed: UInt64) throws {
        let plan = SeriesTrial(seed: seed)
        let pipeline = try TestPipeline(plan.template(compact: plan.isCompact))
        let (text, outcome) = pipeline.text(plan.window)
        let series = try #require(try decoded(text).first, "seed \(seed): \(text)")
        let expected = plan.expected
        #expect(series.values.map(\.number) == expected.map(\.number), "seed \(seed): \(text)")
        #expect(series.values.map(\.instant.nanoseconds) == expected.map(\.instant), "seed \(seed): \(text)")
        let lost = plan.readings.count - series.values.count - series.samples.count(where: { $0.value.isBeyondLimit })
        #expect(outcome == .written(condensedValues: lost), "seed \(seed): \(text)")
        let marks = Set(series.samples.filter(\.value.isBeyondLimit).map(\.instant.nanoseconds))
        #expect(marks == Set(plan.beyondLimits), "seed \(seed): \(text)")
        if plan.period == nil { #expect(lost == 0) }
    }

    /// The compact form has the same values and times, digits included, and is never longer.
    @Test(arguments: Trials.seeds(tenthOf: 200)) func compactChangesNothingButTheLength(seed: UInt64) throws {
        var plan = SeriesTrial(seed: seed)
        plan.limits = ""
        let plain = try TestPipeline(plan.template(compact: false)).text(plan.window)
        let compact = try TestPipeline(plan.template(compact: true)).text(plan.window)
        #expect(try decoded(plain.text) == decoded(compact.text), "seed \(seed): \(compact.text)")
        #expect(plain.outcome == compact.outcome)
        #expect(compact.text.utf8.count <= plain.text.utf8.count, "seed \(seed): \(compact.text)")
    }

    /// The mean has one digit more than the readings, rounded half to even.
    @Test(arguments: [
        (["1", "2"], "1.5"), (["0.1", "0.2", "0.2"], "0.17"), (["1.00", "2"], "1.500"),
        (["0.5", "0.5", "0.6", "0.5"], "0.52"),
        (["0.5", "0.6", "0.6", "0.6"], "0.58"), (["-1", "-2"], "-1.5"), (["3", "3", "3"], "3.0"),
    ])
    func meansAreRoundedHalfToEven(numbers: [String], mean: String) throws {
        var trial = SeriesTrial(seed: 1)
        trial.isStatistics = false
        trial.policy = "mean"
        trial.period = second
        trial.limits = ""
        trial.readings = numbers.enumerated().map { (Int64($0.offset) * 1_000_000, signed($0.element)) }
        let (text, outcome) = try TestPipeline(trial.template(compact: false)).text(trial.window)
        #expect(try TextJSON.parse(text).text("valueSampledData.data") == mean)
        #expect(outcome == .written(condensedValues: numbers.count - 1))
    }

    private func decoded(_ text: String) throws -> [SeriesDecoder.Series] {
        try SeriesDecoder.series(of: JSONTree(parsing: Array(text.utf8)))
    }
}

/// What the decoder reads besides our own output.
@Suite struct SeriesDecoderTests {
    private func samples(_ json: String) throws -> [SeriesDecoder.Sample] {
        try SeriesDecoder.samples(JSONTree(parsing: Array(json.utf8)), start: Instant(nanoseconds: 0))
    }

    @Test func readsSeveralDimensions() throws {
        let found = try samples(
            #"{"origin":{"value":1.0},"period":4,"factor":0.5,"dimensions":2,"data":"0 1 E 2 L U"}"#)
        #expect(found.map(\.instant.nanoseconds) == [0, 0, 4_000_000, 4_000_000, 8_000_000, 8_000_000])
        #expect(found.map(\.dimension) == [0, 1, 0, 1, 0, 1])
        let numbers: [SeriesDecoder.Value] = [
            .number(decimal("1.0")), .number(decimal("1.5")), .missing, .number(decimal("2.0")), .belowLimit,
            .aboveLimit,
        ]
        #expect(found.map(\.value) == numbers)
    }

    @Test(arguments: [
        #""interval":2,"intervalUnit":"s""#, #""offsets":"0 2","intervalUnit":"s""#, #""period":2000"#,
    ])
    func readsEveryWayToSayWhen(times: String) throws {
        let found = try samples(#"{"origin":{"value":0},\#(times),"dimensions":1,"data":"7 8"}"#)
        #expect(found.map(\.instant.nanoseconds) == [0, 2 * second])
    }

    @Test(arguments: [
        #"{"origin":{"value":0},"period":1,"dimensions":2,"data":"1 2 3"}"#, #"{"period":1,"dimensions":1,"data":"1"}"#,
        #"{"origin":{"value":0},"dimensions":1,"data":"1"}"#,
        #"{"origin":{"value":0},"period":1,"dimensions":1,"data":"x"}"#,
        #"{"origin":{"value":0},"intervalUnit":"week","interval":1,"dimensions":1,"data":"1"}"#,
        #"{"origin":{"value":0},"intervalUnit":"s","offsets":"0","dimensions":1,"data":"1 2"}"#,
        #"{"origin":{"value":0},"period":1,"dimensions":1,"data":"1  2"}"#,
    ])
    func refusesWhatFHIRDoesNotDefine(json: String) throws {
        #expect(throws: SeriesDecoderError.self) { try samples(json) }
    }
}

extension SeriesDecoder.Value {
    var isBeyondLimit: Bool { self == .belowLimit || self == .aboveLimit }
}
