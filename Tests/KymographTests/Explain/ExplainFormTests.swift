import KymographCore
import KymographTemplates
import KymographTestKit
import Testing

@testable import Kymograph

/// The form of an explanation for programs (docs/explain.md).
@Suite struct ExplainFormTests {
    private static let device = """
        {"templateType": "CollectionContent", "template": [
          {"templateType": "CalculatedContent", "template": {
            "typeName": "temp", "typeMatchExpression": "$..[?(@t && @temp)]",
            "deviceIdExpression": "$.matchedToken.id", "timestampExpression": "$.matchedToken.t",
            "values": [{"valueName": "celsius", "valueExpression": "$.matchedToken.temp", "required": true,
              "unit": {"expression": "$.matchedToken.unit", "units": {"F": "[degF]"}, "to": "Cel"}}]}}]}
        """
    private static let fhir = """
        {"templateType": "CollectionFhir", "template": [{"templateType": "CodeValueFhir", "template": {
          "typeName": "temp", "codes": [{"code": "8310-5", "system": "http://loinc.org", "display": "Temperature"}],
          "value": {"valueType": "Quantity", "valueName": "celsius", "unit": "Cel", "code": "Cel",
            "system": "http://unitsofmeasure.org"}}}]}
        """

    private func matches(_ tree: JSONTree?) -> [JSONTree] {
        let templates = tree?["documents"]?.elements?.first?["templates"]?.elements ?? []
        return templates.flatMap { $0["matches"]?.elements ?? [] }
    }

    private func explain(_ payload: String, name: String) throws -> JSONTree {
        let files = try #require(MappingCatalogue.files(of: name))
        var request = Playground.Request()
        (request.device, request.fhir, request.name) = (files.device, files.fhir, files.name)
        request.payload = Array(payload.utf8)
        let answer = Playground.answer(to: request, received: Instant(seconds: 1_800_000_000))
        return try JSONTree(parsing: try #require(answer.document))
    }

    private static let heartRate =
        #"{"deviceId":"watch-1","type":"heartRate","timestamp":"2026-03-01T08:00:05Z","value":72,"unit":"/min"}"#

    /// A whole reading names its template, its expressions, and what was kept.
    @Test func aReading() throws {
        let tree = try explain(Self.heartRate, name: "reading")
        let explanation = try #require(tree["explain"])
        #expect(explanation["version"] == .number("1") && explanation["nearest"] == nil)
        let templates = try #require(explanation["documents"]?.elements?.first?["templates"]?.elements)
        let matched = templates.filter { $0["outcome"]?.text == "matched" }
        #expect(
            matched.count == 1 && matched[0]["file"]?.text == "device.json" && matched[0]["mapping"]?.text == "reading")
        let match = try #require(matched[0]["matches"]?.elements?.first)
        #expect(match["outcome"]?.text == "reading" && match["conversions"] == nil)
        #expect(match["values"]?.elements?.first?["text"]?.text == "72")
        let roles = match["expressions"]?.elements?.compactMap { $0["role"]?.text } ?? []
        #expect(roles.contains("device") && roles.contains("timestamp") && roles.contains("value"))
        #expect(templates.allSatisfy { $0["line"] != nil && $0["expression"] != nil && $0["type"] != nil })
    }

    /// A payload that no template matches names the nearest one, and what its expression mentions.
    @Test func noMatch() throws {
        let tree = try explain(Self.heartRate.replacing("heartRate", with: "heartrate"), name: "reading")
        let explanation = try #require(tree["explain"])
        let templates = explanation["documents"]?.elements?.first?["templates"]?.elements ?? []
        #expect(templates.allSatisfy { $0["outcome"]?.text == "notMatched" } && !templates.isEmpty)
        let nearest = templates.filter { $0["isNearest"] == .bool(true) }
        #expect(nearest.count == 1 && nearest[0]["type"]?.text?.lowercased().contains("heart") == true)
        #expect(explanation["nearest"]?.text?.contains("typeMatchExpression") == true)
        let rejection = explanation["rejections"]?.elements?.first
        #expect(rejection?["reason"]?.text == "noTemplate" && rejection?["hint"] == explanation["nearest"])
        #expect(tree["rejected"]?.elements?.first?["reason"]?.text == "noTemplate")
    }

    /// A rejected match says why, by which field, and what to do.
    @Test func aRejection() throws {
        let tree = try explain(Self.heartRate.replacing("72", with: "null"), name: "reading")
        let explanation = try #require(tree["explain"])
        let first = matches(explanation).first
        #expect(first?["outcome"]?.text == "rejected" && first?["reason"]?.text == "nullValue")
        #expect(first?["explanation"]?.text == Rejection.nullValue.explanation)
        #expect(first?["detail"]?.text?.contains("value") == true)
        #expect(explanation["rejections"]?.elements?.first?["reason"]?.text == "nullValue")
    }

    /// What is no JSON says where.
    @Test func aRefusal() throws {
        let tree = try explain(#"{"type":"#, name: "reading")
        let refused = tree["explain"]?["refused"]
        #expect(refused?["reason"]?.text == "invalidJSON" && refused?["offset"] == .number("8"))
    }

    /// A value of another unit than the payload's says from what it was converted, and to what.
    @Test(arguments: [("$.matchedToken.id", true), ("$.Body.body.id", false)])
    func aConversionAndAHint(device: String, isReading: Bool) throws {
        var request = Playground.Request()
        request.device = Array(Self.device.replacing("$.matchedToken.id", with: device).utf8)
        request.fhir = Array(Self.fhir.utf8)
        request.payload = Array(#"{"id":"d","t":"2026-03-01T08:00:05Z","temp":98.6,"unit":"F"}"#.utf8)
        let answer = Playground.answer(to: request, received: Instant(seconds: 1_800_000_000))
        let document = try #require(answer.document, "\(answer.findings.map(\.text))")
        let match = try #require(matches(try JSONTree(parsing: document)["explain"]).first)
        let conversion = match["conversions"]?.elements?.first
        if isReading {
            #expect(conversion?["from"]?.text == "98.6" && conversion?["to"]?.text == "37.0")
            #expect(match["expressions"]?.elements?.contains { $0["role"]?.text == "unit" } == true)
        } else {
            #expect(match["reason"]?.text == "noDevice" && conversion == nil)
            #expect(match["expressions"]?.elements?.first?["problem"]?.text == "nothing")
        }
    }

    /// Many matches are cut, and told.
    @Test func manyMatches() throws {
        let count = PayloadExplanation.mostMatches + 5
        let files = try #require(MappingCatalogue.files(of: "reading"))
        var request = Playground.Request()
        (request.device, request.fhir, request.name) = (files.device, files.fhir, files.name)
        request.payload = Array("[\(Array(repeating: Self.heartRate, count: count).joined(separator: ","))]".utf8)
        let answer = Playground.answer(to: request, received: Instant(seconds: 1_800_000_000))
        let tree = try JSONTree(parsing: try #require(answer.document))
        let templates = tree["explain"]?["documents"]?.elements?.first?["templates"]?.elements ?? []
        let matched = templates.first { $0["outcome"]?.text == "matched" }
        #expect(matched?["matches"]?.elements?.count == PayloadExplanation.mostMatches)
        #expect(matched?["matchesLeftOut"] == .number("5"))
        #expect(tree["measurements"]?.elements?.count == count)
    }
}
