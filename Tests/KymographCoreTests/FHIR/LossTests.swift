@testable import KymographCore
@testable import KymographTemplates
import Testing

/// What one part of an Observation cannot say costs no other part, and is counted.
@Suite struct LossTests {
    private static let head =
        "\"typeName\":\"x\",\"period\":\"1h\",\"codes\":[{\"system\":\"urn:test\",\"code\":\"1\"}]"

    private static func component(_ code: String, _ value: String) -> String {
        "{\"codes\":[{\"system\":\"urn:test\",\"code\":\"\(code)\"}],\"value\":{\(value)}}"
    }

    /// A number, a whole number and a time.
    private let three = """
        {\(head),"components":[
        \(component("2", "\"valueType\":\"Quantity\",\"valueName\":\"a\",\"unit\":\"%\",\"code\":\"%\"")),
        \(component("3", "\"valueType\":\"Integer\",\"valueName\":\"b\"")),
        \(component("4", "\"valueType\":\"DateTime\",\"valueName\":\"c\""))]}
        """

    private func encode(
        _ template: String, _ window: borrowing TestWindow
    ) throws -> (observation: JSONNode?, outcome: EncodeOutcome, losses: ObservationLosses) {
        var encoder = try TestPipeline(template).encoder()
        var writer = ByteWriter()
        let outcome = window.withContent { encoder.encode($0, into: &writer) }
        let text = writer.view.string
        return (text.isEmpty ? nil : try TextJSON.parse(text), outcome, encoder.losses)
    }

    @Test func anUnusableComponentLeavesTheOthers() throws {
        var window = TestWindow()
        window.add(0, [0: "97", 1: "5.5"], texts: [2: "31 April"])
        let (observation, outcome, losses) = try encode(three, window)
        #expect(outcome == .written(condensedValues: 0))
        #expect(observation?.text("component.0.valueQuantity.value") == "97")
        for index in 1...2 {
            let component = "component.\(index)"
            #expect(observation?.text("\(component).code.coding.0.code") == "\(index + 2)")
            #expect(observation?.text("\(component).dataAbsentReason.coding.0.code") == "error")
        }
        #expect(losses.unwritten == 2 && losses.passedOver == 0)
    }

    /// A component that a profile demands has the same reason; one that the reading lacks is unknown, or left out.
    @Test func textsInPlaceOfNumbersLeaveTheOthers() throws {
        var window = TestWindow()
        window.add(0, [1: "80"], texts: [0: "loose", 2: "loose"])
        let (observation, outcome, losses) = try encode(TestTemplates.bloodPressure, window)
        #expect(outcome == .written(condensedValues: 0) && losses.unwritten == 2)
        #expect(observation?.text("component.0.dataAbsentReason.coding.0.code") == "error")
        #expect(observation?.text("component.1.valueQuantity.value") == "80")
        #expect(observation?.text("component.2.dataAbsentReason.coding.0.code") == "error")
        var other = TestWindow()
        other.add(0, [1: "80"])
        let (lacking, _, none) = try encode(TestTemplates.bloodPressure, other)
        #expect(lacking?.text("component.0.dataAbsentReason.coding.0.code") == "unknown")
        #expect(lacking?.member("component")?.elements?.count == 2 && none == ObservationLosses())
        var empty = TestWindow()
        empty.add(0, texts: [0: "loose"])
        #expect(try encode(TestTemplates.bloodPressure, empty).outcome == .skipped(.invalidValue))
    }

    @Test func withoutAnyUsableValueThereIsNoObservation() throws {
        var window = TestWindow()
        window.add(0, [1: "5.5"], texts: [2: "31 April"])
        #expect(try encode(three, window).outcome == .skipped(.invalidValue))
    }

    @Test func nothingIsLostWhereAllIsWell() throws {
        var window = TestWindow()
        window.add(0, [0: "97", 1: "5"], texts: [2: "2024-05-01T10:00:00Z"])
        let (_, outcome, losses) = try encode(three, window)
        #expect(outcome == .written(condensedValues: 0) && losses == ObservationLosses())
    }

    /// Of numbers too far apart for a mean, what they have in common is written beside another value.
    @Test func aMeanThatDoesNotFitLeavesTheOthers() throws {
        let statistics =
            "\"valueType\":\"Statistics\",\"valueName\":\"v\",\"aggregate\":\"sum\",\"components\":[\"maximum\"]"
        let template = """
            {\(Self.head),"value":{\(statistics)},
            "components":[\(Self.component("2", "\"valueType\":\"Quantity\",\"valueName\":\"a\""))]}
            """
        var window = TestWindow()
        window.add(0, number: Decimal64(mantissa: 999_999_999_999_999_999))
        window.add(second, number: Decimal64(mantissa: 1, exponent: -18))
        #expect(try encode(template, window).outcome == .skipped(.inexactNumber))
        window.add(2 * second, [0: "1", 1: "97"])
        let (observation, outcome, losses) = try encode(template, window)
        #expect(outcome == .written(condensedValues: 0) && losses.unwritten == 1)
        #expect(observation?.member("valueQuantity") == nil)
        #expect(observation?.text("dataAbsentReason.coding.0.code") == "error")
        #expect(observation?.text("component.0.code.coding.0.code") == "maximum")
        #expect(observation?.text("component.0.valueQuantity.value") == "999999999999999999")
        #expect(observation?.text("component.1.valueQuantity.value") == "97")
    }

    private static let spo2 = "\"valueName\":\"v\",\"unit\":\"%\",\"code\":\"%\",\"absent\":true"

    @Test func textsAmongTheNumbersOfAStatisticAreCounted() throws {
        var window = TestWindow()
        window.add(0, texts: [0: "97"])
        window.add(second, texts: [0: "NaN"])
        window.add(2 * second, texts: [0: "95"])
        window.add(3 * second, texts: [0: "off"])
        // Has no such value, and so none to pass over.
        window.add(4 * second, texts: [1: "note"])
        let (observation, _, losses) = try encode(
            "{\(Self.head),\"value\":{\"valueType\":\"Statistics\",\(Self.spo2)}}", window)
        #expect(observation?.text("valueQuantity.value") == "96.0")
        #expect(losses.passedOver == 2 && losses.unwritten == 0)
    }

    /// Alone they are the reason why there is no number, and nothing beside it.
    @Test func textsWithoutANumberAreNotCounted() throws {
        var window = TestWindow()
        window.add(0, texts: [0: "NaN"])
        let (observation, _, losses) = try encode(
            "{\(Self.head),\"value\":{\"valueType\":\"Statistics\",\(Self.spo2)}}", window)
        #expect(observation?.text("dataAbsentReason.coding.0.code") == "not-a-number")
        #expect(losses == ObservationLosses())
    }

    /// Also where the series has no grid, and between two places of the numbers' own.
    @Test(
        arguments: [
            ([0, 1000, 2000, 3000], "1 E 3 4", "1000"), ([0, 500, 1000, 2000], "1 E 3 E 4", "500"),
            ([0, 1000, 2000, 3_599_999], "1 E 3 4", nil),
        ] as [([Int64], String, String?)])
    func textsAmongTheNumbersOfASeriesAreE(times: [Int64], data: String, period: String?) throws {
        var window = TestWindow(seconds: 3_600)
        for (index, time) in times.enumerated() {
            window.add(time * 1_000_000, texts: [0: index == 1 ? "NaN" : "\(index + 1)"])
        }
        let value = "\"valueType\":\"SampledData\",\"defaultPeriod\":\"auto\",\(Self.spo2)"
        let (observation, outcome, losses) = try encode("{\(Self.head),\"value\":{\(value)}}", window)
        #expect(outcome == .written(condensedValues: 0) && losses.passedOver == 1)
        #expect(observation?.text("valueSampledData.data") == data)
        if let period { #expect(observation?.text("valueSampledData.period") == period) }
        let offsets = observation?.text("valueSampledData.extension.1.valueString")
        #expect(offsets == (period == nil ? "0 1000 2000 3599999" : nil))
    }
}
