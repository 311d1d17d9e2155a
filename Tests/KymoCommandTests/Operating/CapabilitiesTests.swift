import CommandSupport
import KymographTestKit
import Testing

/// `kymo capabilities`: what the program can do.
@Suite struct CapabilitiesTests {
    private let folder = TemporaryFolder()

    private func document(_ arguments: [String] = []) throws -> JSONTree {
        let done = try Kymo.run(["capabilities"] + arguments)
        #expect(done.end == .exit(0) && done.error.isEmpty, "\(done.error)")
        return try JSONTree(parsing: done.output)
    }

    private func texts(_ tree: JSONTree?) -> [String] { tree?.elements?.compactMap(\.text) ?? [] }

    /// It says what the commands say that know it.
    @Test func saysWhatOthersSay() throws {
        let document = try document()
        let mappings = document["mappings"]?.elements ?? []
        #expect(mappings.compactMap { $0["name"]?.text } == (try Kymo.run(["mappings"]).lines))
        #expect(mappings.allSatisfy { $0["isBuiltIn"]?.isTrue == true && !texts($0["types"]).isEmpty })
        let reading = mappings.first { $0["name"]?.text == "reading" }
        #expect(texts(reading?["types"]).contains("heartRate") && texts(document["types"]).contains("heartRate"))
        #expect(Set(texts(document["fhirVersions"])) == ["R4", "R4B", "R5", "STU3"])
        #expect(texts(document["framings"]).contains("csv") && texts(document["framings"]).contains("lines"))
        let kinds = document["sources"]?.elements?.compactMap { $0["kind"]?.text } ?? []
        #expect(kinds.contains("udp") && kinds.contains("mqtt") && kinds.contains("stdin"))
        #expect(try Kymo.run(["--version"]).text.contains(document["version"]?.text ?? "none"))
    }

    /// Limits are those of the configuration, and its own mappings are there.
    @Test func withAConfiguration() throws {
        #expect(try Kymo.run(["mappings", "--export", "wristband", folder.file("mine")]).end == .exit(0))
        let config = folder.write(
            "kymo.yaml", "limits: {lineBytes: 1KiB}\nmappings: [\(folder.file("mine"))/]\n")
        let document = try document(["--config", config])
        let own = document["mappings"]?.elements?.filter { $0["isBuiltIn"]?.isTrue != true } ?? []
        #expect(own.count == 1 && !texts(own.first?["types"]).isEmpty)
        let limits = document["limits"]?.elements ?? []
        #expect(limits.first { $0["name"]?.text == "limits.lineBytes" }?["value"]?.integer == 1_024)
        #expect(limits.first { $0["name"]?.text == "limits.devices" }?["most"]?.integer == Int(Int32.max))
    }

    @Test func aMappingThatIsNone() throws {
        let done = try Kymo.run(["capabilities", "--mapping", "wristbnd"])
        #expect(done.end == .exit(78) && done.output.isEmpty && done.error.contains("wristband"))
    }

    /// The document is as its schema says, and one that is not is found.
    @Test(.enabled(if: SharedMaterial.canRunPython, "no Python with jsonschema"))
    func isAsTheSchemaSays() throws {
        let done = try Kymo.run(["capabilities"])
        let schema = Files.text("\(SharedMaterial.package)/docs/capabilities.schema.json")
        let wrong = done.text.replacing("\"fhirVersions\"", with: "\"versionsOfFHIR\"")
        let input = "{\"schema\":\(schema),\"valid\":[\(done.text)],\"invalid\":[\(wrong)]}"
        let script = "\(SharedMaterial.package)/Tests/Validation/check_configuration_schema.py"
        let checked = try ChildProcess(SharedMaterial.python, [script], input: .bytes(Array(input.utf8))).finish()
        #expect(checked.end == .exit(0), "\(checked.text) \(checked.error)")
    }
}
