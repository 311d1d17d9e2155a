import Testing

@testable import KymographCore
@testable import KymographTemplates

/// What differs between the versions of FHIR, and that nothing else does.
@Suite struct FHIRVersionTests {
    private func pipeline(_ version: FHIRVersion, _ template: String) throws -> TestPipeline {
        var pipeline = try TestPipeline(template)
        pipeline.options.version = version
        return pipeline
    }

    private func heartRate(irregular: Bool = false, encounter: String? = nil) -> TestWindow {
        var window = TestWindow(encounter: encounter)
        let offsets: [Int64] = irregular ? [0, 1_001, 17_003, 17_004, 59_990] : [0, 1_000, 2_000]
        for (index, offset) in offsets.enumerated() { window.add(offset * 1_000_000, [0: "\(60 + index)"]) }
        return window
    }

    @Test func mediaTypes() {
        #expect(
            FHIRVersion.allCases.map(\.contentType) == [
                "application/fhir+json; fhirVersion=4.0", "application/fhir+json; fhirVersion=4.3",
                "application/fhir+json; fhirVersion=3.0", "application/fhir+json; fhirVersion=5.0",
            ])
    }

    @Test func r4bIsR4() throws {
        for template in [TestTemplates.heartRate, TestTemplates.steps] {
            for irregular in [false, true] {
                let window = heartRate(irregular: irregular, encounter: "e")
                let r4 = try pipeline(.r4, template).text(window).text
                #expect(try pipeline(.r4b, template).text(window).text == r4)
            }
        }
    }

    @Test func systemsOfSTU3() throws {
        let observation = try pipeline(.stu3, TestTemplates.heartRate).observation(heartRate())
        #expect(observation.text("category.0.coding.0.system") == "http://hl7.org/fhir/observation-category")
        #expect(observation.text("component.0.code.coding.0.system") == "http://hl7.org/fhir/observation-statistics")
        let pressure = try pipeline(.stu3, TestTemplates.bloodPressure).observation(heartRate())
        #expect(
            pressure.text("component.1.dataAbsentReason.coding.0.system") == "http://hl7.org/fhir/data-absent-reason")
        #expect(observation.text("code.coding.0.system") == "http://loinc.org")
    }

    @Test func namesOfCodeSystems() {
        let base = "http://terminology.hl7.org/CodeSystem/"
        #expect(
            CodeSystemNames.stu3(base + "v3-ObservationInterpretation")
                == "http://hl7.org/fhir/v3/ObservationInterpretation")
        #expect(CodeSystemNames.stu3(base + "v2-0078") == "http://hl7.org/fhir/v2/0078")
        #expect(CodeSystemNames.stu3(base + "other") == base + "other")
        #expect(CodeSystemNames.stu3("http://loinc.org") == "http://loinc.org")
        let json = "{\"system\":\"\(base)v2-0078\",\"text\":\"a \\\"system\\\":\\\"\(base)v2-0078\"}"
        let expected = "{\"system\":\"http://hl7.org/fhir/v2/0078\",\"text\":\"a \\\"system\\\":\\\"\(base)v2-0078\"}"
        #expect(CodeSystemNames.stu3(in: json) == expected)
        #expect(CodeSystemNames.stu3(in: "") == "")
    }

    /// STU3 has no valueInteger, and its vital signs allow no unit for a count.
    @Test func numberOfReadings() throws {
        let counted = TestTemplates.steps.replacing("\"components\":[]", with: "\"components\":[\"count\"]")
        for version in FHIRVersion.allCases {
            let vital = try pipeline(version, TestTemplates.heartRate).observation(heartRate())
            let steps = try pipeline(version, counted).observation(heartRate())
            if version == .stu3 {
                #expect(vital.number("component.2.valueRatio.numerator.value") == "3")
                #expect(vital.number("component.2.valueRatio.denominator.value") == "1")
                #expect(steps.number("component.0.valueQuantity.value") == "3")
                #expect(steps.text("component.0.valueQuantity.code") == "{#}")
            } else {
                #expect(vital.number("component.2.valueInteger") == "3")
                #expect(steps.number("component.0.valueInteger") == "3")
            }
        }
    }

    @Test func regularSeries() throws {
        for version in FHIRVersion.allCases {
            let observation = try pipeline(version, TestTemplates.heartRate).observation(heartRate())
            let series = try #require(observation["component.3.valueSampledData"])
            #expect(series.text("data") == "60 61 62")
            #expect(series.number(version == .r5 ? "interval" : "period") == "1000")
            #expect(series[version == .r5 ? "period" : "interval"] == nil)
            #expect(series.text("intervalUnit") == (version == .r5 ? "ms" : nil))
        }
    }

    @Test func irregularSeries() throws {
        for version in FHIRVersion.allCases {
            let observation = try pipeline(version, TestTemplates.heartRate).observation(heartRate(irregular: true))
            let series = try #require(observation["component.3.valueSampledData"])
            #expect(series.text("data") == "60 61 62 63 64")
            let offsets = series.text(version == .r5 ? "offsets" : "extension.1.valueString")
            #expect(offsets == "0 1001 17003 17004 59990")
            #expect((series["extension"] == nil) == (version == .r5))
            #expect((series["period"] == nil) == (version == .r5) && series["interval"] == nil)
        }
    }

    @Test func references() throws {
        for version in FHIRVersion.allCases {
            let window = heartRate(encounter: "e-1")
            let observation = try pipeline(version, TestTemplates.heartRate).observation(window)
            let isOld = version == .stu3
            #expect(observation.text("\(isOld ? "context" : "encounter").identifier.value") == "e-1")
            #expect(observation[isOld ? "encounter" : "context"] == nil)
            #expect(observation.text("subject.type") == (isOld ? nil : "Patient"))
            #expect(observation.text("device.type") == (isOld ? nil : "Device"))
            #expect(observation.text("subject.identifier.value") == "7")
        }
    }

    @Test func oxygenSaturation() throws {
        let template = TestTemplates.glucose.replacing("99504-3", with: "2708-6").replacing("mg/dL", with: "%")
        let both = template.replacing(
            "\"2708-6\"}", with: "\"2708-6\"},{\"system\":\"http://loinc.org\",\"code\":\"59408-5\"}")
        for version in FHIRVersion.allCases {
            for (text, count) in [(template, version == .stu3 ? 2 : 1), (both, 2)] {
                let observation = try pipeline(version, text).observation(heartRate())
                #expect(observation["code.coding"]?.elements?.count == count)
                #expect(observation.text("code.coding.0.code") == "2708-6")
                if count == 2 { #expect(observation.text("code.coding.1.code") == "59408-5") }
            }
        }
    }
}

/// `fhirVersion` in a mapping file.
@Suite struct DeclaredVersionTests {
    private func load(_ declared: String, _ version: FHIRVersion, _ body: String = TestTemplates.steps) throws
        -> [Diagnostic]
    {
        var log = DiagnosticLog(file: "fhir.json")
        let text = """
            {"templateType":"CollectionFhir",
             \(declared)"template":[{"templateType":"CodeValueFhir","template":\(body)}]}
            """
        _ = FHIRTemplateLoader.load(try TextJSON.parse(text), version: version, log: &log)
        return log.all
    }

    @Test func mustAgreeWithTheOutput() throws {
        for declared in FHIRVersion.allCases {
            for output in FHIRVersion.allCases {
                let found = try load("\"fhirVersion\":\"\(declared.rawValue)\",", output)
                let isSame = declared == output || Set([declared, output]) == [.r4, .r4b]
                #expect(found.count == (isSame ? 0 : 1), "\(declared) in \(output): \(found.map(\.fullText))")
            }
        }
        let found = try load("\"fhirVersion\":\"STU3\",", .r5)
        #expect(
            found.map(\.text) == [
                "fhir.json:2:16: error: the mapping is written for FHIR STU3, but the output is R5; set "
                    + "output.fhirVersion to STU3 (flag --fhir-version), or take another mapping"
            ])
        #expect(found.first?.code == "other-fhir-version")
    }

    @Test func mustBeKnown() throws {
        let found = try load("\"fhirVersion\":\"DSTU2\",", .r4)
        #expect(found.map(\.code) == ["unknown-choice"] && !found[0].advice.isEmpty)
        #expect(try load("\"fhirVersion\":4,", .r4).map(\.code) == ["wrong-kind"])
        #expect(try load("", .stu3).isEmpty && load("\"fhirVersion\":null,", .r5).isEmpty)
    }

    /// A mapping for STU3 has the systems and the code of STU3, which are wrong in R4.
    @Test func checksGoByTheVersion() throws {
        let body = TestTemplates.glucose.replacing("99504-3", with: "59408-5").replacing("mg/dL", with: "%")
            .replacing("\"glucose\"", with: "\"spo2\"")
            .replacing(
                "http://terminology.hl7.org/CodeSystem/observation-category",
                with: "http://hl7.org/fhir/observation-category"
            ).replacing("laboratory", with: "vital-signs")
        #expect(try load("\"fhirVersion\":\"STU3\",", .stu3, body).map(\.fullText) == [])
        #expect(try load("", .r4, body).map(\.code).contains("vital-sign-code"))
    }
}
