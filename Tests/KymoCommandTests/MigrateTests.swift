import CommandSupport
import KymographTestKit
import Testing

/// `kymo migrate`: the report on a mapping of the MedTech service.
@Suite struct MigrateTests {
    private func medtech() -> TemporaryFolder {
        let folder = TemporaryFolder()
        folder.write("m/devicecontent.json", MappingText.device)
        folder.write(
            "m/fhirmapping.json",
            MappingText.fhir.replacing("\"period\": \"instance\"", with: "\"periodInterval\": 0"))
        folder.write("good.json", MappingText.reading.replacing("61", with: "61.0"))
        return folder
    }

    @Test func whatRunsUnchanged() throws {
        let folder = medtech()
        let done = try Kymo.run(["migrate", "m", "good.json"], directory: folder.path)
        #expect(done.end == .exit(0), "\(done.error)")
        for phrase in [
            "device templates: ./m/devicecontent.json", "line 3: pulse, JsonPathContent, JSONPath",
            "1 message: 0 rejected by our rules", "    once, first ", "row 33", "row 27",
            "the mapping runs here unchanged",
            "kymo check ./m",
        ] {
            #expect(done.text.contains(phrase), "\(phrase): \(done.text)")
        }
    }

    @Test func forPrograms() throws {
        let folder = medtech()
        let done = try Kymo.run(["migrate", "m", "good.json", "--format", "json"], directory: folder.path)
        let tree = try JSONTree(parsing: done.output)
        #expect(done.end == .exit(0) && tree["messages"] == .number("1"), "\(done.text)")
        let values = tree["differences"]?.elements?.first { $0["path"]?.text == "measurements[].Properties[].Value" }
        #expect(values?["none"]?.text?.contains("61.0") == true, "\(done.text)")
        #expect(values?["iomt-fhir"]?.text?.contains("61") == true && values?["why"]?.text?.hasPrefix("row 33") == true)
    }

    @Test func rejectedMessages() throws {
        let folder = medtech()
        folder.write("bad.ndjson", "{\"pulse\":1}\n\(MappingText.reading)\n")
        let done = try Kymo.run(["migrate", "m", "bad.ndjson"], directory: folder.path)
        #expect(
            done.end == .exit(65) && done.text.contains("rejected as noDevice: 1, first bad.ndjson:1"), "\(done.text)")
    }

    /// What only runs with the reference's rules is written so that it does; nothing is overwritten.
    @Test func writesAFolder() throws {
        let folder = medtech()
        folder.write("m/devicecontent.json", MappingText.device.replacing("$.pulse", with: "$.pulse["))
        let done = try Kymo.run(["migrate", "m", "--write", "new"], directory: folder.path)
        #expect(done.end == .exit(0) && done.text.contains("needs --compatibility iomt-fhir"), "\(done.text)")
        #expect(try Kymo.run(["check", "./new"], directory: folder.path).end == .exit(0))
        #expect(try Kymo.run(["migrate", "m", "--write", "new"], directory: folder.path).end == .exit(73))
    }

    @Test func errors() throws {
        let folder = medtech()
        folder.write("m/fhirmapping.json", MappingText.fhir.replacing("Quantity", with: "Quantum"))
        let done = try Kymo.run(["migrate", "m"], directory: folder.path)
        #expect(done.end == .exit(78) && done.text.contains("m/fhirmapping.json:6:28"), "\(done.text)")
        #expect(try Kymo.run(["migrate", "nowhere"], directory: folder.path).end == .exit(78))
    }
}
