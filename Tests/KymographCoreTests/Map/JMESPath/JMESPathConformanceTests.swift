import Foundation
import Testing

@testable import KymographCore
@testable import KymographTemplates

/// The reference system's own unit tests of its functions, run here. All of them give what the reference gives.
@Suite struct JMESPathConformanceTests {
    private static let errors = [
        "InvalidType": "invalid-type", "DivideByZero": "divide by zero", "Overflow": "overflow",
        "OutOfRange": "out of range",
    ]

    private func cases() throws -> [JSONNode] {
        let root = try #require(SharedFiles.root)
        let all = try JSONText.parse(Data(contentsOf: root.appendingPathComponent("conformance/cases.json")))
        return (all.elements ?? []).filter { $0["kind"]?.string == "customfunction" }
    }

    @Test(.enabled(if: SharedFiles.root != nil, "needs the shared folder; set KYMO_SHARED"))
    func givesWhatTheReferenceGives() throws {
        var run: [String: Int] = [:]
        for subject in try cases() {
            let operation = subject["op"]?.string ?? ""
            let id = subject["id"]?.string ?? ""
            let expected = try #require(subject["expected"])
            run[operation, default: 0] += 1
            switch operation {
            case "registry": checkRegistry(expected)
            case "parse": #expect(outcome(subject, "{}").hasPrefix("syntax:"), "\(id)")
            default: check(id, outcome(subject, subject["input"].map(JSONText.write) ?? "null"), expected)
            }
        }
        #expect(run == ["eval": 105, "parse": 23, "registry": 1])
    }

    private func outcome(_ subject: JSONNode, _ document: String) -> String {
        JMESPathOutcome.of(subject["template"]?["expression"]?.string ?? "", document)
    }

    private func check(_ id: String, _ outcome: String, _ expected: JSONNode) {
        if let error = expected["error"] {
            let words = JMESPathConformanceTests.errors[error["kind"]?.string ?? ""] ?? "?"
            #expect(outcome.hasPrefix("fails:") && outcome.contains(words), "\(id): \(outcome)")
            for part in error["message_contains"]?.elements ?? [] {
                #expect(outcome.contains(part.string ?? "?"), "\(id): \(outcome)")
            }
            return
        }
        let value = expected["value"].map(JSONText.write) ?? ""
        guard expected["type"]?.string == "float" else {
            #expect(outcome == value, "\(id)")
            return
        }
        let tolerance = expected["tolerance"].flatMap { Double(JSONText.write($0)) } ?? 0
        let difference = (Double(outcome) ?? .nan) - (Double(value) ?? .nan)
        #expect(difference.magnitude <= tolerance, "\(id): \(outcome), not \(value)")
    }

    /// Every name that the reference has is a function here that is not of the specification.
    private func checkRegistry(_ expected: JSONNode) {
        let names = (expected["names"]?.elements ?? []).compactMap(\.string)
        #expect(names.sorted() == JMESPathFunction.custom.map(\.name).sorted())
    }
}
