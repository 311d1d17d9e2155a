import CommandSupport
import KymographTestKit
import Testing

/// What commands print for programs.
@Suite struct ProgramOutputTests {
    @Test func examplesOfAMapping() throws {
        let folder = TemporaryFolder()
        folder.write("mine/device.json", MappingText.device)
        folder.write("mine/fhir.json", MappingText.fhir)
        folder.write("mine/examples/a.in.json", MappingText.reading)
        let good = try Kymo.run(["test", "--format", "json", "reading"])
        #expect(good.end == .exit(0) && good.text.contains("\"failed\" : 0"), "\(good.text)")
        #expect(!good.text.contains("\"passed\" : 0"))
        let bad = try Kymo.run(["test", "--format", "json", "./mine/"], directory: folder.path)
        #expect(bad.end == .exit(65) && bad.error.isEmpty, "\(bad.error)")
        let example = try #require(try JSONTree(parsing: bad.output)["examples"]?.elements?.first)
        #expect(example["mapping"]?.text == "./mine/" && example["name"]?.text == "a")
        #expect(example["differences"]?.elements?.count == 1)
        let text = try Kymo.run(["test", "./mine/"], directory: folder.path)
        #expect(text.error.contains("0 examples passed, 1 failed"), "\(text.error)")
    }

    @Test func namesOfMappings() throws {
        let lines = try Kymo.run(["mappings"]).lines
        let tree = try JSONTree(parsing: try Kymo.run(["mappings", "--format", "json"]).output)
        #expect(tree["mappings"]?.elements?.compactMap(\.text) == lines && lines.contains("reading"))
    }

    @Test func deadLetters() throws {
        let folder = TemporaryFolder()
        let input = Array("{\"a\":1}\n{\"a\":2}\n\(Readings.heartRate(second: 0))\n".utf8)
        _ = try Kymo.run(["run", "--stdin", "--data", folder.file("store")], input: .bytes(input))
        let list = ["dead", "list", "--data", folder.file("store"), "--format"]
        let letters = try JSONTree(parsing: try Kymo.run(list + ["json"]).output)["letters"]?.elements ?? []
        let lines = try Kymo.run(list + ["ndjson"]).lines
        #expect(letters.count == 2 && lines.count == 2)
        for (letter, line) in zip(letters, lines) {
            #expect(try letter.differences(from: JSONTree(parsing: Array(line.utf8))) == [])
        }
    }

    /// Of the templates that do not match, the one that was probably meant is explained first.
    @Test func nearestTemplateFirst() throws {
        let payload = Readings.heartRate(second: 0).replacing("heartRate", with: "RestingHeartrate")
        let done = try Kymo.run(["map", "--explain"], input: .bytes(Array(payload.utf8)))
        let first = done.error.split(separator: "\n").first ?? ""
        #expect(done.end == .exit(65) && first.contains("type restingHeartRate"), "\(done.error.prefix(600))")
    }

    /// A folder's name may end with a slash: messages have one.
    @Test func oneSlash() throws {
        let folder = TemporaryFolder()
        folder.write("mine/device.json", "")
        folder.write("mine/fhir.json", MappingText.fhir)
        for name in ["./mine", "./mine/", "./mine//"] {
            let done = try Kymo.run(["check", name], directory: folder.path)
            #expect(done.error.contains("mine/device.json:1:1: error: the file is empty"), "\(done.error)")
            #expect(!done.error.contains("//"), "\(done.error)")
        }
    }
}
