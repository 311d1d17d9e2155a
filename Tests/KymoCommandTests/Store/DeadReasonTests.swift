import CommandSupport
import Testing

/// `kymo dead` for people: how many of which reason, and why no template matched.
@Suite struct DeadReasonTests {
    private func stored() throws -> TemporaryFolder {
        let folder = TemporaryFolder()
        folder.write("m/device.json", MappingText.device)
        folder.write("m/fhir.json", MappingText.fhir)
        let lines = [
            MappingText.reading, MappingText.reading.replacing("pulse", with: "pulses"), "no JSON",
            MappingText.reading.replacing("\"pulse\":61", with: "\"steps\":1"),
        ]
        let text = lines.joined(separator: "\n") + "\n"
        let done = try Kymo.run(
            ["run", "--stdin", "--mapping", "./m", "--data", "data"], directory: folder.path,
            input: .bytes(Array(text.utf8)))
        #expect(done.end == .exit(0), "\(done.error)")
        return folder
    }

    @Test func reasonsWithTheirNumbers() throws {
        let folder = try stored()
        for arguments in [["dead"], ["dead", "reasons"]] {
            let done = try Kymo.run(arguments + ["--data", "data"], directory: folder.path)
            #expect(done.end == .exit(0), "\(done.error)")
            let rows = done.lines.dropFirst().map { $0.split(separator: " ").prefix(3).map(String.init) }
            #expect(Array(rows) == [["noTemplate", "payload", "2"], ["invalidJSON", "payload", "1"]], "\(done.text)")
        }
    }

    @Test func forPeople() throws {
        let folder = try stored()
        let done = try Kymo.run(["dead", "show", "2", "--text", "--data", "data"], directory: folder.path)
        #expect(done.end == .exit(0), "\(done.error)")
        #expect(done.lines.first?.hasPrefix("letter 2, payload of stdin, ") == true, "\(done.text)")
        #expect(done.lines[1].hasPrefix("invalidJSON: ") && done.lines.last == "no JSON", "\(done.text)")
        let both = try Kymo.run(["dead", "show", "2", "--text", "--bytes", "--data", "data"], directory: folder.path)
        #expect(both.end == .exit(64))
    }

    /// The payload has a name that the template's filter compares, with another value.
    @Test func nearestTemplate() throws {
        let folder = try stored()
        folder.write("m/device.json", MappingText.device.replacing("@pulse)", with: "@id == 'x' && @pulse)"))
        let arguments = ["--data", "data", "--mapping", "./m"]
        let shown = try Kymo.run(["dead", "show", "1", "--text"] + arguments, directory: folder.path)
        #expect(shown.end == .exit(0), "\(shown.error)")
        #expect(
            shown.text.contains("nearest template: mapping ./m, type pulse, line 3: typeMatchExpression"),
            "\(shown.text)")
        #expect(shown.text.contains("pulse: not in the payload"), "\(shown.text)")
        let listed = try Kymo.run(["dead", "list", "--reason", "noTemplate"] + arguments, directory: folder.path)
        #expect(listed.lines.count == 3 && listed.text.contains("nearest template"), "\(listed.text)")
    }

    /// The run notes it, by the mapping of then; a mapping that is named now says more.
    @Test func nearestTemplateOfThen() throws {
        let folder = TemporaryFolder()
        folder.write("m/device.json", MappingText.device.replacing("@pulse)", with: "@value && @pulse)"))
        folder.write("m/fhir.json", MappingText.fhir)
        let run = try Kymo.run(
            ["run", "--stdin", "--data", "data"], directory: folder.path,
            input: .bytes(Readings.ndjson([#"{"deviceId":"watch-1","type":"hartRate","value":1}"#])))
        #expect(run.end == .exit(65), "\(run.error)")
        let show = ["dead", "show", "1", "--text", "--data", "data"]
        let then = try Kymo.run(show, directory: folder.path)
        #expect(then.text.contains("nearest template: mapping reading, type heartRate"), "\(then.text)")
        let now = try Kymo.run(show + ["--mapping", "./m"], directory: folder.path)
        #expect(now.text.contains("; now nearest template: mapping ./m, type pulse"), "\(now.text)")
    }

    /// A condition that holds is not what keeps a template from matching; once the mapping is mended, that is said.
    @Test func whatFailsIsNamed() throws {
        let folder = TemporaryFolder()
        let expression = "@kind == 'pulse' && @state == 'final'"
        folder.write("m/device.json", MappingText.device.replacing("@pulse", with: expression))
        folder.write("m/fhir.json", MappingText.fhir)
        let run = try Kymo.run(
            ["run", "--stdin", "--mapping", "./m", "--data", "data"], directory: folder.path,
            input: .bytes(Readings.ndjson([#"{"kind":"pulse","state":"draft","pulse":71,"id":"w-1"}"#])))
        #expect(run.error.contains("line 3: typeMatchExpression"), "\(run.error)")
        #expect(run.error.contains(")]: state: \"draft\""), "\(run.error)")
        #expect(!run.error.contains(")]: kind:"), "\(run.error)")
        folder.write("m/device.json", MappingText.device)
        let show = ["dead", "show", "1", "--text", "--data", "data", "--mapping", "reading", "--mapping", "./m"]
        let shown = try Kymo.run(show, directory: folder.path)
        #expect(shown.text.contains("; mapping ./m, type pulse, line 3 matches it now"), "\(shown.text)")
        #expect(!shown.text.contains("now nearest"), "\(shown.text)")
    }

    /// A device that sends nothing but what no template matches is explained a few times, and counted each time.
    @Test func notEachIsExplained() throws {
        let folder = TemporaryFolder()
        let lines = (0..<2_000).map { #"{"deviceId":"watch-1","type":"hartRate","value":\#($0)}"# }
        let done = try Kymo.run(
            ["run", "--stdin", "--dead-letter", "dead.ndjson", "--out", "out"], directory: folder.path,
            input: .bytes(Readings.ndjson(lines)))
        #expect(done.end == .exit(65) && done.error.contains("noTemplate 2000"), "\(done.error)")
        #expect(done.error.contains("\n    nearest template: mapping reading, type heartRate"), "\(done.error)")
        let letters = String(decoding: Files.read(folder.file("dead.ndjson")), as: UTF8.self).split(separator: "\n")
        let explained = letters.count { $0.contains("nearest template: ") }
        #expect(letters.count == 2_000 && (1...500).contains(explained), "\(explained)")
    }
}
