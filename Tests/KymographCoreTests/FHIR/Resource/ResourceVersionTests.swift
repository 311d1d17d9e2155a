import KymographCore
import KymographTemplates
import Testing

/// Templates are written for R4; other versions get what they call the same.
@Suite struct ResourceVersionTests {
    /// The resource of a reading whose values are their own names, but for a state, which is a code.
    private func resource(
        _ template: String, _ values: [String], _ version: FHIRVersion, number: String? = nil
    ) throws -> JSONNode {
        let pipeline = try TestPipeline(resources: template, version: version)
        var window = TestWindow(encounter: "e")
        let names = pipeline.types[0].valueNames
        let texts = try values.map { value in
            (try #require(names.firstIndex(of: value)), value == "state" ? "active" : value)
        }
        let numbers = try number.map { [try #require(names.firstIndex(of: $0)): "2"] }
        window.add(0, numbers ?? [:], texts: Dictionary(uniqueKeysWithValues: texts))
        return try pipeline.observation(window)
    }

    private let device = ["udi", "maker", "serial", "name", "model", "kind", "firmware"]

    /// A status that the version's value set lacks is refused when a reading gives it, and never written.
    @Test(arguments: [
        ("not-done", [FHIRVersion.r4, .r4b, .r5]), ("stopped", FHIRVersion.allCases), ("done", []),
        ("completed stopped", []), ("complete", []), ("active", []), (" completed ", FHIRVersion.allCases),
    ])
    func statusesOfTheVersion(status: String, versions: [FHIRVersion]) throws {
        let template = TestResources.dose.replacing("\"not-done\"", with: "{\"$value\":\"state\"}")
        for version in FHIRVersion.allCases {
            let pipeline = try TestPipeline(resources: template, version: version)
            var window = TestWindow()
            let names = pipeline.types[0].valueNames
            let values = ["state": status, "drug": "insulin"]
            var texts: [Int: String] = [:]
            for (name, value) in values { texts[try #require(names.firstIndex(of: name))] = value }
            window.add(0, [:], texts: texts)
            let (text, outcome) = pipeline.text(window)
            let isWritten = versions.contains(version)
            #expect(outcome == (isWritten ? .written(condensedValues: 0) : .skipped(.invalidValue)), "\(version)")
            #expect(text.isEmpty != isWritten, "\(version): \(text)")
        }
    }

    @Test func deviceOfR5() throws {
        let node = try resource(TestResources.device, device, .r5)
        #expect(node.text("name.0.value") == "name" && node.text("name.0.type") == "user-friendly-name")
        #expect(node.text("type.0.coding.0.code") == "kind" && node.text("modelNumber") == "model")
        #expect(node.text("udiCarrier.0.issuer") == "urn:gs1" && node["deviceName"] == nil)
        let bare = try resource(TestResources.device, ["serial"], .r5)
        #expect(bare["type"] == nil && bare["name"] == nil && bare["udiCarrier"] == nil)
    }

    @Test func deviceOfSTU3() throws {
        let node = try resource(TestResources.device, device, .stu3)
        #expect(node.text("udi.deviceIdentifier") == "udi" && node.text("model") == "model")
        #expect(node.text("version") == "firmware")
        #expect(node.text("identifier.1.type.coding.0.code") == "SNO" && node.text("identifier.1.value") == "serial")
        let url = "http://hl7.org/fhir/4.0/StructureDefinition/extension-Device.deviceName"
        #expect(node.text("extension.0.url") == url)
        #expect(node.text("extension.0.extension.0.url") == "name")
        #expect(node.text("extension.0.extension.0.valueString") == "name")
        #expect(node.text("extension.0.extension.1.valueCode") == "user-friendly-name")
        let bare = try resource(TestResources.device, ["maker"], .stu3)
        let names = try #require(bare.members).map(\.name)
        #expect(names == ["resourceType", "identifier", "status", "manufacturer"])
        #expect(bare["identifier"]?.elements?.count == 1)
    }

    @Test func doseOfR5() throws {
        let node = try resource(TestResources.dose, ["reason", "drug"], .r5, number: "tablets")
        #expect(node.text("medication.concept.text") == "drug" && node.text("status") == "not-done")
        #expect(node.text("occurenceDateTime") == "2024-05-01T10:00:00Z")
        #expect(node.text("encounter.identifier.value") == "e" && node["category"]?.elements?.count == 1)
        #expect(node.text("device.0.reference.identifier.value") == "hr-1")
        #expect(node.text("performer.0.actor.reference.identifier.value") == "hr-1")
    }

    @Test func doseOfSTU3() throws {
        let node = try resource(TestResources.dose, ["reason", "drug"], .stu3, number: "tablets")
        #expect(node.text("status") == "completed")
        guard case .bool(true)? = node["notGiven"]?.value else { throw TextJSON.Failure(offset: 0) }
        #expect(node.text("reasonNotGiven.0.text") == "reason" && node.text("medicationCodeableConcept.text") == "drug")
        #expect(node.text("category.coding.0.system") == "http://hl7.org/fhir/medication-admin-category")
        #expect(node["subject.type"] == nil && node.text("context.identifier.value") == "e")
    }

    @Test func alarmAndMessage() throws {
        let flag = try resource(TestResources.alarm, ["state", "code", "words"], .stu3)
        #expect(flag.text("category.text") == "device")
        let r5 = try resource(TestResources.message, ["words"], .r5)
        #expect(
            r5.text("payload.0.contentCodeableConcept.text") == "words" && r5.text("reason.0.concept.text") == "alarm")
        let stu3 = try resource(TestResources.message, ["words"], .stu3)
        #expect(stu3.text("context.identifier.value") == "e" && stu3["topic"]?.elements?.count == 1)
        #expect(stu3.text("extension.0.valueCode") == "urgent")
        #expect(stu3.text("extension.1.valueCodeableConcept.text") == "battery")
    }

    @Test(arguments: [FHIRVersion.r4, .r4b]) func othersAreAsWritten(version: FHIRVersion) throws {
        let node = try resource(TestResources.message, ["words"], version)
        #expect(node.text("payload.0.contentString") == "words" && node.text("priority") == "urgent")
        #expect(node["extension"] == nil)
    }
}
