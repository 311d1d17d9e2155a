import KymographCore
import KymographTemplates
import Testing

/// `dialect` in mapping files: the version of the mapping language that they need.
@Suite struct MappingDialectTests {
    private static func device(_ members: String) -> String {
        #"""
        {"templateType": "CollectionContent",
         \#(members)"template": [{"templateType": "JsonPathContent", "template": {
          "typeName": "heartrate", "typeMatchExpression": "$..[?(@hr)]", "deviceIdExpression": "$.d",
          "timestampExpression": "$.t", "values": [{"valueName": "hr", "valueExpression": "$.hr"}]}}]}
        """#
    }

    private static func fhir(_ members: String) -> String {
        #"""
        {"templateType": "CollectionFhir",
         \#(members)"template": [{"templateType": "CodeValueFhir", "template": {"typeName": "heartrate", "codes": [],
          "text": "rate", "value": {"valueType": "Quantity", "valueName": "hr", "unit": "/min",
           "code": "/min"}}}]}
        """#
    }

    private func load(_ device: String, _ fhir: String, _ compatibility: Compatibility = .none) -> MappingLoader.Result
    {
        MappingLoader.load([
            NamedMapping(
                name: "m", device: MappingFile(name: "m/device.json", bytes: Array(device.utf8)),
                fhir: MappingFile(name: "m/fhir.json", bytes: Array(fhir.utf8)), compatibility: compatibility)
        ])
    }

    /// A file that needs what is read here is read as one that says nothing, by whosever rules.
    @Test(arguments: Compatibility.allCases) func ofThisKymo(_ compatibility: Compatibility) {
        let plain = load(Self.device(""), Self.fhir(""), compatibility)
        let stated = load(Self.device("\"dialect\": 1, "), Self.fhir("\"dialect\": 1, "), compatibility)
        #expect(MappingDialect.version == 1 && stated.set != nil && plain.set != nil)
        #expect(stated.diagnostics.map(\.message) == plain.diagnostics.map(\.message))
        #expect(load(Self.device("\"dialect\": null, "), Self.fhir("")).set != nil)
    }

    /// A later one is refused with its place and what to do, and nothing else is said of the file.
    @Test func later() {
        let members = "\"dialect\": 2, \"novelty\": {}, "
        for (file, result) in [
            ("device", load(Self.device(members), Self.fhir(""))), ("fhir", load(Self.device(""), Self.fhir(members))),
        ] {
            #expect(
                result.set == nil
                    && result.diagnostics.map(\.text) == [
                        "m/\(file).json:2:13: error: the mapping is written for dialect 2, and this kymo reads "
                            + "dialect 1; run a later kymo ('kymo capabilities' names the dialect that one reads), or "
                            + "an earlier version of the mapping"
                    ], "\(result.diagnostics.map(\.text))")
            #expect(result.diagnostics.map(\.code) == ["newer-dialect"])
        }
    }

    @Test(arguments: [
        ("0", "unknown-choice"), ("-1", "unknown-choice"), ("1.5", "unknown-choice"), ("\"1\"", "wrong-kind"),
        ("true", "wrong-kind"),
    ])
    func noDialect(_ value: String, _ code: String) {
        let member = "\"dialect\": \(value), "
        let found = load(Self.device(member), Self.fhir(member)).diagnostics
        #expect(
            found.map(\.code) == [code, code] && found.allSatisfy { $0.position.line == 2 }, "\(found.map(\.text))")
    }
}
