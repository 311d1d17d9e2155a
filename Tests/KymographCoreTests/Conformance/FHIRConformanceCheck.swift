import Foundation
import KymographCore
import KymographTemplates

/// Runs one case and says how the outcome differs from what the reference system gives; empty when it does not.
struct FHIRConformanceCheck {
    private let subject: FHIRConformanceCase
    private var templates: [FHIRTemplate] = []
    private var errors: [Diagnostic] = []
    private var differences: [String] = []

    static func differences(_ subject: FHIRConformanceCase) throws -> [String] {
        var check = FHIRConformanceCheck(subject: subject)
        if subject.operation == "load" { try check.load() } else { check.lookup() }
        return check.differences
    }

    private init(subject: FHIRConformanceCase) {
        self.subject = subject
        var log = DiagnosticLog(file: "fhir.json")
        if let root = JSONNode.parse(Array(subject.text.utf8), log: &log) {
            templates = FHIRTemplateLoader.load(root, log: &log)
        }
        errors = log.all.filter { $0.severity == .error }
    }

    private mutating func expect(_ condition: Bool, _ what: String) {
        if !condition { differences.append(what) }
    }

    private func mentions(_ words: String) -> Bool {
        errors.contains { $0.message.lowercased().contains(words.lowercased()) }
    }

    // MARK: Loading

    private mutating func load() throws {
        let expected = subject.expected
        let faults = expected["load_errors"]?.elements ?? []
        var isValid = faults.isEmpty
        if case .bool(let flag)? = expected["valid"]?.value { isValid = flag }
        expect(errors.isEmpty == isValid, "loads: \(isValid) expected, found \(errors.map(\.text))")
        for fault in faults {
            guard let words = fault["mentions"]?.string else { continue }
            expect(mentions(words), "'\(words)' expected in \(errors.map(\.text))")
        }
        for words in expected["errors_contain"]?.elements ?? [] {
            let text = (words.string ?? "").trimmingCharacters(in: CharacterSet(charactersIn: "."))
            expect(mentions(text), "'\(text)' expected in \(errors.map(\.text))")
        }
        if let count = expected.text("template_count") {
            expect("\(templates.count)" == count, "\(count) templates expected, found \(templates.count)")
        }
        if let template = expected["template"] { try compare(templates.first, template) }
        for member in expected["lookup"]?.members ?? [] {
            try compare(templates.first { $0.typeName == member.name }, member.node)
        }
    }

    private mutating func compare(_ template: FHIRTemplate?, _ expected: JSONNode) throws {
        guard let template else { return expect(false, "a template expected, found \(errors.map(\.text))") }
        if let name = expected["typeName"]?.string { expect(template.typeName == name, "type \(name) expected") }
        if let interval = expected.text("periodInterval") {
            let grouping = template.grouping(defaultPeriod: 1)
            expect(grouping == Self.grouping(interval), "periodInterval \(interval) expected, found \(grouping)")
        }
        guard expected["codes"] != nil || expected["value"] != nil || expected["components"] != nil else { return }
        let observation = try observation(of: template)
        for code in expected["codes"]?.elements ?? [] {
            expectCoding(code, in: observation["code.coding"], "code")
        }
        if let value = expected["value"], !value.isNull { expectValue(value, in: observation, "value") }
        for (index, component) in (expected["components"]?.elements ?? []).enumerated() {
            guard let found = observation["component.\(index)"] else {
                expect(false, "component \(index) expected")
                continue
            }
            for code in component["codes"]?.elements ?? [] {
                expectCoding(code, in: found["code.coding"], "component \(index)")
            }
            if let value = component["value"] { expectValue(value, in: found, "component \(index)") }
        }
    }

    private static func grouping(_ interval: String) -> Grouping {
        switch interval {
        case "0": .instance
        case "-1": .correlation
        default: .tumbling(nanoseconds: (Int64(interval) ?? 0) * 60_000_000_000)
        }
    }

    // MARK: What the template writes

    /// What the template makes of one reading that has every value.
    private func observation(of template: FHIRTemplate) throws -> JSONNode {
        let uses = template.valueUses
        let type = MeasurementType(
            name: template.typeName, valueNames: uses.map(\.name), grouping: template.grouping(defaultPeriod: 1),
            isNumeric: uses.map(\.isNumeric))
        var window = TestWindow()
        var numbers: [Int: String] = [:]
        var texts: [Int: String] = [:]
        for (slot, use) in uses.enumerated() {
            if use.isNumeric { numbers[slot] = "60" } else { texts[slot] = "sixty" }
        }
        window.add(0, numbers, texts: texts)
        var encoder = ObservationEncoder(
            types: [type], templates: [template], options: ObservationOptions(), digest: testDigest)
        var writer = ByteWriter()
        _ = window.withContent { encoder.encode($0, into: &writer) }
        return try TextJSON.parse(writer.view.string)
    }

    private mutating func expectCoding(_ expected: JSONNode, in found: JSONNode?, _ place: String) {
        let isThere = (found?.elements ?? []).contains { coding in
            (expected.members ?? []).allSatisfy { coding[$0.name]?.string == $0.node.string }
        }
        expect(isThere, "\(place): \(JSONText.write(expected)) expected, found \(found.map(JSONText.write) ?? "none")")
    }

    private mutating func expectValue(_ expected: JSONNode, in found: JSONNode, _ place: String) {
        let type = expected["valueType"]?.string ?? ""
        guard let value = found["value\(type)"] else { return expect(false, "\(place): value\(type) expected") }
        switch type {
        case "SampledData":
            expect(value.text("period") == expected.text("defaultPeriod"), "\(place): its period expected")
            expect(value.text("origin.unit") == expected.text("unit"), "\(place): its unit expected")
        case "Quantity":
            for name in ["unit", "system", "code"] {
                expect(value.text(name) == expected.text(name), "\(place): its \(name) expected")
            }
        case "CodeableConcept":
            expect(value.text("text") == expected.text("text"), "\(place): its text expected")
            for code in expected["codes"]?.elements ?? [] { expectCoding(code, in: value["coding"], place) }
        default: expect(value.string == "sixty", "\(place): its text expected")
        }
    }

    // MARK: Finding

    private mutating func lookup() {
        let wanted = subject.node["input.get"].map { $0.elements ?? [$0] } ?? []
        let result = MappingLoader.load([mapping(of: wanted.compactMap(\.string))])
        let found = result.set?.fhirTemplates.compactMap { $0?.typeName }
        switch subject.expected["error.kind"]?.string {
        case "InvalidTemplate":
            expect(mentions("Duplicate template defined for type name"), "found \(errors.map(\.text))")
        case "TemplateNotFound":
            expect(found == [], "no template expected, found \(found ?? [])")
            expect(result.diagnostics.contains { $0.code == "no-fhir-template" }, "a warning expected")
        default:
            let names = (subject.expected["found"]?.elements ?? []).compactMap(\.string)
            expect(found == names, "\(names) expected, found \(found ?? [])")
        }
    }

    /// A mapping whose device templates give measurements of the types `names`.
    private func mapping(of names: [String]) -> NamedMapping {
        let templates = names.map { name in
            #"{"templateType":"JsonPathContent","template":{"typeName":"\#(name)","typeMatchExpression":"$..[?(@v)]","#
                + #""deviceIdExpression":"$.d","timestampExpression":"$.t"}}"#
        }
        let device = #"{"templateType":"CollectionContent","template":[\#(templates.joined(separator: ","))]}"#
        return NamedMapping(
            name: "m", device: MappingFile(name: "m/device.json", bytes: Array(device.utf8)),
            fhir: MappingFile(name: "m/fhir.json", bytes: Array(subject.text.utf8)))
    }
}
