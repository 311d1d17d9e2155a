import KymographCore
import KymographTemplates
import Testing

/// What is wrong in a resource template, beside one like it that is sound.
@Suite struct ResourceFindingTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var code: String
        var wrong: String
        var sound: String
        var words: String
        var version = FHIRVersion.r4
        var testDescription: String { "\(code): \(words)" }
    }

    private func findings(_ members: String, _ version: FHIRVersion) throws -> [Diagnostic] {
        var log = DiagnosticLog(file: "fhir.json")
        let text = """
            {"templateType":"CollectionFhir","template":[{"templateType":"resourcefhir","template":
            {"typeName":"t",\(members)}}]}
            """
        _ = FHIRTemplateLoader.load(try TextJSON.parse(text), version: version, log: &log)
        return log.all
    }

    private static func flag(_ members: String, code: String = "{\"text\":{\"$value\":\"v\"}}") -> String {
        """
        "resourceType":"Flag","resource":{"status":"active","subject":{"$reference":"patient"},"code":\(code)\(members)}
        """
    }

    private static func device(_ members: String) -> String { "\"resourceType\":\"Device\",\"resource\":{\(members)}" }

    private static let serial = "\"serialNumber\":{\"$value\":\"v\"}"
    private static let sound = flag("")
    private static let deep =
        String(repeating: "{\"extension\":", count: 30) + "1" + String(repeating: "}", count: 30)

    static let cases = types + bodies + elements + versions

    private static let types = [
        Case(
            code: "resource-type", wrong: "\"resourceType\":\"Bundle\",\"resource\":{}", sound: sound,
            words: "a Bundle is not written"),
        Case(
            code: "resource-type", wrong: "\"resourceType\":\"Devise\",\"resource\":{}", sound: device(serial),
            words: "did you mean 'Device'"),
        Case(
            code: "resource-type", wrong: "\"identity\":\"device\",\(sound)",
            sound: "\"identity\":\"device\",\(device(serial))", words: "cannot have the identity"),
        Case(code: "unknown-choice", wrong: "\"identity\":\"window\",\(sound)", sound: sound, words: "'window'"),
        Case(code: "missing-field", wrong: "\"resourceType\":\"Flag\"", sound: sound, words: "'Resource' not found"),
        Case(code: "unknown-field", wrong: "\"period\":\"1h\",\(sound)", sound: sound, words: "'period'"),
    ]

    private static let bodies = [
        Case(
            code: "resource-body", wrong: "\"profile\":[\"urn:a\"],\(flag(",\"meta\":{\"source\":\"urn:b\"}"))",
            sound: "\"profile\":[\"urn:a\"],\(sound)", words: "second meta"),
        Case(code: "resource-body", wrong: flag(",\"period\":{}"), sound: sound, words: "no empty object"),
        Case(
            code: "resource-body", wrong: flag(",\"period\":{\"start\":\"\"}"), sound: sound, words: "no empty string"),
        Case(code: "resource-body", wrong: flag(",\"encounter\":null"), sound: sound, words: "no null"),
        Case(code: "resource-body", wrong: flag(",\"author\":\(deep)"), sound: sound, words: "levels"),
        Case(
            code: "resource-body", wrong: flag(",\"meta\":{\"source\":\"a\",\"source\":\"b\"}"), sound: sound,
            words: "twice"),
        Case(
            code: "resource-body", wrong: flag("", code: "{\"text\":{\"$text\":\"a\"}}"),
            sound: flag("", code: "{\"text\":{\"$text\":[\"a\",{\"$value\":\"v\"}]}}"), words: "must be an array"),
        Case(
            code: "resource-body", wrong: flag("", code: "{\"text\":{\"$text\":[{\"$time\":\"end\"}]}}"), sound: sound,
            words: "a text or a value"),
        Case(
            code: "unknown-choice", wrong: flag("", code: "{\"text\":{\"$valeu\":\"v\"}}"), sound: sound,
            words: "unknown hole '$valeu'"),
        Case(
            code: "unknown-choice", wrong: flag("", code: "{\"text\":{\"$value\":\"v\",\"as\":\"date\"}}"),
            sound: sound, words: "'date'"),
        Case(
            code: "unknown-choice", wrong: flag(",\"author\":{\"$reference\":\"nurse\"}"),
            sound: flag(",\"author\":{\"$reference\":\"device\"}"), words: "'nurse'"),
        Case(
            code: "blank-field", wrong: flag("", code: "{\"text\":{\"$value\":\"\"}}"), sound: sound,
            words: "'$value' is empty"),
    ]

    private static let elements = [
        Case(
            code: "unknown-element", wrong: device("\"serialnumber\":\"1\",\(serial)"), sound: device(serial),
            words: "'serialnumber'"),
        Case(
            code: "unknown-element", wrong: device("\"id\":\"1\",\(serial)"), sound: device(serial),
            words: "not for the template"),
        Case(
            code: "missing-element",
            wrong: "\"resourceType\":\"Flag\",\"resource\":{\"status\":\"active\",\"code\":{\"text\":\"x\"}}",
            sound: sound, words: "a Flag needs subject"),
        Case(
            code: "missing-element",
            wrong: """
                "resourceType":"MedicationAdministration","resource":{"status":"completed",
                "subject":{"$reference":"patient"},"effectiveDateTime":{"$time":"end"},
                "effectivePeriod":{"start":{"$time":"end"}},"medicationReference":{"display":{"$value":"v"}}}
                """,
            sound: """
                "resourceType":"MedicationAdministration","resource":{"status":"completed",
                "subject":{"$reference":"patient"},"effectiveDateTime":{"$time":"end"},
                "medicationReference":{"display":{"$value":"v"}}}
                """, words: "not several"),
        Case(
            code: "wrong-kind", wrong: device("\"deviceName\":{\"name\":\"a\"},\(serial)"), sound: device(serial),
            words: "'deviceName' must be an array"),
        Case(
            code: "wrong-kind", wrong: device("\"type\":[{\"text\":\"a\"}],\(serial)"), sound: device(serial),
            words: "'type' must be a single value"),
        Case(
            code: "wrong-kind", wrong: "\"resourceType\":\"Task\",\"resource\":{\"identifier\":{\"value\":\"1\"}}",
            sound: "\"resourceType\":\"Task\",\"resource\":{\"identifier\":[{\"value\":\"1\"}]}", words: "an array"),
        Case(
            code: "loinc-check-digit",
            wrong: flag("", code: "{\"coding\":[{\"system\":\"http://loinc.org\",\"code\":\"8867-5\"}]}"),
            sound: flag("", code: "{\"coding\":[{\"system\":\"http://loinc.org\",\"code\":\"8867-4\"}]}"),
            words: "check digit"),
    ]

    private static let versions = [
        Case(
            code: "other-fhir-version", wrong: "\"resourceType\":\"Task\",\"resource\":{\"status\":\"a\"}",
            sound: device(serial), words: "how a Task differs", version: .r5),
        Case(
            code: "other-fhir-version", wrong: device("\"property\":[{\"type\":{\"text\":\"a\"}}],\(serial)"),
            sound: device(serial), words: "'property' of a Device cannot be written in FHIR STU3", version: .stu3),
        Case(
            code: "other-fhir-version",
            wrong: device("\"version\":[{\"value\":\"1\"},{\"value\":\"2\"}],\(serial)"),
            sound: device("\"version\":[{\"value\":\"1\"}],\(serial)"), words: "here are 2", version: .stu3),
        Case(
            code: "other-fhir-version", wrong: communication("\"on-hold\""), sound: communication("\"not-done\""),
            words: "the status 'on-hold' of a Communication cannot be written in FHIR STU3", version: .stu3),
        Case(
            code: "unknown-choice", wrong: communication("\"aborted\""), sound: communication("\"on-hold\""),
            words: "unknown status of a Communication 'aborted'"),
        Case(
            code: "unknown-choice", wrong: communication("\"complete\""), sound: communication("\"completed\""),
            words: "did you mean 'completed'?"),
        Case(
            code: "resource-body", wrong: communication("{\"$text\":[\"not-\",{\"$value\":\"v\"}]}"),
            sound: communication("{\"$value\":\"v\"}"), words: "this hole gives none"),
    ]

    private static func communication(_ status: String) -> String {
        """
        "resourceType":"Communication","resource":{"status":\(status),"payload":[{"contentString":{"$value":"w"}}]}
        """
    }

    @Test(arguments: cases) func findsWhatIsWrong(_ subject: Case) throws {
        let found = try findings(subject.wrong, subject.version)
        let finding = try #require(
            found.first { $0.code == subject.code && $0.text.contains(subject.words) }, "\(found.map(\.fullText))")
        #expect(finding.template == "t" && finding.position.line > 1 && finding.position.column > 0)
    }

    @Test(arguments: cases) func isSilentOnWhatIsSound(_ subject: Case) throws {
        #expect(try findings(subject.sound, subject.version).map(\.fullText) == [])
    }

    /// A file that is written for a version is taken by its names, and is not for another.
    @Test func filesMayBeForOneVersion() throws {
        let body = """
            {"typeName":"t","resourceType":"Device","resource":{"name":[{"value":{"$value":"v"},"type":"x"}]}}
            """
        func load(_ output: FHIRVersion) throws -> [Diagnostic] {
            var log = DiagnosticLog(file: "fhir.json")
            let text = """
                {"templateType":"CollectionFhir","fhirVersion":"R5",
                 "template":[{"templateType":"ResourceFhir","template":\(body)}]}
                """
            _ = FHIRTemplateLoader.load(try TextJSON.parse(text), version: output, log: &log)
            return log.all
        }
        #expect(try load(.r5).isEmpty)
        #expect(try load(.r4).contains { $0.code == "other-fhir-version" })
    }

    /// A value that no device template gives is found with its place.
    @Test func unknownValuesAreFound() throws {
        let device = """
            {"templateType":"CollectionContent","template":[{"templateType":"JsonPathContent","template":
            {"typeName":"t","typeMatchExpression":"$..[?(@v)]","deviceIdExpression":"$.d","timestampExpression":"$.t",
             "values":[{"valueName":"v","valueExpression":"$.v"}]}}]}
            """
        let fhir = """
            {"templateType":"CollectionFhir","template":[{"templateType":"ResourceFhir","template":
            {"typeName":"t",\(Self.flag(",\n\"period\":{\"end\":{\"$value\":\"w\",\"as\":\"dateTime\"}}"))}}]}
            """
        let mapping = NamedMapping(
            name: "m", device: MappingFile(name: "device.json", bytes: Array(device.utf8)),
            fhir: MappingFile(name: "fhir.json", bytes: Array(fhir.utf8)))
        let found = MappingLoader.load([mapping]).diagnostics
        #expect(found.map(\.code) == ["unknown-value"])
        #expect(found.first?.position.line == 3 && found.first?.position.column == 27, "\(found.map(\.fullText))")
    }
}
