import KymographCore
import KymographTemplates
import Testing

/// A pipeline of one summary of glucose, in windows of an hour of a sensor of five minutes.
struct GlucoseTrial {
    static let minute = 60 * TestWindow.second

    var pipeline: TestPipeline

    init(_ unit: String, version: FHIRVersion = .r4) throws {
        let body = """
            {"typeName":"summary","period":"1h","valueName":"glucose","unit":"\(unit)","samplePeriod":"5m",
             "category":[{"text":"cgm"}]}
            """
        pipeline = try TestPipeline(
            shells: ["{\"templateType\":\"glucoseSummaryFhir\",\"template\":\(body)}"], version: version)
    }

    /// A window with a reading of each of `values`, one every `nanoseconds`.
    static func window(
        _ values: [String], every nanoseconds: Int64 = 5 * minute, hour: Int64 = 0, encounter: String? = "e"
    ) -> TestWindow {
        var window = TestWindow(
            encounter: encounter, start: TestWindow.tenOClock + hour * 60 * minute, seconds: 3_600)
        for (index, value) in values.enumerated() { window.add(Int64(index) * nanoseconds, [0: value]) }
        return window
    }

    /// The Observations of `window`, by LOINC code.
    func observations(_ window: borrowing TestWindow) throws -> [String: JSONNode] {
        let (text, outcome) = pipeline.text(window)
        #expect(outcome == .written(condensedValues: 0))
        let nodes = try text.split(separator: "\n").map { try TextJSON.parse(String($0)) }
        return Dictionary(uniqueKeysWithValues: nodes.map { ($0.text("code.coding.0.code") ?? "", $0) })
    }

    /// The text of a node's number.
    static func number(_ node: JSONNode?) -> String? {
        guard case .number(let text)? = node?["valueQuantity.value"]?.value else { return nil }
        return text
    }
}
