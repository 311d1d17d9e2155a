import KymographCore
import KymographTemplates
import KymographTestKit
import Testing
import TrialSupport

@testable import Kymograph

/// The bytes that an explanation names are those that its expressions gave.
@Suite struct ExplainRangeTests {
    /// Expressions of all ways in which one is evaluated: members of the payload and of the match, the general path,
    /// and JMESPath.
    private static let device = """
        {"templateType": "CollectionContent", "template": [
          {"templateType": "CalculatedContent", "template": {
            "typeName": "sample", "typeMatchExpression": "$..[?(@t && @v)]",
            "deviceIdExpression": "$.Body.source", "timestampExpression": "$.matchedToken.t",
            "values": [
              {"valueName": "v", "valueExpression": "$.matchedToken.v", "required": true},
              {"valueName": "made", "valueExpression": {"value": "join('-', ['a', matchedToken.t])",
                "language": "JmesPath"}},
              {"valueName": "found", "valueExpression": {"value": "matchedToken.v", "language": "JmesPath"}}]}}]}
        """
    private static let fhir = """
        {"templateType": "CollectionFhir", "template": [{"templateType": "CodeValueFhir", "template": {
          "typeName": "sample", "codes": [{"code": "sample", "system": "urn:example", "display": "Sample"}],
          "value": {"valueType": "Quantity", "valueName": "v", "unit": "1", "code": "1",
            "system": "http://unitsofmeasure.org"}}}]}
        """

    private func explain(_ payload: [UInt8], _ compatibility: Compatibility) throws -> JSONTree {
        var request = Playground.Request()
        (request.payload, request.compatibility) = (payload, compatibility)
        (request.device, request.fhir) = (Array(Self.device.utf8), Array(Self.fhir.utf8))
        let answer = Playground.answer(to: request, received: Instant(seconds: 1_800_000_000))
        let document = try #require(answer.document, "\(answer.findings.map(\.text))")
        return try #require(try JSONTree(parsing: document)["explain"])
    }

    private func range(_ tree: JSONTree) -> Range<Int>? {
        guard case .number(let start)? = tree["start"], case .number(let end)? = tree["end"] else { return nil }
        return Int(start).flatMap { start in Int(end).map { start..<$0 } }
    }

    /// What stands at each range is what was written there, and what the expression gave.
    private func check(_ payload: ExplainedPayload, _ compatibility: Compatibility, _ seed: UInt64) throws {
        let explanation = try explain(payload.bytes, compatibility)
        let template = explanation["documents"]?.elements?.first?["templates"]?.elements?.first
        let matches = try #require(template?["matches"]?.elements, "seed \(seed): \(explanation)")
        #expect(matches.count == payload.readings, "seed \(seed)")
        for (index, match) in matches.enumerated() {
            #expect(range(match) == payload.places["reading"]?[index], "seed \(seed)")
            var seen: Set<String> = []
            for field in match["expressions"]?.elements ?? [] {
                let role = (field["role"]?.text ?? "") + (field["name"]?.text ?? "")
                seen.insert(role)
                try check(field, role, index, payload, "seed \(seed), \(role)")
            }
            #expect(seen == ["device", "timestamp", "valuev", "valuemade", "valuefound"], "seed \(seed)")
        }
    }

    private func check(
        _ field: JSONTree, _ role: String, _ index: Int, _ payload: ExplainedPayload, _ place: String
    ) throws {
        let found = range(field)
        switch role {
        case "device": #expect(found == payload.places["source"]?.first, "\(place)")
        case "timestamp": #expect(found == payload.places["t"]?[index], "\(place)")
        case "valuev", "valuefound": #expect(found == payload.places["v"]?[index], "\(place)")
        default: #expect(found == nil && field["value"]?.text?.hasPrefix("a-2026") == true, "\(place)")
        }
        guard let found, payload.bytes[found.lowerBound] != UInt8(ascii: "'") else { return }
        #expect(try JSONTree(parsing: Array(payload.bytes[found])) == field["value"], "\(place)")
    }

    @Test(arguments: Trials.seeds(60)) func rangesHoldWhatWasGiven(seed: UInt64) throws {
        let payload = ExplainedPayload(SeededGenerator(seed: seed))
        try check(payload, .none, seed)
        try check(payload, .iomtFHIR, seed)
    }

    /// Of a document that is rewritten first, the places are those in what came.
    @Test(arguments: Trials.seeds(60)) func rangesOfLenientDocuments(seed: UInt64) throws {
        try check(ExplainedPayload(SeededGenerator(seed: seed), isLenient: true), .iomtFHIR, seed)
    }

    /// Of the second value of a payload, the places are those in the payload.
    @Test(arguments: Trials.seeds(20)) func rangesBehindOtherValues(seed: UInt64) throws {
        try check(ExplainedPayload(SeededGenerator(seed: seed), before: 7), .none, seed)
        let first = ExplainedPayload(SeededGenerator(seed: seed))
        let second = ExplainedPayload(SeededGenerator(seed: seed), before: 3)
        let both = try explain(first.bytes + second.bytes, .none)
        let documents = try #require(both["documents"]?.elements)
        let match = documents.last?["templates"]?.elements?.first?["matches"]?.elements?.first
        let expected = second.places["reading"]?.first.map { $0.lowerBound + first.bytes.count }
        #expect(documents.count == 2 && match.flatMap(range)?.lowerBound == expected, "seed \(seed)")
    }

    /// Words that a lenient reader writes anew stand where they came.
    @Test func rangesOfWordsOfOtherLength() throws {
        let text = "{source:'d', list:[{t: '2026-03-01T08:00:10Z' /* at */ , v:NaN , w:undefined}]}"
        let explanation = try explain(Array(text.utf8), .iomtFHIR)
        let fields = explanation["documents"]?.elements?.first?["templates"]?.elements?.first?["matches"]?.elements?
            .first?["expressions"]?.elements
        let found = (fields ?? []).compactMap(range).map { String(decoding: Array(text.utf8)[$0], as: UTF8.self) }
        #expect(found == ["'d'", "'2026-03-01T08:00:10Z'", "NaN", "NaN"])
    }

    /// What was decoded is shown, and has the ranges.
    @Test func rangesOfPacketsAreInWhatWasDecoded() throws {
        let files = try #require(MappingCatalogue.files(of: "heart-rate-strap"))
        var request = Playground.Request()
        (request.device, request.fhir, request.name) = (files.device, files.fhir, files.name)
        request.payload = Array(
            #"{"device":"d","characteristic":"2A37","time":"2026-03-01T08:00:05Z","value":"163c1104"}"#.utf8)
        let answer = Playground.answer(to: request, received: Instant(seconds: 1_800_000_000))
        let explanation = try JSONTree(parsing: try #require(answer.document))["explain"]
        var checked = 0
        for document in explanation?["documents"]?.elements ?? [] {
            let decoded = Array(try #require(document["decoded"]?.text).utf8)
            for template in document["templates"]?.elements ?? [] {
                for match in template["matches"]?.elements ?? [] {
                    for field in match["expressions"]?.elements ?? [] {
                        guard let found = range(field) else { continue }
                        #expect(try JSONTree(parsing: Array(decoded[found])) == field["value"])
                        checked += 1
                    }
                }
            }
        }
        #expect(checked >= 6)
    }
}
