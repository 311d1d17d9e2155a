import CommandSupport
import KymographTestKit
import Testing

/// Mappings that change others: `extends`.
@Suite struct ExtendedMappingTests {
    private let folder = TemporaryFolder()

    private static let glucose = #"""
        {"bloodGlucose":80,"unit":"mg/dL","deviceId":"d","patientId":"p","endDate":"2026-03-01T08:00:00Z","uuid":"u"}
        """#
    private static let heartRate = #"""
        {"heartRate":65,"unit":"beats/min","deviceId":"d","patientId":"p","endDate":"2026-03-01T08:00:00Z","uuid":"v"}
        """#
    /// As if it were left out.
    private static let nothing = #"{"templateType":"CollectionContent","extends":"healthkit-on-fhir","template":[]}"#
    private static let nothingOfFHIR = #"{"templateType":"CollectionFhir","extends":"healthkit-on-fhir","template":[]}"#

    private func mapping(_ device: String = nothing, _ fhir: String = nothingOfFHIR) -> String {
        folder.write("mine/device.json", device)
        folder.write("mine/fhir.json", fhir)
        return folder.file("mine") + "/"
    }

    private static func device(_ templates: String) -> String {
        nothing.replacing("[]", with: "[\(templates)]")
    }

    private static func fhir(_ templates: String) -> String {
        nothingOfFHIR.replacing("[]", with: "[\(templates)]")
    }

    private func map(_ mapping: String, _ message: String) throws -> Kymo.Finished {
        try Kymo.run(["map", "--mapping", mapping], input: .bytes(Array(message.utf8)))
    }

    /// Nothing but what is named is different.
    @Test func onlyWhatIsNamedChanges() throws {
        let change = Self.fhir(
            #"{"template":{"typeName":"capillaryGlucose","codes":[{"system":"http://loinc.org","code":"99504-3"}],"#
                + #""text":null,"value":{"unit":"milligrams"}}}"#)
        let mine = mapping(Self.nothing, change)
        let (own, former) = (try map(mine, Self.glucose), try map("healthkit-on-fhir", Self.glucose))
        let expected = former.text
            .replacing("\"41653-7\"", with: "\"99504-3\"").replacing(
                "\"unit\": \"mg/dL\"", with: "\"unit\": \"milligrams\"")
        #expect(own.text != former.text && own.text.contains("99504-3"), "\(own.error)")
        // The text is gone, and with it its comma.
        let lines = { (text: String) in text.split(separator: "\n").map { $0.trimmingPrefix(while: \.isWhitespace) } }
        let removed = Set(lines(expected)).subtracting(lines(own.text))
        #expect(removed.allSatisfy { $0.hasPrefix("\"text\":") || $0 == "]," } && !removed.isEmpty, "\(own.text)")
        #expect(try map(mine, Self.heartRate).text == map("healthkit-on-fhir", Self.heartRate).text)
    }

    /// The change of `mydatahelps` that the catalogue shows: what it leaves out comes as a note and a component.
    @Test func propertiesAndSourceByChoice() throws {
        let page = Files.text("\(SharedMaterial.package)/docs/catalogue.md")
        let section = try #require(page.split(separator: "## `mydatahelps`\n").last?.split(separator: "\n## ").first)
        let files = section.split(separator: "```json\n").dropFirst().compactMap { $0.split(separator: "\n```").first }
        let mine = mapping(
            try #require(files.first { $0.contains("CollectionContent") }.map(String.init)),
            try #require(files.first { $0.contains("CollectionFhir") }.map(String.init)))
        let point = #"""
            {"namespace":"AppleHealth","identifier":"s-1","type":"RestingHeartRate","value":"58","units":"count/min",\#
            "properties":{"Metadata_HKMetadataKeyHeartRateMotionContext":"1"},"source":{"identifier":"watch-17",\#
            "properties":{"DeviceName":"Synthetic Watch"}},"observationDate":"2026-03-01T08:10:32-05:00"}
            """#
        let done = try map(mine, point)
        #expect(done.end == .exit(0), "\(done.error)")
        for part in ["\"text\": \"Synthetic Watch\"", "\"valueString\": \"1\"", "\"value\": 58"] {
            #expect(done.text.contains(part), "\(done.text)")
        }
        #expect(try !map("mydatahelps", point).text.contains("Synthetic Watch"))
    }

    /// Values are known by their names, and new templates are tried like the others.
    @Test func valuesAndNewTemplates() throws {
        let change = Self.device(
            #"{"template":{"typeName":"heartRate","values":[{"valueName":"beatsPerMinute","scale":1}]}},"#
                + #"{"templateType":"JsonPathContent","template":{"typeName":"heartRate2","#
                + #""typeMatchExpression":"$..[?(@pulse)]","deviceIdExpression":"$.deviceId","#
                + #""timestampExpression":"$.endDate","values":[{"valueName":"v","valueExpression":"$.pulse"}]}}"#)
        let mine = mapping(
            change,
            Self.fhir(
                #"{"templateType":"CodeValueFhir","template":{"typeName":"heartRate2","period":"instance","#
                    + #""codes":[{"system":"urn:x","code":"c"}],"#
                    + #""value":{"valueType":"Quantity","valueName":"v","unit":"u","system":"urn:u","code":"u"}}}"#))
        let scaled = try map(mine, Self.heartRate)
        #expect(scaled.text.contains("\"Value\": \"650\""), "\(scaled.text)\(scaled.error)")
        let new = try map(mine, Self.heartRate.replacing("heartRate", with: "pulse"))
        #expect(new.text.contains("\"code\": \"c\""), "\(new.text)\(new.error)")
    }

    /// The type has the other mapping's spelling, whatever that of the change.
    @Test func spellingOfTypes() throws {
        let mine = mapping(
            Self.device(
                #"{"template":{"typeName":"BLOODPRESSURE","values":[{"valueName":"systolic","scale":1}]}}"#))
        let message = Self.glucose.replacing(
            "\"bloodGlucose\":80,\"unit\":\"mg/dL\"",
            with: #"""
                "systolic":120,"diastolic":80,"systolicUnit":"mmHg","diastolicUnit":"mmHg"
                """#)
        let mapped = try map(mine, message)
        for part in ["\"Type\": \"bloodPressure\"", "\"Value\": \"1200\"", "\"Value\": \"80\""] {
            #expect(mapped.text.contains(part), "\(mapped.text)\(mapped.error)")
        }
    }

    /// A mapping beside the one that it changes gives everything twice.
    @Test func bothTogetherAreWarnedOf() throws {
        let change = Self.device(
            #"{"template":{"typeName":"heartRate","values":[{"valueName":"beatsPerMinute","scale":1}]}}"#)
        let checked = try Kymo.run(["check", "--mapping", "healthkit-on-fhir", "--mapping", mapping(change)])
        let warnings = (checked.text + checked.error).split(separator: "\n").filter {
            $0.contains("they match the same")
        }
        #expect(warnings.contains { $0.contains("'heartRate'") } && warnings.contains { $0.contains("'height'") })
    }

    @Test(arguments: [
        (
            device(#"{"template":{"typeName":"heartRate","timestampExpression":"$.endDate"}}"#),
            "device.json:1:79: error: this changes nothing: 'healthkit-on-fhir' has it so"
        ),
        (
            nothing.replacing("healthkit-on-fhir", with: "healthkit-on-fhr"),
            "device.json:1:47: error: there is no mapping 'healthkit-on-fhr' in the catalogue; did you mean "
                + "'healthkit-on-fhir'?"
        ),
        (
            device(#"{"template":{"typeName":"heartRat","timestampExpression":"$.endDate"}}"#),
            "device.json:1:79: error: 'healthkit-on-fhir' has no template of the type 'heartRat' that this could "
                + "change; did you mean 'heartRate'?"
        ),
        (
            nothing.replacing("healthkit-on-fhir", with: "health-auto-export")
                .replacing("[]", with: #"[{"template":{"typeName":"heartRate","timestampExpression":"$.d"}}]"#),
            "error: 'health-auto-export' has 2 templates of the type 'heartRate', and this could change any"
        ),
        (nothing.replacing(#""healthkit-on-fhir""#, with: "1"), "device.json:1:47: error: 'extends' is a number"),
        (
            device(#"{"template":{"typeName":"heartRate","timestampExpression":"$.["}}"#),
            "device.json:1:137: error: expression $.["
        ),
    ])
    func mistakes(device: String, message: String) throws {
        let checked = try Kymo.run(["check", "--mapping", mapping(device)])
        #expect(
            checked.end == .exit(78) && (checked.text + checked.error).contains(message),
            "\(checked.text + checked.error)")
    }
}
