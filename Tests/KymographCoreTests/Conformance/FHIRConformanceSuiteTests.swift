import Foundation
import KymographCore
import KymographTemplates
import Testing

/// The reference system's own unit tests of loading and finding FHIR templates, run here. Differences are listed with
/// their reasons in `fhir-expected-differences.json`.
@Suite struct FHIRConformanceSuiteTests {
    @Test(.enabled(if: SharedFiles.root != nil, "needs the shared folder; set KYMO_SHARED"))
    func loadsAndFindsAsTheReference() throws {
        let root = try #require(SharedFiles.root)
        let listed = try ListedDifference.load("fhir-expected-differences.json")
        var found: Set<String> = []
        var counts: [String: Int] = [:]
        for subject in try FHIRConformanceCase.load(from: root) {
            counts[subject.operation, default: 0] += 1
            let differences = try FHIRConformanceCheck.differences(subject)
            if differences.isEmpty { continue }
            found.insert(subject.id)
            #expect(listed.contains { $0.id == subject.id }, "\(subject.id): \(differences.joined(separator: "; "))")
        }
        print("conformance of FHIR templates: \(counts), \(found.count) differ as listed")
        #expect(counts == ["load": 25, "lookup": 4])
        #expect(Set(listed.map(\.id)) == found, "listed, but as the reference")
    }
}

/// One case of kind `fhir` with the operation `load` or `lookup`.
struct FHIRConformanceCase {
    let id: String
    let operation: String
    let node: JSONNode
    let expected: JSONNode
    /// Text of a FHIR mapping, made a collection where the case gives a single template.
    let text: String

    static func load(from root: URL) throws -> [FHIRConformanceCase] {
        let all = try JSONText.parse(Data(contentsOf: root.appendingPathComponent("conformance/cases.json")))
        return try (all.elements ?? []).compactMap { try FHIRConformanceCase($0, root: root) }
    }

    private init?(_ node: JSONNode, root: URL) throws {
        guard node["kind"]?.string == "fhir", let operation = node["op"]?.string, let id = node["id"]?.string,
            ["load", "lookup"].contains(operation), let template = node["template"], let expected = node["expected"]
        else { return nil }
        if case .bool(false)? = node["in_scope"]?.value { return nil }
        self.id = id
        self.operation = operation
        self.node = node
        self.expected = expected
        var text = try ConformanceCase.text(template, root: root).replacing("\r\n", with: "\n")
        if let names = template["register"]?.elements {
            let shells = names.map { #"{"templateType":"CodeValueFhir","template":{"typeName":"\#($0.string ?? "")"# }
            text = "[\(shells.map { $0 + #"","codes":[]}}"# }.joined(separator: ","))]"
        }
        // Their test registers factories of template types that no mapping has; ours knows one, which stands for them.
        for factory in node["registered_factories"]?.elements ?? [] {
            let mock = #""templateType": "\#(factory.string ?? "")",\#n      "template": {}"#
            let known = #""templateType": "CodeValueFhir", "template": {"typeName": "\#(factory.string ?? "")", "#
            text = text.replacing(mock, with: known + #""codes": []}"#)
        }
        self.text = FHIRConformanceCase.collection(text)
    }

    /// Puts a template, or a list of templates, into a collection, on the same lines.
    private static func collection(_ text: String) -> String {
        guard let node = try? JSONText.parse(Data(text.utf8)) else { return text }
        if node.elements != nil { return #"{"templateType":"CollectionFhir","template":\#(text)}"# }
        let type = node["templateType"]?.string?.lowercased() ?? ""
        let isSingle = type.contains("codevalue") || node.members?.count == 0
        return isSingle ? #"{"templateType":"CollectionFhir","template":[\#(text)]}"# : text
    }
}
