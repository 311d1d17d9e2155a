import Foundation
import Kymograph
import KymographCore
import KymographTemplates

/// A mapping of one type, joined with a FHIR template of a conformance case, and what it makes of values.
struct ReferenceRun {
    struct Refused: Error { var reasons: [String] }

    let run: MappingRun
    let type: MeasurementType

    /// `body` is a CodeValueFhir template without its shell; the device template reads values called `names`.
    init(body: JSONNode, names: [String], compatibility: Compatibility, hasCorrelation: Bool = false) throws {
        let typeName = body["typeName"]?.string ?? ""
        var template: [String: Any] = [
            "typeName": typeName, "typeMatchExpression": "$..[?(@device)]",
            "deviceIdExpression": "$.device", "patientIdExpression": "$.patient", "timestampExpression": "$.time",
            "values": names.map { ["valueName": $0, "valueExpression": "$.\($0)", "required": false] },
        ]
        if hasCorrelation { template["correlationIdExpression"] = "$.correlation" }
        let device: [String: Any] = [
            "templateType": "CollectionContent",
            "template": [["templateType": "JsonPathContent", "template": template]],
        ]
        let text = String(decoding: try JSONSerialization.data(withJSONObject: device), as: UTF8.self)
        let shell = #"{"templateType":"CodeValueFhir","template":\#(JSONText.write(body))}"#
        run = try MappingRun(
            device: text, fhir: #"{"templateType":"CollectionFhir","template":[\#(shell)]}"#,
            compatibility: compatibility)
        type = run.set.types[0]
    }

    /// Maps one reading; throws why there is none.
    func reading(_ values: [String: String], at instant: Instant, correlation: String? = nil) throws -> MappedReading {
        var payload: [String: Any] = values
        payload["device"] = "deviceId"
        payload["patient"] = "patientId"
        payload["time"] = instant.text
        payload["correlation"] = correlation
        let text = String(decoding: try JSONSerialization.data(withJSONObject: payload), as: UTF8.self)
        let outcome = run.line(text)
        guard let reading = outcome.readings.first, outcome.rejections.isEmpty else {
            throw Refused(reasons: outcome.reasons.map { "\($0)" })
        }
        return reading
    }

    /// The values of a reading by slot, numbers apart from texts.
    func slots(_ reading: MappedReading) -> (numbers: [Int: String], texts: [Int: String]) {
        var slots: (numbers: [Int: String], texts: [Int: String]) = ([:], [:])
        for (slot, name) in type.valueNames.enumerated() {
            guard let text = reading.values[name] else { continue }
            if type.isNumeric[slot] { slots.numbers[slot] = text } else { slots.texts[slot] = text }
        }
        return slots
    }

    /// The Observation of a window of these values by name; throws why there is none. The window ends `tick`
    /// nanoseconds after its last instant `end`, or as Observations of the mode say the end of theirs.
    func observation(
        _ values: [String: [SeriesSample]], start: Instant, end: Instant, correlation: String? = nil, tick: Int64? = nil
    ) throws -> JSONNode {
        var window = TestWindow(
            device: "deviceId", patient: "patientId", correlation: correlation, start: start.nanoseconds, seconds: 0)
        // The cases name the last instant of a window: a tick of 100 ns before its end, by default a millisecond.
        let isWindow = if case .tumbling = type.grouping { true } else { false }
        let ownTick: Int64 = type.compatibility == .iomtFHIR ? 100 : 1_000_000
        window.end = isWindow ? end.nanoseconds + (tick ?? ownTick) : end.nanoseconds
        for instant in Set(values.values.joined().map(\.instant)).sorted() {
            let ofInstant = values.compactMapValues { samples in samples.first { $0.instant == instant }?.text }
            let slots = slots(try reading(ofInstant, at: instant, correlation: correlation))
            window.add(
                instant.nanoseconds - start.nanoseconds, slots.numbers.mapValues(Self.plain), texts: slots.texts)
        }
        var encoder = ObservationEncoder(
            types: run.set.types, templates: run.set.fhirTemplates, options: ObservationOptions(), digest: testDigest)
        var writer = ByteWriter()
        let outcome = window.withContent { encoder.encode($0, into: &writer) }
        if case .skipped(let reason) = outcome { throw Refused(reasons: ["\(reason)"]) }
        return try TextJSON.parse(writer.view.string)
    }

    /// `224e-1` as `22.4`.
    private static func plain(_ text: String) -> String {
        let parts = text.split(separator: "e")
        guard parts.count == 2, let decimals = Int(parts[1]).map({ -$0 }) else { return text }
        guard decimals > 0 else { return parts[0] + String(repeating: "0", count: -decimals) }
        let digits = String(repeating: "0", count: max(decimals + 1 - parts[0].count, 0)) + parts[0]
        return "\(digits.dropLast(decimals)).\(digits.suffix(decimals))"
    }
}

extension Instant {
    /// ISO 8601 with nine decimals.
    var text: String {
        var writer = ByteWriter()
        writer.append(self)
        return writer.view.string
    }
}
