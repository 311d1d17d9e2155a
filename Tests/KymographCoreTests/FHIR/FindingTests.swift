import KymographCore
import KymographTemplates
import Testing

/// Every doubtful thing that is found in a FHIR template, beside a template like it that is sound.
@Suite struct FindingTests {
    private func findings(_ members: String, _ name: String) throws -> [Diagnostic] {
        var log = DiagnosticLog(file: "fhir.json")
        let text = """
            {"templateType":"CollectionFhir","template":[{"templateType":"CodeValueFhir","template":
            {"typeName":"\(name)",\(members)}}]}
            """
        _ = FHIRTemplateLoader.load(try TextJSON.parse(text), log: &log)
        return log.all
    }

    @Test(arguments: FindingCase.all) func findsWhatIsDoubtful(_ subject: FindingCase) throws {
        let found = try findings(subject.doubtful, subject.typeName)
        let finding = try #require(
            found.first { finding in
                finding.code == subject.code && subject.words.allSatisfy { finding.text.contains($0) }
            }, "\(found.map(\.fullText))")
        #expect(finding.template == subject.typeName && finding.position.line > 1)
        #expect(!finding.advice.isEmpty)
    }

    @Test(arguments: FindingCase.all) func isSilentOnWhatIsSound(_ subject: FindingCase) throws {
        let found = try findings(subject.sound, subject.typeName)
        #expect(!found.contains { $0.code == subject.code }, "\(found.map(\.fullText))")
    }

    /// Names that look like another measurement's, and are not.
    @Test(arguments: [
        ("8867-4", "/min", "sleepHeartRate"), ("8867-4", "/min", "pulse"), ("8867-4", "/min", "weightedAverage"),
        ("80404-7", "ms", "heartRateVariability"), ("39156-5", "kg/m2", "bodyMassIndex"), ("29463-7", "kg", "bodyMass"),
        ("2708-6", "%", "spO2"), ("2708-6", "%", "SpO2"), ("55423-8", "{steps}", "stepCount"),
        ("8480-6", "mm[Hg]", "systolicBloodPressure"), ("41981-2", "kcal", "activeEnergyBurned"),
        ("61008-9", "Cel", "skinTemperature"), ("41950-7", "/d", "steps"), ("93832-4", "h", "sleepDuration"),
    ])
    func namesThatFitAreNotBlamed(loinc: String, unit: String, name: String) throws {
        let found = try findings(
            """
            "codes":[{"system":"http://loinc.org","code":"\(loinc)"}],
            "value":{"valueType":"Quantity","valueName":"\(name)","unit":"u","code":"\(unit)"}
            """, "x")
        #expect(!found.contains { ["code-mismatch", "unit-mismatch", "ucum-code"].contains($0.code) })
    }

    /// Scripts rely on the codes.
    @Test func codesAreShortWords() {
        for finding in Finding.allCases {
            #expect(finding.rawValue.wholeMatch(of: /[a-z0-9]+(-[a-z0-9]+)*/) != nil, "\(finding)")
        }
    }
}
