import KymographCore
import KymographTemplates
import Testing

/// What is found in templates of summaries, and what is not.
@Suite struct GlucoseFindingTests {
    private static let sound = [
        "\"typeName\":\"t\"", "\"period\":\"1d\"", "\"valueName\":\"v\"", "\"unit\":\"mg/dL\"",
        "\"samplePeriod\":\"5m\"",
    ]

    private func findings(_ members: [String], kind: String = "GlucoseSummaryFhir") throws -> [Diagnostic] {
        var log = DiagnosticLog(file: "fhir.json")
        let text = """
            {"templateType":"CollectionFhir","template":[{"templateType":"\(kind)",
             "template":{\(members.joined(separator: ","))}}]}
            """
        _ = FHIRTemplateLoader.load(try TextJSON.parse(text), log: &log)
        return log.all
    }

    /// The sound members with `member` in the place of the one of its name.
    private func changed(_ member: String) -> [String] {
        let name = member.split(separator: "\"").first ?? ""
        return Self.sound.filter { !$0.hasPrefix("\"\(name)\"") } + [member]
    }

    @Test(arguments: ["GlucoseSummaryFhir", "glucosesummaryfhir", "GLUCOSESummaryFhirTemplate"])
    func isSilentOnWhatIsSound(kind: String) throws {
        #expect(try findings(Self.sound, kind: kind).map(\.text) == [])
        for member in [
            "\"unit\":\"mmol/L\"", "\"period\":\"14d\"", "\"from\":\"x\"", "\"samplePeriod\":\"1d\"",
            "\"category\":[{\"text\":\"c\"}]",
        ] {
            #expect(try findings(changed(member)).map(\.text) == [])
        }
    }

    @Test(arguments: [
        ("\"period\":\"instance\"", "wrong-period"), ("\"period\":\"correlation\"", "wrong-period"),
        ("\"period\":\"0d\"", "wrong-period"), ("\"unit\":\"g/L\"", "unknown-choice"),
        ("\"samplePeriod\":\"0m\"", "wrong-period"), ("\"samplePeriod\":\"5\"", "wrong-period"),
        ("\"samplePeriod\":\"1d1ms\"", "wrong-period"), ("\"value\":\"x\"", "unknown-field"),
        ("\"typeName\":\" \"", "blank-field"),
    ])
    func findsWhatIsWrong(member: String, code: String) throws {
        let found = try findings(changed(member))
        #expect(found.map(\.code) == [code], "\(found.map(\.text))")
        #expect(found.allSatisfy { $0.position.line == 2 && !$0.advice.isEmpty })
    }

    @Test(arguments: sound.indices) func findsWhatIsMissing(index: Int) throws {
        var members = Self.sound
        members.remove(at: index)
        #expect(try findings(members).map(\.code) == ["missing-field"])
    }

    // MARK: Beside a device file

    private func load(unit: String, value: String = "v") -> [String] {
        let device = """
            {"templateType":"CollectionContent","template":[{"templateType":"JsonPathContent","template":{
             "typeName":"t","typeMatchExpression":"$..[?(@v)]","deviceIdExpression":"$.d","timestampExpression":"$.t",
             "values":[{"valueName":"v","valueExpression":"$.v","unit":{"from":"mmol/L","to":"mg/dL",
             "substance":"glucose","digits":0}}]}}]}
            """
        let members =
            changed("\"unit\":\"\(unit)\"").filter { !$0.contains("valueName") } + ["\"valueName\":\"\(value)\""]
        let fhir = """
            {"templateType":"CollectionFhir","template":[{"templateType":"GlucoseSummaryFhir",
             "template":{\(members.joined(separator: ","))}}]}
            """
        let mapping = NamedMapping(
            name: "m", device: MappingFile(name: "device.json", bytes: Array(device.utf8)),
            fhir: MappingFile(name: "fhir.json", bytes: Array(fhir.utf8)))
        return MappingLoader.load([mapping]).diagnostics.map(\.code)
    }

    /// The ranges and the indicator depend on the unit.
    @Test func findsAnotherUnitThanTheReadings() {
        #expect(load(unit: "mg/dL") == [])
        #expect(load(unit: "mmol/L") == ["unit-mismatch"])
    }

    @Test func findsAValueThatNoDeviceTemplateGives() {
        #expect(Set(load(unit: "mg/dL", value: "w")) == ["unknown-value", "unused-value"])
    }
}
