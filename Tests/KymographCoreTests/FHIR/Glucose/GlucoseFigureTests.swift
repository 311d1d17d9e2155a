import KymographCore
import KymographTemplates
import KymographTestKit
import Testing
import TrialSupport

/// The figures of a summary of glucose.
@Suite struct GlucoseFigureTests {
    private func number(_ node: JSONNode?) -> String? { GlucoseTrial.number(node) }

    private func observations(
        _ values: [String], _ unit: String = "mg/dL", every nanoseconds: Int64 = 5 * GlucoseTrial.minute
    ) throws -> [String: JSONNode] {
        try GlucoseTrial(unit).observations(GlucoseTrial.window(values, every: nanoseconds))
    }

    @Test func massConcentration() throws {
        let found = try observations(["50", "60", "100", "200", "300"])
        #expect(number(found["97507-8"]) == "142.0" && found["105273-7"] == nil)
        #expect(number(found["97506-0"]) == "6.7" && number(found["104638-2"]) == "74.9")
        #expect(number(found["104636-6"]) == "1" && number(found["104637-4"]) == "41.7")
        let ranges = try #require(found["106793-3"]?["component"]?.elements)
        #expect(ranges.map { number($0) } == Array(repeating: "20.00", count: 5))
    }

    /// The bounds of the ranges belong to the range in the middle, or to the one nearer to it.
    @Test func molarConcentration() throws {
        let found = try observations(["5.5", "10.0", "13.9", "3.9", "2.9"], "mmol/L")
        #expect(number(found["105273-7"]) == "7.24" && found["97507-8"] == nil)
        #expect(number(found["97506-0"]) == "6.4")
        let ranges = try #require(found["106793-3"]?["component"]?.elements)
        #expect(ranges.map { number($0) } == ["20.00", "0.00", "60.00", "20.00", "0.00"])
    }

    @Test(arguments: [
        ("53", 0), ("53.9", 0), ("54", 1), ("69", 1), ("69.99", 1), ("70", 2), ("180", 2), ("180.1", 3), ("250", 3),
        ("251", 4),
    ])
    func bounds(value: String, range: Int) throws {
        let ranges = try #require(try observations([value])["106793-3"]?["component"]?.elements)
        #expect(ranges.firstIndex { number($0) == "100.00" } == range)
    }

    /// Compared with the definitions in binary floating point, which is off by far less than what is rounded.
    @Test(arguments: Trials.seeds(120)) func figuresAreThoseOfTheirDefinitions(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let isMolar = Bool.random(using: &generator)
        let decimals = isMolar ? 1 : Int.random(in: 0...1, using: &generator)
        let tenths = (0..<Int.random(in: 2...700, using: &generator)).map { _ in
            isMolar ? Int.random(in: 22...222, using: &generator) : Int.random(in: 400...4_000, using: &generator)
        }
        let texts = tenths.map { decimals == 1 ? "\($0 / 10).\($0 % 10)" : "\($0 / 10)" }
        let found = try observations(
            texts, isMolar ? "mmol/L" : "mg/dL", every: Int64.random(in: 1...5_000, using: &generator) * 1_000_000)
        let values = texts.compactMap(Double.init)
        let count = Double(values.count)
        let mean = values.reduce(0, +) / count
        let squares = values.map { ($0 - mean) * ($0 - mean) }.reduce(0, +)
        let unit = isMolar ? 18.0156 : 1
        try expect(found[isMolar ? "105273-7" : "97507-8"], mean, decimals: decimals + 1)
        try expect(found["97506-0"], 3.31 + 0.02392 * mean * unit, decimals: 1)
        try expect(found["104638-2"], 100 * (squares / (count - 1)).squareRoot() / mean, decimals: 1)
        let bounds = isMolar ? [3.0, 3.9, 10, 13.9] : [54.0, 70, 180, 250]
        let shares = [
            values.count { $0 < bounds[0] }, values.count { $0 >= bounds[0] && $0 < bounds[1] },
            values.count { $0 >= bounds[1] && $0 <= bounds[2] }, values.count { $0 > bounds[2] && $0 <= bounds[3] },
            values.count { $0 > bounds[3] },
        ]
        let ranges = try #require(found["106793-3"]?["component"]?.elements)
        for (range, share) in zip(ranges, shares) { try expect(range, 100 * Double(share) / count, decimals: 2) }
    }

    /// `expected`, rounded to `decimals`.
    private func expect(_ node: JSONNode?, _ expected: Double, decimals: Int) throws {
        let text = try #require(number(node))
        let unit = [1, 0.1, 0.01][decimals]
        #expect(text.split(separator: ".").last?.count == decimals && text.contains("."), "\(text)")
        let written = try #require(Double(text))
        #expect(abs(written - expected) <= unit / 2 + 1e-9, "\(text) for \(expected)")
    }

    /// A reading counts for five minutes, or up to the next one or the window's end: nine every seven minutes are eight
    /// times five, and the last one four minutes before the end.
    @Test(arguments: [
        (12, 300, "100.0"), (6, 300, "50.0"), (12, 299, "99.7"), (20, 60, "40.0"), (6, 600, "50.0"), (9, 420, "73.3"),
        (2, 3_599, "8.4"),
    ])
    func sensorActive(count: Int, seconds: Int64, expected: String) throws {
        let values = Array(repeating: "100", count: count)
        let found = try observations(values, every: seconds * TestWindow.second)
        #expect(number(found["104637-4"]) == expected)
    }

    @Test func daysOfWear() throws {
        let body = """
            {"typeName":"summary","period":"14d","valueName":"glucose","unit":"mg/dL","samplePeriod":"5m"}
            """
        let pipeline = try TestPipeline(shells: ["{\"templateType\":\"GlucoseSummaryFhir\",\"template\":\(body)}"])
        let day: Int64 = 86_400 * TestWindow.second
        var window = TestWindow(start: 0, seconds: 14 * 86_400)
        for instant in [0, day - 1, 3 * day, 3 * day + 1, 13 * day] { window.add(instant, [0: "100"]) }
        let lines = pipeline.text(window).text.split(separator: "\n")
        let wear = try #require(lines.first { $0.contains("104636-6") })
        #expect(wear.contains("\"valueQuantity\":{\"value\":3,\"unit\":\"days\""))
    }

    /// Windows may be as long as there is time.
    @Test func theLongestWindow() throws {
        let body = """
            {"typeName":"summary","period":"106751d","valueName":"glucose","unit":"mg/dL","samplePeriod":"106751d"}
            """
        let pipeline = try TestPipeline(shells: ["{\"templateType\":\"GlucoseSummaryFhir\",\"template\":\(body)}"])
        var window = TestWindow(start: 0, seconds: 106_751 * 86_400)
        for day in 0..<3 { window.add(Int64(day) * 86_400 * TestWindow.second, [0: "100"]) }
        let lines = pipeline.text(window).text.split(separator: "\n")
        let active = try #require(lines.first { $0.contains("104637-4") })
        #expect(active.contains("\"valueQuantity\":{\"value\":100.0,"))
    }

    @Test(arguments: [["100"], ["0", "0"]]) func whatDoesNotVary(values: [String]) throws {
        let found = try observations(values)
        #expect(number(found["97506-0"]) != nil && number(found["104638-2"]) == nil)
        #expect(found["104638-2"]?.text("dataAbsentReason.coding.0.code") == "unknown")
        #expect(number(try observations(["100", "100"])["104638-2"]) == "0.0")
    }

    /// Whatever a device sends, nothing overflows.
    @Test(arguments: [
        ["999999999999999999", "-999999999999999998"], ["1", "0"], ["999999999999999999", "999999999999999999"],
        ["0.000000000000000001", "400"], ["-5", "3"], ["2251799813685248", "-2251799813685247"],
    ])
    func extremes(values: [String]) throws {
        let pipeline = try GlucoseTrial("mmol/L").pipeline
        switch pipeline.text(GlucoseTrial.window(values)).outcome {
        case .written: break
        case .skipped(let reason): #expect(reason == .inexactNumber)
        }
    }

    /// A text in the place of a number is passed over and counted; without any number there is nothing to sum up.
    @Test func readingsWithoutNumber() throws {
        var writer = try GlucoseTrial("mg/dL").pipeline.writer()
        var window = GlucoseTrial.window(["100", "120"])
        window.add(30 * GlucoseTrial.minute, texts: [0: "LOW"])
        window.add(35 * GlucoseTrial.minute, [:])
        #expect(window.withContent { writer.add($0) } == .added(condensedValues: 0))
        #expect(writer.losses.passedOver == 1 && writer.losses.unwritten == 0)
        let next = GlucoseTrial.window(["90", "95"], hour: 1)
        #expect(next.withContent { writer.add($0) } == .added(condensedValues: 0))
        #expect(writer.losses == ObservationLosses())
        let bundle = writer.finish().string
        #expect(bundle.contains("{\"value\":110.0,\"unit\":\"mg/dl\""))
        var texts = GlucoseTrial.window([])
        texts.add(0, texts: [0: "LOW"])
        #expect(try GlucoseTrial("mg/dL").pipeline.text(texts).outcome == .skipped(.invalidValue))
        var nothing = GlucoseTrial.window([])
        nothing.add(0, [:])
        #expect(try GlucoseTrial("mg/dL").pipeline.text(nothing).outcome == .skipped(.missingValue))
    }
}
