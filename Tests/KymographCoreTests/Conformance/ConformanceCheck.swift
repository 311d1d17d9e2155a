import Foundation
import KymographCore
import KymographTemplates

/// Runs one case and says how the outcome differs from what the reference system gives; empty when it does not.
struct ConformanceCheck {
    let subject: ConformanceCase
    private let result: MappingLoader.Result
    private var differences: [String] = []

    static func differences(_ subject: ConformanceCase, _ compatibility: Compatibility) -> [String] {
        var check = ConformanceCheck(subject: subject, result: load(subject.device, compatibility))
        switch subject.operation {
        case "load": check.load()
        case "extract", "extract_partial": check.extract()
        case "select", "selectAll": check.select()
        case "parse": check.parse()
        case "envelope": check.envelope()
        case "format_error": check.formatError()
        default: check.expect(false, "operation \(subject.operation) is not run")
        }
        return check.differences
    }

    static func load(_ device: String, _ compatibility: Compatibility) -> MappingLoader.Result {
        let file = MappingFile(name: "device.json", bytes: Array(device.utf8))
        let mapping = NamedMapping(name: "m", device: file, fhir: nil, compatibility: compatibility)
        return MappingLoader.load([mapping], measurementsOnly: true)
    }

    private init(subject: ConformanceCase, result: MappingLoader.Result) {
        self.subject = subject
        self.result = result
    }

    mutating func expect(_ condition: Bool, _ what: String) {
        if !condition { differences.append(what) }
    }

    private var errors: [Diagnostic] { result.diagnostics.filter { $0.severity == .error } }
    private var messages: [String] { errors.map(\.text) }

    private func mentions(_ words: String) -> Bool {
        errors.contains { $0.message.lowercased().contains(words.lowercased()) }
    }

    // MARK: Loading

    private mutating func load() {
        let expected = subject.expected
        let isInvalid = expected["load_errors"] != nil || isFalse(expected["valid"]) || isFalse(expected["recognised"])
        if expected["loads_without_crash"] == nil {
            expect(isInvalid == !errors.isEmpty, "loads: \(!isInvalid) expected, found \(messages)")
        }
        for words in expected["errors_contain"]?.elements ?? [] {
            let words = (words.string ?? "").trimmingCharacters(in: CharacterSet(charactersIn: "."))
            expect(mentions(words), "an error with '\(words)' expected, found \(messages)")
        }
        loadErrors(expected["load_errors"]?.elements ?? [])
        if let template = expected["template"] { loadedTemplate(template) }
        if case .number(let count)? = expected["template_count"]?.value, let set = result.set {
            expect(set.templates(of: ["m"]).count == Int(count), "\(count) templates expected")
        }
        for info in expected["line_info"]?.elements ?? [] { lineInfo(info) }
    }

    private func isFalse(_ node: JSONNode?) -> Bool { if case .bool(false)? = node?.value { true } else { false } }

    private mutating func loadErrors(_ expected: [JSONNode]) {
        guard !expected.isEmpty else { return }
        expect(errors.count == expected.count, "\(expected.count) errors expected, found \(messages)")
        var lines = errors.map { "\($0.position.line)" }
        for error in expected {
            if let words = error["mentions"]?.string { expect(mentions(words), "'\(words)' expected in \(messages)") }
            guard case .number(let line)? = error["line"]?.value else { continue }
            let place = lines.firstIndex(of: line)
            expect(place != nil, "an error in line \(line) expected, found \(messages)")
            if let place { lines.remove(at: place) }
        }
    }

    private mutating func lineInfo(_ info: JSONNode) {
        guard let set = result.set, info["node"]?.string == "template.typeName",
            case .number(let line)? = info["line"]?.value
        else { return }
        let found = set.describe(template: 0).line
        expect("\(found)" == line, "typeName in line \(line) expected, found \(found)")
    }

    /// Compares what a message about each field would show.
    private mutating func loadedTemplate(_ expected: JSONNode) {
        guard let set = result.set else { return }
        let typeName = expected["typeName"]?.string ?? ""
        expect(set.describe(template: 0).typeName == typeName, "type \(typeName) expected")
        let fields: [(String, RejectionDetail.Field, String)] = [
            ("deviceIdExpression", .device, ""), ("timestampExpression", .timestamp, ""),
            ("patientIdExpression", .patient, "(none)"), ("encounterIdExpression", .encounter, ""),
            ("correlationIdExpression", .correlation, "(none)"),
        ]
        for (name, field, none) in fields {
            guard let node = expected[name] else { continue }
            let text = set.describe(RejectionDetail(template: 0, field: field))
            expect(
                text.contains("\(name) \(node["value"]?.string ?? none)"),
                "\(name): \(JSONText.write(node)), found \(text)")
        }
        for (index, value) in (expected["values"]?.elements ?? []).enumerated() {
            let wanted = "value \(value["valueName"]?.string ?? "") \(value["valueExpression"]?["value"]?.string ?? "")"
            let text = set.describe(RejectionDetail(template: 0, field: .value, value: index))
            expect(text.hasSuffix(wanted), "\(wanted) expected, found \(text)")
        }
    }

    // MARK: Measurements

    private mutating func extract() {
        let error = subject.expected["error"]
        guard let set = result.set else {
            // What the reference notices at run time may be an error at load here.
            let field = error?["field"]?.string
            expect(field.map(mentions) ?? false, "does not load: \(messages)")
            return
        }
        let outcome = outcome(set, payloadIsRoot: true)
        // Counted here, and not said by the reference: what matches nothing, and what an error ended before its turn.
        let rejections = outcome.rejections.filter { $0.reason != .noTemplate && $0.reason != .eventAborted }
        if let error {
            expect(
                rejections.contains { matches($0, error, set) },
                "\(JSONText.write(error)) expected, found \(rejections)")
            if error["kind"]?.string != "IncompatibleData" || subject.operation == "extract_partial" {
                expect(rejections.count == 1, "one error expected, found \(rejections)")
            }
        } else {
            expect(rejections.isEmpty, "no error expected, found \(rejections)")
        }
        if let measurements = subject.expected["measurements"]?.elements { compare(outcome.readings, measurements) }
        // As senders' own payloads they may take the fast path, once they have come before.
        _ = self.outcome(set, payloadIsRoot: false)
    }

    /// What the payload gives, which must be the same when it comes again, and without a fast path.
    private mutating func outcome(_ set: MappingSet, payloadIsRoot: Bool) -> MappingRun.Outcome {
        let context = SourceContext(maxFuture: .max)
        let storage = PaddedBytes(copying: subject.payload.utf8)
        var outcomes: [MappingRun.Outcome] = []
        for usesFastPath in [true, false] {
            var mapper = Mapper(
                set, templates: set.templates(of: ["m"]), payloadIsRoot: payloadIsRoot, usesFastPath: usesFastPath)
            for _ in 0..<3 {
                var output = CollectingOutput(set)
                mapper.mapLine(
                    storage.view, context: context, received: Instant(seconds: 1_700_000_000), output: &output)
                outcomes.append(MappingRun.Outcome(readings: output.readings, rejections: output.rejections))
            }
        }
        let first = outcomes[0]
        expect(outcomes.allSatisfy { $0 == first }, "with and without a fast path, and again: \(outcomes)")
        return first
    }

    private func matches(_ rejection: MappedRejection, _ error: JSONNode, _ set: MappingSet) -> Bool {
        if error["kind"]?.string == "TemplateExpression" { return rejection.reason == .ambiguousExpression }
        switch error["field"]?.string ?? "" {
        case "DeviceIdExpression": return rejection.field == .device
        case "TimestampExpression": return rejection.field == .timestamp
        case "CorrelationIdExpression": return rejection.field == .correlation
        case let name:
            let text = set.describe(RejectionDetail(template: 0, field: .value, value: rejection.value))
            return rejection.field == .value && text.contains("value \(name) ")
        }
    }

    private mutating func compare(_ readings: [MappedReading], _ expected: [JSONNode]) {
        let found = readings.map(plain)
        var wanted = expected.map(plain)
        if found.count == wanted.count { for index in found.indices { tolerate(found[index], &wanted[index]) } }
        expect(found == wanted, "expected \(wanted), found \(found)")
    }

    /// Takes over numbers that are as near as the case allows.
    private func tolerate(_ found: [String], _ wanted: inout [String]) {
        for member in subject.node["numeric_tolerance"]?.members ?? [] {
            guard case .number(let text) = member.node.value, let tolerance = Double(text) else { continue }
            for (index, one) in found.enumerated() where index < wanted.count && one.hasPrefix("\(member.name)=") {
                let numbers = [one, wanted[index]].compactMap { Double($0.dropFirst(member.name.count + 1)) }
                if numbers.count == 2, abs(numbers[0] - numbers[1]) <= tolerance { wanted[index] = one }
            }
        }
    }

    private func plain(_ reading: MappedReading) -> [String] {
        let values = reading.values.map { "\($0)=\($1)" }.sorted()
        return [
            reading.type, time(reading.nanoseconds), reading.device, reading.patient ?? "-", reading.encounter ?? "-",
            reading.correlation ?? "-",
        ] + values
    }

    private func plain(_ node: JSONNode) -> [String] {
        let text = Array((node["OccurrenceTimeUtc"]?.string ?? "").utf8)
        let instant = PaddedBytes(copying: text)
        let nanoseconds = TimestampParser.iso8601(instant.view)?.instant.nanoseconds ?? 0
        let values = (node["Properties"]?.elements ?? []).map {
            "\($0["Name"]?.string ?? "")=\($0["Value"]?.string ?? "")"
        }
        let names = ["PatientId", "EncounterId", "CorrelationId"].map { node[$0]?.string ?? "-" }
        return [node["Type"]?.string ?? "", time(nanoseconds), node["DeviceId"]?.string ?? ""] + names + values.sorted()
    }

    /// Times are compared at 100 ns, or at seconds where the case says so.
    private func time(_ nanoseconds: Int64) -> String {
        let unit: Int64 = subject.node["time_compare"]?.string == "seconds" ? 1_000_000_000 : 100
        return "\(nanoseconds / unit)"
    }
}
