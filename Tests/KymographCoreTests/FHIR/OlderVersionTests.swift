import Testing

@testable import KymographCore
@testable import KymographTemplates

/// What STU3 writes in another way than R4, member by member; `ValueShapeTests` shows that all of it is valid.
@Suite struct OlderVersionTests {
    /// The Observation in STU3 of one reading.
    private func observation(
        _ members: String, _ numbers: [Int: String] = [:], texts: [Int: String] = [:]
    ) throws -> JSONNode {
        var pipeline = try TestPipeline("{\"typeName\":\"x\",\"period\":\"1h\",\(members)}")
        pipeline.options.version = .stu3
        var window = TestWindow()
        window.add(0, numbers, texts: texts)
        return try pipeline.observation(window)
    }

    private func value(_ type: String, _ more: String = "") -> String {
        ValueShape.value("\"valueType\":\"\(type)\",\"valueName\":\"v\"\(more)")
    }

    private func component(_ type: String) -> String {
        "\"codes\":[],\"components\":[{\"codes\":[{\"system\":\"urn:test\",\"code\":\"2\"}],\"value\":"
            + "{\"valueType\":\"\(type)\",\"valueName\":\"v\"}}]"
    }

    @Test func notesAreOneComment() throws {
        let constant = try observation(value("Quantity") + ",\"note\":[\"at \\\"home\\\"\",\"seated\"]", [0: "1"])
        #expect(constant.text("comment") == "at \"home\"\nseated" && constant["note"] == nil)
        let read = try observation(
            value("Quantity") + ",\"note\":{\"valueName\":\"n\"}", [0: "1"], texts: [1: "felt \"well\""])
        #expect(read.text("comment") == "felt \"well\"" && read["note"] == nil)
    }

    @Test func performersHaveNoType() throws {
        let performer = "{\"type\":\"Organization\",\"identifier\":{\"value\":\"7\"},\"display\":\"Ward\"}"
        let found = try observation(value("Quantity") + ",\"performer\":[\(performer)]", [0: "1"])
        #expect(found.text("performer.0.identifier.value") == "7" && found.text("performer.0.display") == "Ward")
        #expect(found["performer.0.type"] == nil)
    }

    @Test func interpretationIsOneConcept() throws {
        let levels = ",\"interpretation\":[{\"below\":70,\"code\":\"L\"},{\"code\":\"HX\"}]"
        let low = try observation(value("Quantity", levels), [0: "60"])
        #expect(low.text("interpretation.coding.0.code") == "L")
        #expect(low.text("interpretation.coding.0.system") == "http://hl7.org/fhir/v2/0078")
        // Table 0078 does not have it.
        let other = try observation(value("Quantity", levels), [0: "80"])
        #expect(other.text("interpretation.coding.0.code") == "HX")
        #expect(other.text("interpretation.coding.0.system") == "http://hl7.org/fhir/v3/ObservationInterpretation")
    }

    @Test(arguments: [
        ("NaN", "NaN"), ("INF", "error"), ("-INF", "error"), ("a", "asked"), ("t", "temp"), ("d", "unknown"),
        ("x", "astext"), ("m", "masked"), ("p", "not-performed"),
    ])
    func reasonsOfAbsentValues(_ text: String, _ code: String) throws {
        let absent = """
            ,"absent":{"NaN":"not-a-number","INF":"positive-infinity","-INF":"negative-infinity","a":"asked-unknown",
             "t":"temp-unknown","d":"asked-declined","x":"as-text","m":"masked","p":"not-performed"}
            """
        let found = try observation(value("Quantity", absent), texts: [0: text])
        #expect(found.text("dataAbsentReason.coding.0.code") == code)
        #expect(found.text("dataAbsentReason.coding.0.system") == "http://hl7.org/fhir/data-absent-reason")
    }

    @Test func wholeNumbersAreQuantities() throws {
        let found = try observation(value("Integer"), [0: "-7"])
        #expect(found.number("valueQuantity.value") == "-7" && found.text("valueQuantity.code") == "1")
        let inside = try observation(component("Integer"), [0: "7"])
        #expect(inside.number("component.0.valueQuantity.value") == "7")
        // The vital signs profile binds the units of Quantities to a list without 1.
        let vital = try observation(
            value("Integer") + ",\"category\":[{\"codes\":[{\"system\":\"http://terminology."
                + "hl7.org/CodeSystem/observation-category\",\"code\":\"vital-signs\"}]}]", [0: "7"])
        #expect(
            vital.number("valueRatio.numerator.value") == "7" && vital.number("valueRatio.denominator.value") == "1")
    }

    @Test func truthValues() throws {
        let found = try observation(value("Boolean"), texts: [0: "true"])
        guard case .bool(true)? = found["valueBoolean"]?.value else {
            Issue.record("\(found)")
            return
        }
        for (text, code) in [("true", "Y"), ("0", "N")] {
            let inside = try observation(component("Boolean"), texts: [0: text])
            #expect(inside.text("component.0.valueCodeableConcept.coding.0.code") == code)
            #expect(inside.text("component.0.valueCodeableConcept.coding.0.system") == "http://hl7.org/fhir/v2/0136")
        }
    }

    @Test func instantsAreDateTimes() throws {
        let found = try observation(value("Quantity") + ",\"effectiveType\":\"Instant\"", [0: "1"])
        #expect(found.text("effectiveDateTime") == "2024-05-01T10:00:00Z" && found["effectiveInstant"] == nil)
    }

    @Test(arguments: [
        (#""performer":[{"type":"CareTeam","identifier":{"value":"7"}}]"#, 1),
        (#""performer":[{"type":"Practitioner","identifier":{"value":"7"}}]"#, 0),
        (#""value":{"valueType":"Quantity","valueName":"v","absent":{"x":"not-permitted","y":"error"}}"#, 1),
        (
            #""components":[{"codes":[],"value":{"valueType":"Time","valueName":"v","absent":{"":"not-applicable"}}}]"#,
            1
        ),
    ])
    func whatHasNoWordsIsRefused(_ members: String, _ count: Int) throws {
        let text = """
            {"templateType":"CollectionFhir","template":[{"templateType":"CodeValueFhir","template":
             {"typeName":"x","codes":[{"system":"urn:test","code":"1"}],\(members)}}]}
            """
        for version in FHIRVersion.allCases {
            var log = DiagnosticLog(file: "fhir.json")
            _ = FHIRTemplateLoader.load(try TextJSON.parse(text), version: version, log: &log)
            let found = log.all.filter { $0.code == "other-fhir-version" }
            #expect(found.count == (version == .stu3 ? count : 0), "\(found.map(\.fullText))")
        }
    }
}
