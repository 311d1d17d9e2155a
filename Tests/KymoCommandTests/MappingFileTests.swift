import CommandSupport
import KymographTestKit
import Testing

/// Mappings whose files have other names than ours: named one by one, found by what is in them, or within an export.
@Suite struct MappingFileTests {
    private static let input = ChildProcess.Input.bytes(Array(MappingText.reading.utf8))

    private func folder(_ device: String = "devicecontent.json", _ fhir: String = "fhirmapping.json") -> TemporaryFolder
    {
        let folder = TemporaryFolder()
        folder.write("m/\(device)", MappingText.device)
        folder.write("m/\(fhir)", MappingText.fhir)
        return folder
    }

    @Test func twoFilesWhereverMappingsAreNamed() throws {
        let folder = folder()
        folder.write("m/examples/one.in.json", MappingText.reading)
        folder.write("m/examples/notes.txt", "of no concern")
        let files = ["--device-mapping", "m/devicecontent.json", "--fhir-mapping", "m/fhirmapping.json"]
        func run(_ arguments: [String]) throws -> Kymo.Finished {
            try Kymo.run(arguments + files, directory: folder.path, input: Self.input)
        }
        let mapped = try run(["map", "--explain"])
        #expect(mapped.end == .exit(0) && mapped.text.contains("\"resourceType\": \"Observation\""), "\(mapped.error)")
        #expect(mapped.error.contains("type pulse (devicecontent.json line 3)"), "\(mapped.error)")
        let checked = try run(["check"])
        #expect(checked.end == .exit(0), "\(checked.error)")
        #expect(checked.error.contains("mappings m/devicecontent.json + m/fhirmapping.json;"), "\(checked.error)")
        let ran = try run(["run", "--stdin"])
        #expect(ran.end == .exit(0) && ran.text.contains("\"code\":\"pulse\""), "\(ran.error)")
        #expect(try run(["test", "--update"]).end == .exit(0))
        let tested = try run(["test"])
        #expect(tested.end == .exit(0) && tested.error.contains("1 example passed, 0 failed"), "\(tested.error)")
        let stored = try run(["run", "--stdin", "--data", "data"])
        #expect(stored.end == .exit(0), "\(stored.error)")
        let archived = try run(["query", "--data", "data"])
        #expect(archived.end == .exit(0) && archived.text.contains("\"code\":\"pulse\""), "\(archived.error)")
    }

    @Test func twoFilesBesideOtherMappings() throws {
        let folder = folder()
        let both = try Kymo.run(
            [
                "map", "--mapping", "wristband", "--device-mapping", "m/devicecontent.json", "--fhir-mapping",
                "m/fhirmapping.json",
            ], directory: folder.path, input: Self.input)
        #expect(both.end == .exit(0) && both.text.contains("pulse"), "\(both.error)")
    }

    /// A stronger layer that names mappings in any way replaces those of the weaker ones.
    @Test func inTheConfiguration() throws {
        let folder = folder()
        let keys = "deviceMapping: m/devicecontent.json\nfhirMapping: m/fhirmapping.json\n"
        folder.write("a.yaml", keys + "mappings: wristband\n")
        folder.write("b.yaml", "sources:\n  - stdin: true\n    " + keys.replacing("\nf", with: "\n    f"))
        folder.write("c.yaml", keys.split(separator: "\n")[0] + "\n")
        func check(_ arguments: [String], _ environment: [String: String] = [:]) throws -> Kymo.Finished {
            try Kymo.run(["check"] + arguments, environment: environment, directory: folder.path)
        }
        let pair = "m/devicecontent.json + m/fhirmapping.json;"
        #expect(try check(["--config", "a.yaml"]).error.contains("mappings wristband, \(pair)"))
        #expect(try check(["--config", "b.yaml"]).error.contains("mappings \(pair)"))
        let flag = try check(["--config", "a.yaml", "--mapping", "thermometer"])
        #expect(flag.end == .exit(0) && flag.error.contains("mappings thermometer;"), "\(flag.error)")
        let variables = ["KYMO_DEVICE_MAPPING": "m/devicecontent.json", "KYMO_FHIR_MAPPING": "m/fhirmapping.json"]
        #expect(try check([], variables).error.contains("mappings \(pair)"))
        #expect(try check(["--mapping", "thermometer"], variables).error.contains("mappings thermometer;"))
        let half = try check(["--config", "c.yaml"])
        #expect(half.end == .exit(78) && half.error.contains("c.yaml:1:16: error: deviceMapping"), "\(half.error)")
        #expect(half.error.contains("without fhirMapping"), "\(half.error)")
    }

    @Test func mistakesOfTwoFiles() throws {
        let folder = folder()
        let cases: [([String], String)] = [
            (["--device-mapping", "m/devicecontent.json"], "--device-mapping is given without --fhir-mapping"),
            (["--fhir-mapping", "m/fhirmapping.json"], "--fhir-mapping is given without --device-mapping"),
            (
                ["--device-mapping", "m/fhirmapping.json", "--fhir-mapping", "m/devicecontent.json"],
                "m/fhirmapping.json has \"templateType\": \"CollectionFhir\", where \"CollectionContent\" belongs; exchange"
            ),
            (
                ["--device-mapping", "m/none.json", "--fhir-mapping", "m/fhirmapping.json"],
                "m/none.json: no such file; name a file with \"templateType\": \"CollectionContent\""
            ),
            (["--device-mapping", "m", "--fhir-mapping", "m/fhirmapping.json"], "m is a folder; name the file"),
        ]
        for (arguments, message) in cases {
            let done = try Kymo.run(["map"] + arguments, directory: folder.path, input: Self.input)
            #expect(done.end == .exit(78) && done.error.contains(message), "\(done.error)")
        }
    }

    @Test(arguments: [
        ("devicecontent.json", "fhirmapping.json"), ("deviceMapping.json", "destinationMapping.json"),
        ("device.json", "fhirmapping.json"), ("anything.txt", "fhir.json"), ("B.JSON", "a"),
    ])
    func foundByWhatIsInThem(device: String, fhir: String) throws {
        let folder = folder(device, fhir)
        folder.write("m/message.json", MappingText.reading)
        folder.write("m/notes.md", "# Notes")
        let done = try Kymo.run(["map", "--mapping", "./m/", "m/message.json"], directory: folder.path)
        #expect(done.end == .exit(0) && done.text.contains("pulse"), "\(done.error)")
        let wrong = MappingText.device.replacing("$.at", with: "$.at[")
        folder.write("m/\(device)", wrong)
        let broken = try Kymo.run(["check", "./m/"], directory: folder.path)
        #expect(broken.end == .exit(78) && broken.error.contains("./m/\(device):6:28"), "\(broken.error)")
        folder.write("m/\(device)", String(MappingText.device.dropLast()))
        let cut = try Kymo.run(["check", "./m/"], directory: folder.path)
        #expect(cut.end == .exit(78) && cut.error.contains("./m/\(device):9:2"), "\(cut.error)")
    }

    /// Our names win; of other names there is one at most.
    @Test func severalCandidates() throws {
        let folder = folder()
        folder.write("m/copy.json", MappingText.device)
        let done = try Kymo.run(["check", "./m/"], directory: folder.path)
        #expect(done.end == .exit(78), "\(done.error)")
        #expect(done.error.contains("./m/copy.json and ./m/devicecontent.json both have"), "\(done.error)")
        folder.write("m/device.json", MappingText.device.replacing("pulse", with: "heart"))
        let own = try Kymo.run(["check", "./m/"], directory: folder.path)
        #expect(own.error.contains("./m/device.json"), "\(own.error)")
    }

    @Test func noCandidate() throws {
        let folder = TemporaryFolder()
        folder.write("m/devicecontent.json", MappingText.device)
        let done = try Kymo.run(["check", "./m/"], directory: folder.path)
        #expect(done.end == .exit(78) && done.error.contains("./m/fhir.json is missing"), "\(done.error)")
        #expect(done.error.contains("\"CollectionFhir\""), "\(done.error)")
    }

    /// What Azure gives of a MedTech service, with both mappings within it.
    @Test func anExportOfTheService() throws {
        let folder = TemporaryFolder()
        folder.write("m/template.json", Self.export(device: MappingText.device, fhir: MappingText.fhir))
        let done = try Kymo.run(["map", "--mapping", "./m/"], directory: folder.path, input: Self.input)
        #expect(done.end == .exit(0) && done.text.contains("pulse"), "\(done.error)")
        let files = ["--device-mapping", "m/template.json", "--fhir-mapping", "m/template.json"]
        let named = try Kymo.run(["map"] + files, directory: folder.path, input: Self.input)
        #expect(named.end == .exit(0) && named.output == done.output, "\(named.error)")
    }

    /// A mistake is told at its place in the export.
    @Test func mistakesInAnExport() throws {
        let folder = TemporaryFolder()
        let wrong = MappingText.device.replacing("$.at", with: "$.at[")
        folder.write("m/template.json", Self.export(device: wrong, fhir: MappingText.fhir))
        let text = Self.export(device: wrong, fhir: MappingText.fhir)
        let line = try #require(text.split(separator: "\n").firstIndex { $0.contains("$.at[") }) + 1
        let done = try Kymo.run(["check", "./m/"], directory: folder.path)
        #expect(done.end == .exit(78) && done.error.contains("./m/template.json:\(line):28"), "\(done.error)")
    }

    /// A deployment often has its mappings as parameters: with default values they are read, without they are missed.
    @Test func parametersOfADeployment() throws {
        let folder = TemporaryFolder()
        let expression = "\"[parameters('deviceMapping')]\""
        let bare = Self.export(device: expression, fhir: MappingText.fhir)
        folder.write("m/template.json", bare)
        let missed = try Kymo.run(["check", "./m/"], directory: folder.path)
        #expect(missed.end == .exit(78), "\(missed.error)")
        #expect(missed.error.contains("the expression [parameters('deviceMapping')] in place of"), "\(missed.error)")
        let parameter = "{\"type\": \"object\", \"defaultValue\": \(MappingText.device)}"
        let value = "\"parameters\": {\"deviceMapping\": \(parameter)},"
        folder.write("m/template.json", bare.replacing("\"resources\"", with: "\(value) \"resources\""))
        let done = try Kymo.run(["map", "--mapping", "./m/"], directory: folder.path, input: Self.input)
        #expect(done.end == .exit(0), "\(done.error)")
    }

    @Test func twoServicesInAnExport() throws {
        let folder = TemporaryFolder()
        let one = Self.export(device: MappingText.device, fhir: MappingText.fhir)
        let other = Self.export(device: MappingText.device.replacing("$.at", with: "$.time"), fhir: MappingText.fhir)
        folder.write("m/template.json", "[\(one), \(other)]")
        let done = try Kymo.run(["check", "./m/"], directory: folder.path)
        #expect(done.end == .exit(78), "\(done.error)")
        #expect(done.error.contains("./m/template.json:7 and ./m/template.json:"), "\(done.error)")
    }

    /// A change of a file that is ours by what is in it is noticed.
    @Test func reloaded() throws {
        let folder = folder()
        let run = try Kymo.start(
            ["run", "--ephemeral", "--udp", "127.0.0.1:0", "--mapping", "./m/"], directory: folder.path)
        _ = try run.addresses()
        folder.write("m/devicecontent.json", MappingText.device + "\n")
        try run.waitForError("m/devicecontent.json has changed: loaded the mappings ./m/ again")
        #expect(try run.terminate().end == .exit(0))
    }

    /// Other texts may lie beside a mapping and quote it.
    @Test func textsBesideAMapping() throws {
        let folder = folder()
        folder.write("m/README.md", "Has `\"templateType\": \"CollectionContent\"` and `\"CollectionFhir\"`.\n")
        let done = try Kymo.run(["map", "--mapping", "./m/"], directory: folder.path, input: Self.input)
        #expect(done.end == .exit(0) && done.text.contains("pulse"), "\(done.error)")
    }

    /// The resource of a service and that of its FHIR destination, as a template of their deployment.
    static func export(device: String, fhir: String) -> String {
        """
        {"$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#",
         "resources": [
          {"type": "Microsoft.HealthcareApis/workspaces/iotconnectors", "name": "ws/medtech",
           "properties": {
            "ingestionEndpointConfiguration": {"eventHubName": "devicedata"},
            "deviceMapping": {"content":
        \(device)
            }}},
          {"type": "Microsoft.HealthcareApis/workspaces/iotconnectors/fhirdestinations", "name": "ws/medtech/fhir",
           "properties": {"resourceIdentityResolutionType": "Create",
            "fhirMapping": {"content":
        \(fhir)
            }}}
         ]}
        """
    }
}
