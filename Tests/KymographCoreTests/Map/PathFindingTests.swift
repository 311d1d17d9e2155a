import KymographCore
import KymographTemplates
import Testing

/// Paths that begin at the wrong place, and a time that one template takes from elsewhere than all others.
@Suite struct PathFindingTests {
    private func codes(_ templates: [[String: Any]], of code: String) throws -> [String] {
        let text = try TestTemplate.file(templates)
        let mapping = NamedMapping(
            name: "m", device: MappingFile(name: "device.json", bytes: Array(text.utf8)), fhir: nil)
        return MappingLoader.load([mapping], measurementsOnly: true).diagnostics.filter { $0.code == code }
            .map { "\($0.severity.rawValue) \($0.text)" }
    }

    /// `words` is what the warning says, or nil where the path is well.
    @Test(
        arguments: [
            ("CalculatedContent", "$..[?(@v)]", "$.d", "did you mean '$.Body.d'?"),
            ("CalculatedContent", "$..[?(@v)]", "d.id", "did you mean '$.Body.d.id'?"),
            ("CalculatedContent", "$..[?(@v)]", "$.matchedToken.d", nil),
            ("CalculatedContent", "$..[?(@v)]", "$.Body.d", nil),
            ("CalculatedContent", "$..[?(@v)]", "$.SystemProperties.d", nil),
            ("JsonPathContent", "$..[?(@v)]", "$.d", nil),
            ("JsonPathContent", "$..[?(@v)]", "$.Body.d", "did you mean '$.d'?"),
            ("JsonPathContent", "$..[?(@Body.v)]", "$.Body.d", nil),
            ("JsonPathContent", "$", "$.Body.d", nil),
            ("JsonPathContent", "$.heartRate", "$.d", "did you mean '$.Body.heartRate'?"),
            ("JsonPathContent", "$.Body.heartRate", "$.d", nil),
            ("JsonPathContent", "$['heartRate']", "$.d", "did you mean '$.Body['heartRate']'?"),
            ("JsonPathContent", "$['heart rate'].x", "$.d", "did you mean '$.Body['heart rate'].x'?"),
            ("JsonPathContent", "$['Body'].heartRate", "$.d", nil),
            ("JsonPathContent", "$..[?(@v)]", "$['Body'].d", "did you mean '$.d'?"),
            ("JsonPathContent", "$..[?(@v)]", "$.Body['d']", "did you mean '$['d']'?"),
            ("JsonPathContent", "$..[?(@v)]", "$['d']", nil),
            ("CalculatedContent", "$..[?(@v)]", "$['d']", "did you mean '$.Body['d']'?"),
            ("CalculatedContent", "$..[?(@v)]", "$['matchedToken'].d", nil),
            ("JsonPathContent", "$[0]", "$.d", nil),
        ] as [(String, String, String, String?)])
    func pathsBeginWhereTheyAreEvaluated(kind: String, match: String, device: String, words: String?) throws {
        let time = kind == "CalculatedContent" ? "$.matchedToken.t" : "$.t"
        let value = TestTemplate.value("x", kind == "CalculatedContent" ? "$.matchedToken.v" : "$.v")
        let template = TestTemplate.jsonPath(
            match: match, values: [value], kind: kind,
            with: ["deviceIdExpression": device, "timestampExpression": time])
        let found = try codes([template], of: "envelope-path")
        #expect(found.count == (words == nil ? 0 : 1), "\(found)")
        if let words { #expect(found.first?.contains(words) == true && found[0].hasPrefix("warning"), "\(found)") }
    }

    @Test(arguments: [
        (["$.end", "$.end", "$.end", "$.start"], true), (["$.start", "$.end", "$.end", "$.end"], true),
        (["$.end", "$.end", "$.start"], false), (["$.end", "$.end", "$.end", "$.end"], false),
        (["$.end", "$.end", "$.start", "$.start"], false), (["$.a", "$.b", "$.c", "$.d"], false),
    ])
    func oneTimeOfAllTemplates(times: [String], isFound: Bool) throws {
        let templates = times.enumerated().map { index, time in
            TestTemplate.jsonPath("t\(index)", with: ["timestampExpression": time])
        }
        let found = try codes(templates, of: "different-time")
        #expect(found.count == (isFound ? 1 : 0), "\(found)")
        if isFound { #expect(found[0].contains("takes its time from $.start"), "\(found)") }
    }
}
