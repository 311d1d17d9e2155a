import KymographCore
import Testing

/// What is no number where one is read costs the reading only when it has nothing else.
@Suite struct SetAsideTests {
    private func run(
        _ members: [String] = ["", ""], names: [String] = ["a", "b"], compatibility: Compatibility = .none
    ) throws -> MappingRun {
        let values = zip(names, members).enumerated().map { index, entry in
            "{\"valueName\":\"\(entry.0)\",\"valueExpression\":\"$.v\(index)\"\(entry.1)}"
        }
        let device = """
            {"templateType":"CollectionContent","template":[{"templateType":"JsonPathContent","template":{
            "typeName":"t","typeMatchExpression":"$..[?(@d)]","deviceIdExpression":"$.d","timestampExpression":"$.t",
            "values":[\(values.joined(separator: ","))]}}]}
            """
        let components = Set(names).sorted().map { name in
            "{\"codes\":[{\"system\":\"urn:test\",\"code\":\"\(name)\"}],"
                + "\"value\":{\"valueType\":\"Quantity\",\"valueName\":\"\(name)\"}}"
        }
        let fhir = """
            {"templateType":"CollectionFhir","template":[{"templateType":"CodeValueFhir","template":{
            "typeName":"t","codes":[{"system":"urn:test","code":"1"}],
            "components":[\(components.joined(separator: ","))]}}]}
            """
        return try MappingRun(device: device, fhir: fhir, compatibility: compatibility)
    }

    private func line(_ first: String, _ second: String) -> String {
        "{\"d\":\"x\",\"t\":\"2023-11-01T08:00:00Z\",\"v0\":\(first),\"v1\":\(second)}"
    }

    @Test(arguments: [
        ("\"loose\"", "loose"), ("\"\"", ""), ("true", "True"), ("1234567890123456789", "1234567890123456789"),
        ("\"1e101\"", "1e101"),
    ])
    func theOtherValueStays(spoiled: String, kept: String) throws {
        let outcome = try run().lines([line("97", spoiled), line(spoiled, "97")])
        #expect(outcome.rejections.isEmpty)
        #expect(outcome.values("a") == ["97", kept])
        #expect(outcome.values("b") == [kept, "97"])
    }

    @Test func aReadingWithNothingElseIsRejected() throws {
        let outcome = try run().lines([
            line("null", "\"loose\""), line("\"loose\"", "true"), line("null", "1234567890123456789"),
            line("null", "[]"),
        ])
        #expect(outcome.reasons == [.invalidValue, .invalidValue, .inexactNumber, .missingValue])
        #expect(outcome.rejections.map(\.value) == [1, 0, 1, 0])
    }

    @Test func aRequiredValueMustBeANumber() throws {
        let run = try run(["", ",\"required\":true"])
        #expect(run.line(line("97", "\"loose\"")).reasons == [.invalidValue])
        #expect(run.line(line("\"loose\"", "97")).values("a") == ["loose"])
    }

    /// Two entries for one value: the other may be the number.
    @Test func oneOfTwoEntriesIsNotSetAside() throws {
        let run = try run(["", "", ""], names: ["a", "a", "b"])
        #expect(run.line(line("\"loose\"", "97")).reasons == [.invalidValue])
    }

    /// The reference ends there.
    @Test func compatibilityRejects() throws {
        let run = try run(compatibility: .iomtFHIR)
        #expect(run.line(line("97", "\"loose\"")).reasons.contains(.invalidValue))
    }
}
