import Kymograph
import KymographCore
import KymographTemplates

/// Cases that make and merge Observations.
extension ObservationConformanceCheck {
    // MARK: Series

    mutating func series() {
        let input = subject.input
        let period = Int64(input.text("periodMs") ?? "1").map { $0 * 1_000_000 } ?? 1
        let start = input["start"]?.instant ?? Instant(seconds: 0)
        var data = input["data"]?.string ?? ""
        if subject.operation.hasPrefix("build") {
            data =
                SeriesText.build(
                    input["values"]?.samples ?? [], start: start, end: input["end"]?.instant ?? start, period: period,
                    compatibility: compatibility) ?? "too long"
            let expected = subject.expected["data"]?.string
            expect(data == expected, "\(expected ?? "") expected, found \(data)")
        }
        if let expected = subject.expected["time_values"]?.samples {
            let found = SeriesText.parse(data, start: start, period: period)
            expect(found == expected, "\(expected) expected, found \(found)")
        }
        if let expected = subject.expected["merged"]?.samples {
            let found = SeriesText.merge(input["existing"]?.samples ?? [], with: input["new"]?.samples ?? [])
            expect(found == expected, "\(expected) expected, found \(found)")
        }
    }

    // MARK: Creating

    /// The Observation of a template whose value is `value`, over the data's period.
    func created(value: JSONNode?, input: JSONNode, placeholder: String? = nil) throws -> JSONNode {
        guard let value, let name = value["valueName"]?.string else {
            throw ReferenceRun.Refused(reasons: ["no value"])
        }
        let start = input["dataPeriod.0"]?.instant ?? Instant(seconds: 0)
        let end = input["dataPeriod.1"]?.instant ?? start
        // A window of any length: the case names its bounds, and the interval says only that it is one.
        let body = try TextJSON.parse(
            #"{"typeName":"t","codes":[],"effective":"window","periodInterval":\#(start == end ? 0 : 1440),"#
                + #""value":\#(JSONText.write(value))}"#)
        let run = try ReferenceRun(body: body, names: [name], compatibility: compatibility)
        var samples = input["values"]?.samples ?? []
        if let placeholder {
            // Their tests of merging hand words to mocks that never read them.
            samples = samples.map { Double($0.text) == nil ? SeriesSample(instant: $0.instant, text: placeholder) : $0 }
        }
        if samples.isEmpty, subject.operation == "merge_value" { samples = [SeriesSample(instant: start, text: "9")] }
        return try run.observation([name: samples], start: start, end: end)
    }

    mutating func createObservation() throws {
        let found = try observation(of: subject.input)
        guard let expected = subject.expected["observation"] else { return }
        compare(found, expected, existing: nil, "/observation")
    }

    /// The Observation that the case's template makes of `group`.
    private func observation(of group: JSONNode) throws -> JSONNode {
        guard let shell = subject.template, shell["templateType"]?.string == "CodeValueFhir",
            let template = shell["template"]
        else { return try unknownTemplate() }
        let values = (group["values"]?.members ?? []).map { ($0.name, $0.node.samples) }
        var body = template.members ?? []
        if template["periodInterval"] == nil {
            body.append(.init(name: "periodInterval", position: template.position, node: number("1440")))
        }
        // What the template reads and the group lacks is a value that a device may give.
        let read = ([template] + (template["components"]?.elements ?? [])).compactMap { $0["value.valueName"]?.string }
        let run = try ReferenceRun(
            body: JSONNode(position: template.position, value: .object(body)),
            names: Set(values.map(\.0) + read).sorted(), compatibility: compatibility)
        return try run.observation(
            Dictionary(uniqueKeysWithValues: values), start: group["start"]?.instant ?? Instant(seconds: 0),
            end: group["end"]?.instant ?? Instant(seconds: 0))
    }

    private func number(_ text: String) -> JSONNode { JSONNode(position: .start, value: .number(text)) }

    /// Template types that nothing handles do not load here.
    private func unknownTemplate() throws -> JSONNode {
        let text = subject.template.map(JSONText.write) ?? "null"
        var log = DiagnosticLog(file: "fhir.json")
        _ = FHIRTemplateLoader.load(
            try TextJSON.parse(#"{"templateType":"CollectionFhir","template":[\#(text)]}"#), log: &log)
        throw log.hasErrors
            ? MappingRun.LoadFailure(texts: log.all.map(\.text)) : MappingErrorMissing(template: text)
    }

    private struct MappingErrorMissing: Error { var template: String }

    // MARK: Merging

    mutating func mergeValue() throws {
        guard var value = subject.template else { return expect(false, "no template") }
        let isText = ["CodeableConcept", "String"].contains(value["valueType"]?.string)
        if value["valueType"]?.string == "CodeableConcept", value["text"] == nil,
            case .object(var members) = value.value
        {
            // Ours must say something: the case has an empty one, and is about the type alone.
            members.append(.init(name: "text", position: .start, node: JSONNode(position: .start, value: .string("x"))))
            value.value = .object(members)
        }
        let new = try created(value: value, input: subject.input, placeholder: isText ? nil : "9")
        var members = subject.input["existing"]?.members ?? []
        if let start = subject.input["observationPeriod.0"]?.string ?? new["effectivePeriod.start"]?.string,
            let end = subject.input["observationPeriod.1"]?.string ?? new["effectivePeriod.end"]?.string
        {
            let period = try TextJSON.parse(#"{"start":"\#(start)","end":"\#(end)"}"#)
            members.append(.init(name: "effectivePeriod", position: .start, node: period))
        }
        let existing = JSONNode(position: .start, value: .object(members))
        let merged = try ObservationMerge.merge(existing, with: new, compatibility: compatibility)
        compare(merged, subject.expected, existing: existing, "")
        guard let bounds = subject.expected["rebuild_window"]?.elements else { return }
        for (name, bound) in zip(["start", "end"], bounds) {
            let found = merged["effectivePeriod.\(name)"]?.string ?? "none"
            expect(merged["effectivePeriod.\(name)"]?.instant == bound.instant, "\(name): found \(found)")
        }
    }

    mutating func mergeObservation() throws {
        let new = try observation(of: subject.input["group"] ?? subject.input)
        guard let existing = subject.input["existing"], let expected = subject.expected["observation"] else {
            return expect(false, "nothing to merge into")
        }
        let merged = try ObservationMerge.merge(existing, with: new, compatibility: compatibility)
        compare(merged, expected, existing: existing, "/observation")
    }
}
