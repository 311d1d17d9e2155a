import KymographCore
import KymographTemplates
import Testing

/// Observations as HL7's Personal Health Devices guide has them.
@Suite struct PersonalHealthTests {
    private static let weight = """
        {"typeName":"weight","period":"instance",
         "category":[{"codes":[{"system":"http://terminology.hl7.org/CodeSystem/observation-category",
                                "code":"vital-signs"}]}],
         "codes":[{"system":"http://loinc.org","code":"29463-7"},{"system":"urn:mine","code":"w"}],
         "extension":[{"url":"urn:a","valueString":"x"}],"effectiveType":"dateTime",
         "value":{"valueType":"Quantity","valueName":"value","unit":"kg","code":"kg"}}
        """
    private static let pulse = """
        {"typeName":"pulse","period":"1m",
         "codes":[{"system":"http://loinc.org","code":"8867-4"},
                  {"system":"urn:iso:std:iso:11073:10101","code":"149530"}],
         "value":{"valueType":"Statistics","valueName":"value","unit":"/min","code":"/min",
                  "series":{"codes":[{"system":"urn:iso:std:iso:11073:10101","code":"149531"}]}}}
        """

    private func pipeline(_ template: String) throws -> TestPipeline {
        var pipeline = try TestPipeline(template)
        pipeline.options.profile = .phd
        pipeline.options.gateway = "FE-ED-AB-EE-DE-AD-77-C3"
        return pipeline
    }

    private func window(_ values: [Int: String], at nanoseconds: Int64 = 0) -> TestWindow {
        var window = TestWindow(start: TestWindow.tenOClock + nanoseconds)
        window.add(0, values)
        return window
    }

    @Test func hasTheGuidesMembers() throws {
        let node = try pipeline(Self.weight).observation(window([0: "72.50"]))
        #expect(node.text("code.coding.0.code") == "188736" && node.text("code.coding.1.code") == "29463-7")
        #expect(node.text("code.coding.2.code") == "w")
        #expect(node.text("category.0.codes.0.code") == nil && node["category"]?.elements?.count == 2)
        #expect(node.text("category.1.coding.0.code") == "phd")
        let profile = "http://hl7.org/fhir/uv/phd/StructureDefinition/PhdNumericObservation"
        #expect(node["meta.profile"]?.elements?.last?.string == profile)
        #expect(
            node.text("extension.0.url") == "http://hl7.org/fhir/StructureDefinition/observation-gatewayDevice")
        #expect(node.text("extension.0.valueReference.identifier.value") == "FE-ED-AB-EE-DE-AD-77-C3")
        #expect(node.text("extension.1.valueString") == "x")
        #expect(node.text("identifier.0.system") == "urn:kymograph:observation")
        #expect(
            node.text("identifier.1.system") == "http://hl7.org/fhir/uv/phd/StructureDefinition/PhdBaseObservation")
        #expect(node.text("identifier.1.value") == "hr-1-7-urn:kymograph:patient-188736-20240501100000.00")
        #expect(node["device.identifier"] != nil && node["subject.identifier"] != nil)
    }

    /// Times that differ have identifiers that differ, and windows have their length.
    @Test func identifiersTellTimesApart() throws {
        let pipeline = try pipeline(Self.weight)
        let times: [Int64] = [0, 250_000_000, 250_001_000]
        let values = try times.map { try pipeline.observation(window([0: "1"], at: $0)).text("identifier.1.value") }
        #expect(
            values.compactMap { $0?.split(separator: "-").last } == [
                "20240501100000.00", "20240501100000.250", "20240501100000.250001",
            ])
        var minute = TestWindow()
        minute.add(0, [0: "60"])
        minute.add(5 * TestWindow.second / 2, [0: "61"])
        let node = try self.pipeline(Self.pulse).observation(minute)
        #expect(node.text("identifier.1.value") == "hr-1-7-urn:kymograph:patient-149530-20240501100000.00-2.5")
        #expect(node.text("code.coding.0.code") == "149530" && node.text("code.coding.1.code") == "8867-4")
    }

    /// The guide knows final and preliminary only; what is amended is final.
    @Test(arguments: [(ObservationStatus.amended, "final"), (.final, "final"), (.preliminary, "preliminary")])
    func status(status: ObservationStatus, code: String) throws {
        var window = window([0: "1"])
        window.status = status
        #expect(try pipeline(Self.weight).observation(window).text("status") == code)
    }

    @Test func bloodPressureIsCompound() throws {
        let node = try pipeline(TestTemplates.bloodPressure).observation(window([0: "120", 1: "80", 2: "93"]))
        #expect(node.text("code.coding.0.code") == "150020" && node.text("code.coding.1.code") == "85354-9")
        let codes = (0..<3).map { node.text("component.\($0).code.coding.0.code") }
        #expect(codes == ["150021", "150022", "150023"])
        #expect(node["meta.profile"]?.elements?.last?.string?.hasSuffix("PhdCompoundNumericObservation") == true)
    }

    /// Without an MDC code there is neither the guide's identifier nor its profile.
    @Test func withoutDeviceCode() throws {
        let node = try pipeline(TestTemplates.heartRate).observation(window([0: "60"]))
        #expect(node["identifier"]?.elements?.count == 1)
        #expect(node["meta.profile"]?.elements?.count == 1)
    }

    @Test func bundlesHoldTheGatewayOnce() throws {
        var writer = try pipeline(Self.weight).writer()
        for second in 0..<3 {
            let window = window([0: "1"], at: Int64(second) * TestWindow.second)
            #expect(window.withContent { writer.add($0) } == .added(condensedValues: 0))
        }
        let entries = try #require(try TextJSON.parse(writer.finish().string)["entry"]?.elements)
        #expect(entries.count == 6)
        let gateways = entries.filter { $0.text("resource.type.coding.0.code") == "531981" }
        #expect(gateways.count == 1)
        let url = try #require(gateways[0].text("fullUrl"))
        #expect(gateways[0].text("request.ifNoneExist")?.hasSuffix("|FE-ED-AB-EE-DE-AD-77-C3") == true)
        for observation in entries where observation.text("resource.resourceType") == "Observation" {
            #expect(observation.text("resource.extension.0.valueReference.reference") == url)
            #expect(observation.text("resource.device.reference") != nil)
        }
    }

    /// Nothing changes for who does not ask for it.
    @Test func theOptionIsOffByDefault() throws {
        let node = try TestPipeline(Self.weight).observation(window([0: "1"]))
        #expect(node.text("code.coding.0.code") == "29463-7" && node["identifier"]?.elements?.count == 1)
        #expect(node["category"]?.elements?.count == 1 && node["extension"]?.elements?.count == 1)
    }

    @Test func typesWithoutDeviceCodeAreNoted() throws {
        func diagnostics(_ codes: String) throws -> [Diagnostic] {
            let device = """
                {"templateType":"CollectionContent","template":[{"templateType":"JsonPathContent","template":
                {"typeName":"t","typeMatchExpression":"$..[?(@v)]","deviceIdExpression":"$.d",
                 "timestampExpression":"$.t","values":[{"valueName":"v","valueExpression":"$.v"}]}}]}
                """
            let fhir = """
                {"templateType":"CollectionFhir","template":[{"templateType":"CodeValueFhir","template":
                {"typeName":"t","codes":[\(codes)],"value":{"valueType":"String","valueName":"v"}}}]}
                """
            let mapping = NamedMapping(
                name: "m", device: MappingFile(name: "device.json", bytes: Array(device.utf8)),
                fhir: MappingFile(name: "fhir.json", bytes: Array(fhir.utf8)))
            let set = try #require(MappingLoader.load([mapping]).set)
            #expect(set.diagnostics(of: ObservationOptions(), [mapping]).isEmpty)
            var guide = ObservationOptions()
            guide.profile = .phd
            return set.diagnostics(of: guide, [mapping])
        }
        let found = try diagnostics("{\"system\":\"urn:mine\",\"code\":\"1\"}")
        #expect(found.map(\.code) == ["no-device-code"] && found[0].file == "fhir.json")
        #expect(found[0].position.line == 2 && found[0].template == "t")
        #expect(try diagnostics("{\"system\":\"urn:iso:std:iso:11073:10101\",\"code\":\"1\"}").isEmpty)
    }

    /// The clock of a device beside the gateway's, as the guide's coincident timestamp has them.
    @Test func coincidentTimestamp() throws {
        let template = """
            {"typeName":"clock","resourceType":"Observation",
             "profile":["http://hl7.org/fhir/uv/phd/StructureDefinition/PhdCoincidentTimeStampObservation"],
             "resource":{"status":"final",
              "code":{"coding":[{"system":"urn:iso:std:iso:11073:10101","code":"67975"}]},
              "subject":{"$reference":"device"},"device":{"$reference":"gateway"},
              "effectiveDateTime":{"$time":"received"},"valueDateTime":{"$value":"now","as":"dateTime"}}}
            """
        var pipeline = try TestPipeline(resources: template)
        pipeline.options.gateway = "g-1"
        var window = TestWindow()
        window.add(0, texts: [0: "2024-05-01T09:58:30Z"])
        var writer = pipeline.writer()
        #expect(window.withContent { writer.add($0) } == .added(condensedValues: 0))
        let entries = try #require(try TextJSON.parse(writer.finish().string)["entry"]?.elements)
        let observation = try #require(entries.last?["resource"])
        #expect(observation.text("effectiveDateTime") == "2024-05-01T10:00:00Z")
        #expect(observation.text("valueDateTime") == "2024-05-01T09:58:30Z")
        let devices = entries.filter { $0.text("resource.resourceType") == "Device" }
        #expect(Set(devices.compactMap { $0.text("fullUrl") }).count == 2)
        #expect(observation.text("device.reference") == devices.last?.text("fullUrl"))
        pipeline.options.gateway = ""
        #expect(try pipeline.observation(window)["device"] == nil)
    }
}
