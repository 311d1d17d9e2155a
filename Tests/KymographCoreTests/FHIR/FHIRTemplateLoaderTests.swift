import KymographCore
import KymographTemplates
import Testing

@Suite struct FHIRTemplateLoaderTests {
    private func load(_ text: String) throws -> (templates: [FHIRTemplate], log: [Diagnostic]) {
        var log = DiagnosticLog(file: "fhir.json")
        let templates = FHIRTemplateLoader.load(try TextJSON.parse(text), log: &log)
        return (templates, log.all)
    }

    private func shell(_ body: String) -> String {
        """
        {"templateType":"CollectionFhir","template":[
        {"templateType":"CodeValueFhir","template":
        \(body)}]}
        """
    }

    /// Bodies start at line 3, column 1.
    private static let wrong: [(body: String, column: Int, message: String, advice: String)] = [
        (
            "{\"codes\":[]}", 1, "Required property 'TypeName' not found in JSON",
            "add \"typeName\" to a CodeValueFhir template"
        ),
        (
            "{\"typeName\":\"a\"}", 1, "Required property 'Codes' not found in JSON",
            "add \"codes\" to a CodeValueFhir template"
        ),
        (
            "{\"typeName\":\"a\",\"code\":[]}", 1, "Required property 'Codes' not found in JSON",
            "is 'code' a misspelling of it?"
        ),
        ("{\"typeName\":null,\"codes\":[]}", 13, "'typeName' expects a value but got null", ""),
        ("{\"typeName\":\" \",\"codes\":[]}", 13, "Empty type name is not allowed: ' '", ""),
        ("{\"typeName\":7,\"codes\":[]}", 13, "'typeName' must be a string, found a number", ""),
        ("{\"typeName\":\"a\",\"codes\":{}}", 25, "'codes' must be an array, found an object", ""),
        (
            "[]", 1,
            "Expected an object for the template property value for template type "
                + "CodeValueFhirTemplate, found an array",
            ""
        ),
        (
            "{\"typeName\":\"a\",\"codes\":[],\"valeu\":{}}", 28,
            "Could not find member 'valeu' on a CodeValueFhir template",
            "did you mean 'value'?"
        ),
        (
            "{\"typeName\":\"a\",\"codes\":[{\"cod\":\"1\"}]}", 27, "Could not find member 'cod' on a code",
            "did you mean 'code'?"
        ),
        (
            "{\"typeName\":\"a\",\"codes\":[],\"value\":{\"valueName\":\"v\",\"valueType\":\"Quantty\"}}", 65,
            "unknown valueType 'Quantty'", "did you mean 'Quantity'?"
        ),
        (
            "{\"typeName\":\"a\",\"codes\":[],\"value\":{\"valueName\":\"v\"}}", 36,
            "Property ValueType is missing in a value", ""
        ),
        (
            "{\"typeName\":\"a\",\"codes\":[],\"value\":{\"valueType\":\"String\"}}", 36,
            "Required property 'ValueName' not found in JSON", ""
        ),
        (
            "{\"typeName\":\"a\",\"codes\":[],\"period\":\"0s\"}", 37,
            "period '0s' is not a length of time above zero", ""
        ),
        (
            "{\"typeName\":\"a\",\"codes\":[],\"period\":\"5 minutes\"}", 37,
            "period '5 minutes' is not a length of time above zero", ""
        ),
        (
            "{\"typeName\":\"a\",\"codes\":[],\"periodInterval\":\"Weekly\"}", 45,
            "periodInterval is neither minutes nor a known name", ""
        ),
        (
            "{\"typeName\":\"a\",\"codes\":[],\"effective\":\"windw\"}", 40, "unknown effective 'windw'",
            "did you mean 'window'?"
        ),
        (
            "{\"typeName\":\"a\",\"codes\":[],\"components\":[{\"codes\":[]}]}", 42,
            "Required property 'Value' not found in JSON", ""
        ),
        (
            "{\"typeName\":\"a\",\"codes\":[],\"components\":[{\"codes\":[],\"value\":"
                + "{\"valueType\":\"Statistics\",\"valueName\":\"v\",\"series\":{}}}]}", 113,
            "Statistics inside a component cannot have 'series'", ""
        ),
        (
            "{\"typeName\":\"a\",\"codes\":[],\"value\":{\"valueType\":\"SampledData\",\"valueName\":\"v\","
                + "\"defaultPeriod\":0}}", 95, "'defaultPeriod' is not a number of milliseconds above zero", ""
        ),
        (
            "{\"typeName\":\"a\",\"codes\":[],\"value\":{\"valueType\":\"Statistics\",\"valueName\":\"v\","
                + "\"components\":[\"minimun\"]}}", 92, "unknown statistics component 'minimun'",
            "did you mean 'minimum'?"
        ),
        (
            "{\"typeName\":\"a\",\"codes\":[],\"value\":{\"valueType\":\"CodeableConcept\",\"valueName\":\"v\"}}", 36,
            "a CodeableConcept value needs 'codes' or 'text'", ""
        ),
    ]

    @Test(arguments: wrong.indices) func namesPlaceAndRemedy(index: Int) throws {
        let expected = Self.wrong[index]
        let log = try load(shell(expected.body)).log
        let found = log.first { $0.severity == .error && $0.message == expected.message }
        let diagnostic = try #require(found, "\(log.map(\.text))")
        #expect(diagnostic.position.line == 3)
        #expect(diagnostic.position.column == expected.column)
        if !expected.advice.isEmpty { #expect(diagnostic.advice == expected.advice) }
    }

    @Test(arguments: [
        (
            "{\"templateType\":\"CollectionContent\",\"template\":[]}",
            "Expected TemplateType value CollectionFhirTemplate, actual CollectionContent"
        ),
        ("{\"templateType\":\"\",\"template\":\"\"}", "Expected TemplateType value CollectionFhirTemplate, actual "),
        (
            "{\"templateType\":\"CollectionFhir\",\"template\":{}}",
            "Expected an array for the template property value for template type "
                + "CollectionFhirTemplate, found an object"
        ),
        ("{\"template\":[]}", "Required property 'TemplateType' not found in JSON"),
        ("{\"templateType\":\"CollectionFhir\"}", "Required property 'Template' not found in JSON"),
        ("[]", "a CollectionFhir template must be an object, found an array"),
        (
            "{\"templateType\":\"CollectionFhir\",\"template\":[{\"templateType\":\"mock\",\"template\":{}}]}",
            "Expected TemplateType value CodeValueFhirTemplate, actual mock"
        ),
    ])
    func refusesWrongShells(text: String, message: String) throws {
        let (templates, log) = try load(text)
        #expect(templates.isEmpty)
        #expect(log.map(\.message) == [message])
    }

    @Test func collectsAllErrorsAndKeepsTheRest() throws {
        let (templates, log) = try load(
            """
            {"templateType":"collectionfhirtemplate","template":[
              {"templateType":"CodeValueFhirTemplate","template":{"typeName":"Good","codes":[]}},
              {"templateType":"CodeValueFhir","template":{"typeName":"good","codes":[]}},
              {"templateType":"CodeValueFhir","template":{"codes":[]}},
              {"templateType":"CodeValueFhir","template":{"typeName":"b","code":[],"x":1}}]}
            """)
        #expect(templates.map(\.typeName) == ["Good"])
        let errors = log.filter { $0.severity == .error }
        #expect(errors.count == 5, "\(log.map(\.text))")
        let duplicate = try #require(errors.first { $0.code == "duplicate-type" })
        #expect(duplicate.message == "Duplicate template defined for type name: 'good'")
        #expect(duplicate.position.line == 3 && duplicate.template == "good")
        #expect(duplicate.advice.contains("line 2"))
        let places = errors.map { "\($0.position.line) \($0.code) \($0.template)" }
        #expect(
            places == [
                "4 missing-field ", "5 unknown-field b", "5 unknown-field b", "5 missing-field b",
                "3 duplicate-type good",
            ])
    }

    @Test(
        arguments: [
            ("\"period\":\"5m\"", .tumbling(nanoseconds: 300_000_000_000)),
            ("\"period\":\"instance\"", .instance), ("\"period\":\"correlation\"", .correlation),
            ("\"periodInterval\":60", .tumbling(nanoseconds: 3_600_000_000_000)),
            ("\"periodInterval\":\"daily\"", .tumbling(nanoseconds: 86_400_000_000_000)),
            ("\"periodInterval\":-1", .correlation), ("\"periodInterval\":0", .instance),
            ("\"periodInterval\":60,\"period\":\"1s\"", .tumbling(nanoseconds: 1_000_000_000)),
            ("\"text\":\"t\"", nil),
        ] as [(String, Grouping?)])
    func readsGroupings(member: String, grouping: Grouping?) throws {
        let (templates, log) = try load(shell("{\"typeName\":\"a\",\"codes\":[],\(member)}"))
        #expect(log.map(\.code) == ["no-value"])
        #expect(templates[0].declaredGrouping == grouping)
    }

    @Test func defaultGroupingFollowsTheValues() throws {
        let quantity = "{\"typeName\":\"a\",\"codes\":[],\"value\":{\"valueType\":\"Quantity\",\"valueName\":\"v\"}}"
        let statistics = quantity.replacing("Quantity", with: "Statistics")
        #expect(try load(shell(quantity)).templates[0].grouping(defaultPeriod: 60) == .instance)
        let sampled = quantity.replacing("Quantity", with: "SampledData")
        #expect(try load(shell(sampled)).templates[0].grouping(defaultPeriod: 60) == .instance, "as the reference")
        #expect(
            try load(shell(statistics)).templates[0].grouping(defaultPeriod: 60) == .tumbling(nanoseconds: 60))
    }

    @Test(arguments: [
        ("\"codes\":[{\"system\":\"http://loinc.org\",\"code\":\"55423-7\"}]", "check digit"),
        ("\"codes\":[{\"system\":\"http://loinc.org\",\"code\":\"8867\"}]", "not a LOINC number"),
        (
            "\"codes\":[],\"value\":{\"valueType\":\"Quantity\",\"valueName\":\"v\",\"code\":\"mmHg\"}",
            "not the UCUM code"
        ),
        (
            "\"codes\":[],\"value\":{\"valueType\":\"Quantity\",\"valueName\":\"v\",\"color\":\"red\"}",
            "Could not find member 'color'"
        ),
        ("\"codes\":[{\"system\":\"http://loinc.org\",\"code\":\"8867-4\"}]", "needs the category"),
        ("\"codes\":[{\"system\":\"http://loinc.org\",\"code\":\"85354-9\"}]", "component with LOINC 8480-6"),
    ])
    func warnsOfDoubtfulCodes(members: String, fragment: String) throws {
        let (templates, log) = try load(shell("{\"typeName\":\"a\",\(members)}"))
        #expect(templates.count == 1)
        #expect(log.allSatisfy { $0.severity == .warning })
        #expect(log.contains { $0.message.contains(fragment) }, "\(log.map(\.text))")
    }

    @Test func theStandardTemplatesHaveNoWarnings() throws {
        for body in [
            TestTemplates.heartRate, TestTemplates.bloodPressure, TestTemplates.steps, TestTemplates.glucose,
        ] {
            let log = try load(shell(body)).log
            #expect(log.isEmpty, "\(log.map(\.text))")
        }
    }

    @Test func listsValueUses() throws {
        let uses = try load(shell(TestTemplates.alarm)).templates[0].valueUses
        #expect(uses.map(\.name) == ["alarm", "detail"])
        #expect(uses.map(\.isNumeric) == [false, false])
    }
}

@Suite struct DurationTextTests {
    @Test(
        arguments: [
            ("500ms", 500_000_000), ("30s", 30_000_000_000), ("5m", 300_000_000_000), ("1h", 3_600_000_000_000),
            ("1d", 86_400_000_000_000), ("1h30m", 5_400_000_000_000), ("1m30s500ms", 90_500_000_000), ("0s", 0),
            ("", nil), ("5", nil), ("m", nil), ("5 m", nil), ("-5m", nil), ("1.5h", nil), ("30m1h", nil), ("5m5m", nil),
            ("5M", nil), ("5min", nil), ("999999999999d", nil), ("99999999999999999999s", nil),
        ] as [(String, Int64?)])
    func parses(text: String, nanoseconds: Int64?) {
        #expect(DurationText.parse(text) == nanoseconds)
    }
}
