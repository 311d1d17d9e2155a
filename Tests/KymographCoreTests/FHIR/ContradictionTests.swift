@testable import KymographCore
@testable import KymographTemplates
import Testing

/// Readings of one correlation and time that say different things of one value: none of them stands beside values of
/// the others.
@Suite struct ContradictionTests {
    private static let pressure = TestTemplates.bloodPressure.replacing("\"instance\"", with: "\"correlation\"")

    /// A window of readings of one time.
    private static func window(_ readings: [[Int: String]]) -> TestWindow {
        var window = TestWindow(correlation: "c-1", seconds: 0)
        for numbers in readings { window.add(0, numbers) }
        return window
    }

    /// Each component's number or the reason why there is none.
    private func parts(
        _ pipeline: TestPipeline, _ window: borrowing TestWindow
    ) throws -> (parts: [String], unwritten: Int) {
        var encoder = pipeline.encoder()
        var writer = ByteWriter()
        let outcome = window.withContent { encoder.encode($0, into: &writer) }
        #expect(outcome == .written(condensedValues: 0))
        let observation = try TextJSON.parse(writer.view.string)
        let parts = (observation.member("component")?.elements ?? []).map { part in
            part.text("valueQuantity.value") ?? part.text("dataAbsentReason.coding.0.code") ?? ""
        }
        return (parts, encoder.losses.unwritten)
    }

    /// Catches: the systolic pressure of one measurement beside the diastolic one of another, which was never measured.
    @Test(arguments: [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]])
    func twoSystolicPressuresAreNone(order: [Int]) throws {
        let readings = [[0: "120"], [1: "80"], [0: "180"]]
        let found = try parts(TestPipeline(Self.pressure), Self.window(order.map { readings[$0] }))
        #expect(found.parts == ["error", "80"] && found.unwritten == 1)
    }

    /// An Observation that was sent is amended, also when nothing of it is left to be said.
    @Test func twoMeasurementsAreNone() throws {
        var window = Self.window([[0: "120"], [1: "80"], [0: "180"], [1: "95"]])
        window.status = .amended
        let pipeline = try TestPipeline(Self.pressure)
        let found = try parts(pipeline, window)
        #expect(found.parts == ["error", "error"] && found.unwritten == 2)
        #expect(try pipeline.observation(window).text("status") == "amended")
    }

    /// Which values are withheld is noted from the first time of asking on, and told once.
    @Test func whatIsWithheldIsTold() throws {
        let pipeline = try TestPipeline(Self.pressure)
        var encoder = pipeline.encoder()
        Self.encode([[0: "120"], [1: "80"], [0: "180"]], by: &encoder)
        let before = encoder.takeWithheld()
        Self.encode([[0: "120"], [1: "80"], [0: "180"]], by: &encoder)
        let (noted, again) = (encoder.takeWithheld(), encoder.takeWithheld())
        #expect(before == [] && noted == [0] && again == [])
        Self.encode([[0: "120"], [1: "80"], [1: "95"], [0: "180"]], by: &encoder)
        Self.encode([[0: "120"], [1: "80"]], by: &encoder)
        let both = encoder.takeWithheld()
        #expect(both == [0, 1])
    }

    private static func encode(_ readings: [[Int: String]], by encoder: inout ObservationEncoder) {
        var writer = ByteWriter()
        let made = Self.window(readings)
        _ = made.withContent { encoder.encode($0, into: &writer) }
    }

    @Test func whoSaysTheSameContradictsNothing() throws {
        let window = Self.window([[0: "120"], [1: "80"], [0: "120.0"]])
        let found = try parts(TestPipeline(Self.pressure), window)
        #expect(found.parts == ["120.0", "80"] && found.unwritten == 0)
    }

    /// Of several times the latest counts, as the template language says.
    @Test func aLaterTimeDecides() throws {
        var window = Self.window([[0: "120", 1: "80"], [0: "121"]])
        window.add(second, [0: "180", 1: "95"])
        let found = try parts(TestPipeline(Self.pressure), window)
        #expect(found.parts == ["180", "95"] && found.unwritten == 0)
    }

    /// Windows of fixed lengths, and the shape of the reference, have the latest.
    @Test func othersAreAsTheyWere() throws {
        let readings = [[0: "120"], [1: "80"], [0: "180"]]
        let hourly = try TestPipeline(Self.pressure.replacing("\"correlation\"", with: "\"1h\""))
        #expect(try parts(hourly, Self.window(readings)).parts == ["180", "80"])
        var reference = try TestPipeline(Self.pressure)
        for index in reference.types.indices { reference.types[index].compatibility = .iomtFHIR }
        #expect(try parts(reference, Self.window(readings)).parts == ["180", "80"])
    }

    /// Two readings of one value, and whether they contradict each other.
    struct Pair: Sendable {
        var value: String
        var numbers: [[Int: String]] = [[:], [:]]
        var texts: [[Int: String]] = [[:], [:]]
        var isContradiction: Bool

        init(_ value: String, texts one: String, _ other: String, _ isContradiction: Bool) {
            self.value = "\"valueName\":\"v\",\"valueType\":\(value)"
            texts = [[0: one], [0: other]]
            self.isContradiction = isContradiction
        }

        init(range one: [Int: String], _ other: [Int: String], _ isContradiction: Bool) {
            value = "\"valueType\":\"Range\",\"low\":\"a\",\"high\":\"b\",\"unit\":\"mg/dL\",\"code\":\"mg/dL\""
            numbers = [one, other]
            self.isContradiction = isContradiction
        }
    }

    private static let unit = "\"Quantity\",\"unit\":\"mg/dL\",\"code\":\"mg/dL\""
    private static let pairs = [
        Pair("\"String\"", texts: "lying", "sitting", true), Pair("\"String\"", texts: "lying", "lying", false),
        Pair("\"Integer\"", texts: "5", "6", true), Pair("\"Integer\"", texts: "5", "5.0", false),
        Pair("\"Boolean\"", texts: "true", "false", true), Pair("\"Boolean\"", texts: "true", "TRUE", false),
        Pair("\"DateTime\"", texts: "2024-02-28", "2024-02-29", true),
        Pair("\"DateTime\"", texts: "2024-02-29", "2024-02-29", false),
        Pair("\(unit),\"comparator\":true", texts: "<5", ">5", true),
        Pair("\(unit),\"comparator\":true", texts: "<5", "< 5.0", false),
        Pair("\(unit),\"absent\":{\"off\":\"unknown\"}", texts: "97", "98", true),
        // No value says nothing of the other one.
        Pair("\(unit),\"absent\":{\"off\":\"unknown\"}", texts: "97", "off", false),
        // It is the template's concept that is written.
        Pair("\"CodeableConcept\",\"text\":\"Alarm\"", texts: "a", "b", false),
        Pair(range: [0: "70", 1: "180"], [0: "70", 1: "190"], true),
        Pair(range: [0: "70", 1: "180"], [0: "70", 1: "180.0"], false),
        Pair(range: [0: "70", 1: "180"], [0: "70"], true),
    ]

    @Test(arguments: pairs) func ofEveryKindOfValue(_ pair: Pair) throws {
        let pipeline = try TestPipeline(
            "{\"typeName\":\"x\",\"period\":\"correlation\","
                + "\"codes\":[{\"system\":\"urn:test\",\"code\":\"1\"}],\"value\":{\(pair.value)}}")
        var window = TestWindow(correlation: "c-1", seconds: 0)
        for index in 0...1 { window.add(0, pair.numbers[index], texts: pair.texts[index]) }
        let observation = try pipeline.observation(window)
        let reason = observation.text("dataAbsentReason.coding.0.code")
        #expect(reason == (pair.isContradiction ? "error" : nil), "\(pair.value)")
        let hasValue = observation.members?.contains { $0.name.hasPrefix("value") } ?? false
        #expect(hasValue != pair.isContradiction, "\(pair.value)")
    }

    /// A note says nothing that could be mistaken for a value of another measurement.
    @Test func notesAreNoValues() throws {
        let pipeline = try TestPipeline(
            Self.pressure.replacing("\"typeName\"", with: "\"note\":{\"valueName\":\"remark\"},\"typeName\""))
        func slot(_ name: String) throws -> Int {
            try #require(pipeline.types[0].valueNames.firstIndex(of: name))
        }
        var window = TestWindow(correlation: "c-1", seconds: 0)
        window.add(0, [try slot("systolic"): "120"], texts: [try slot("remark"): "one"])
        window.add(0, [try slot("diastolic"): "80"], texts: [try slot("remark"): "two"])
        let found = try parts(pipeline, window)
        #expect(found.parts == ["120", "80"] && found.unwritten == 0)
    }
}
