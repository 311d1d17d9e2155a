import CommandSupport
import KymographTestKit
import Testing

/// `kymo check` on good and broken configuration and mappings.
@Suite struct CheckTests {
    @Test(arguments: [
        [], ["reading"], ["healthkit-on-fhir"], ["wristband"], ["--mapping", "reading", "--udp", "127.0.0.1:0"],
        ["--window", "1m30s", "--lateness", "0s", "--out", "somewhere", "--format", "ndjson"],
    ])
    func good(arguments: [String]) throws {
        let folder = TemporaryFolder()
        let done = try Kymo.run(["check"] + arguments, directory: folder.path)
        #expect(done.end == .exit(0))
        #expect(done.output.isEmpty && done.error.contains("kymo: configuration OK: sources"))
        #expect(Files.names(folder.path).isEmpty, "a check touches nothing")
    }

    @Test func goodFile() throws {
        let folder = TemporaryFolder()
        let file = folder.write("kymo.yaml", "window: 1m\nsources:\n  - stdin: true\n    mappings: wristband\n")
        let done = try Kymo.run(["check", "--config", file])
        #expect(done.end == .exit(0))
        #expect(done.error.contains("sources stdin; mappings wristband"))
    }

    /// Kubernetes mounts a ConfigMap as a folder that all may write, to be read only.
    @Test(.enabled(if: SmallDisk.canMount, "needs the right to mount a tmpfs"))
    func aFolderThatIsMountedToBeReadOnlyIsFine() throws {
        let folder = TemporaryFolder()
        let script = """
            mkdir "$1" && mount -t tmpfs -o mode=0777 none "$1" && printf 'window: 1m\\n' >"$1/kymo.yaml" || exit 99
            "$2" check --config "$1/kymo.yaml"
            mount -o remount,ro "$1" || exit 99
            echo "read only" >&2
            "$2" check --config "$1/kymo.yaml"
            """
        let shell = try ChildProcess(
            "unshare", ["--mount", "bash", "-c", script, "bash", folder.file("mounted"), Kymo.path])
        #expect(try shell.wait() == .exit(0), "\(shell.errorText)")
        let texts = shell.errorText.split(separator: "read only\n", omittingEmptySubsequences: false)
        #expect(texts.count == 2 && texts[0].contains("can be changed by users other than its owner"))
        #expect(!texts[texts.count - 1].contains("can be changed"), "\(shell.errorText)")
    }

    /// Overlapping mappings are a warning: they may be meant.
    @Test func overlapWarns() throws {
        let folder = TemporaryFolder()
        folder.write("mine/device.json", MappingText.device)
        folder.write("mine/fhir.json", MappingText.fhir)
        let done = try Kymo.run(["check", "./mine", "./mine/"], directory: folder.path)
        #expect(done.end == .exit(0))
        #expect(done.error.contains("device.json:3:") && done.error.contains("warning:"), "\(done.error)")
        #expect(done.error.contains("; 1 warning\n"))
    }

    /// A rule that names what there is not lets pass what it was to hold up: that is said before it runs.
    @Test func patternsThatMeanNothingWarn() throws {
        let folder = TemporaryFolder()
        folder.write(
            "rules.yaml",
            "resources:\n  - {name: a, then: veto, devices: [x], sinks: [hospitl]}\n"
                + "  - {name: b, then: veto, types: [hartRate]}\n")
        folder.write("kymo.yaml", "rules: rules.yaml\nsinks: [{to: out, name: hospital}]\nsources: [{stdin: true}]\n")
        let done = try Kymo.run(["check", "--config", "kymo.yaml"], directory: folder.path)
        #expect(done.end == .exit(0) && done.error.contains("; 2 warnings\n"), "\(done.error)")
        for message in [
            "rule a: there is no sink 'hospitl'; did you mean 'hospital'?",
            "rule b: no mapping has a type 'hartRate'; did you mean 'heartRate'?",
        ] {
            let all = done.text + done.error
            #expect(all.contains("kymo.yaml:1:1: warning: " + message), "\(all)")
        }
    }

    /// So do sources of rules, for readings and for resources, which are named by their names alone.
    @Test func sourcesThatThereAreNotWarn() throws {
        let folder = TemporaryFolder()
        folder.write(
            "rules.yaml",
            "rules:\n  - {name: a, then: drop, sources: [wrad-3, \"ward-*\"]}\n"
                + "  - {name: b, then: drop, sources: [\"stdin\", other]}\n"
                + "resources:\n  - {name: c, then: veto, sources: [ward3]}\n"
                + "  - {name: d, then: veto, sources: [ward-3, \"unix *\"]}\n")
        folder.write(
            "kymo.yaml",
            "rules: rules.yaml\nsinks: [{to: out, name: hospital}]\nsources:\n  - stdin: true\n"
                + "  - {udp: 127.0.0.1:0, name: ward-3}\n")
        let done = try Kymo.run(["check", "--config", "kymo.yaml"], directory: folder.path)
        #expect(done.end == .exit(0) && done.error.contains("; 4 warnings\n"), "\(done.error)")
        for message in [
            "rule a: there is no source 'wrad-3'; did you mean 'ward-3'?",
            "rule b: there is no source 'other'; look into the list of sources",
            "rule c: there is no source 'ward3'; did you mean 'ward-3'?",
            "rule d: there is no source 'unix *'; look into the list of sources",
        ] {
            #expect(done.error.contains("kymo.yaml:1:1: warning: " + message), "\(done.error)")
        }
        // Flags name other sources of this run: those of the configuration are known all the same.
        let replaced = try Kymo.run(
            ["check", "--config", "kymo.yaml", "--unix", "a.sock"], directory: folder.path)
        #expect(replaced.end == .exit(0) && replaced.error.contains("; 3 warnings\n"), "\(replaced.error)")
    }

    @Test(arguments: [
        ("window: 5", "1:9"), ("windw: 5m", "1:1"), ("lanes: 0\n", "1:8"), ("output:\n  format: bundel\n", "2:11"),
        ("window: [5m", "1:12"), ("output:\n  maxBytes: 1MB\n", "2:13"), ("ringSlots: 1000\n", "1:12"),
        ("sources:\n  - udp: localhost:1\n", "2:10"), ("sources:\n  - {}\n", "2:5"),
        ("sources:\n  - stdin: true\n    mappings: nobody\n", "3:15"), ("mappings: [raeding]\n", "1:12"),
        ("sources:\n  - udp: 127.0.0.1:1\n    unix: a.sock\n", "3:5"), ("limits:\n  depth: 1025\n", "2:10"),
        ("output:\n  systems:\n    device: devices\n", "3:13"), ("window: 5m\nwindow: 1m\n", "1:1"),
        ("identity: patient\n", "1:11"), ("\tlanes: 1\n", "1:1"), ("lanes:\n", "1:7"),
    ])
    func brokenConfiguration(text: String, place: String) throws {
        let folder = TemporaryFolder()
        folder.write("kymo.yaml", text)
        for command in ["check", "run"] {
            let done = try Kymo.run([command, "--config", "kymo.yaml"], directory: folder.path)
            #expect(done.end == .exit(78))
            #expect(done.error.contains("kymo.yaml:\(place): error: "), "\(done.error)")
            #expect(done.output.isEmpty)
        }
    }

    @Test(arguments: MappingText.brokenDevices)
    func brokenDevice(text: String, place: String, word: String) throws {
        try expectBroken(device: text, fhir: MappingText.fhir, "device.json:\(place): error: ", word)
    }

    @Test(arguments: MappingText.brokenFHIR)
    func brokenFHIR(text: String, place: String, word: String) throws {
        try expectBroken(device: MappingText.device, fhir: text, "fhir.json:\(place): error: ", word)
    }

    private func expectBroken(device: String, fhir: String, _ place: String, _ word: String) throws {
        let folder = TemporaryFolder()
        folder.write("mine/device.json", device)
        folder.write("mine/fhir.json", fhir)
        let done = try Kymo.run(["check", "./mine"], directory: folder.path)
        #expect(done.end == .exit(78))
        #expect(done.error.contains("mine/\(place)") && done.error.contains(word), "\(done.error)")
    }

    @Test func everythingIsReportedAtOnce() throws {
        let folder = TemporaryFolder()
        folder.write("kymo.yaml", "lanes: 0\nwindow: x\n")
        let done = try Kymo.run(
            ["check", "--config", "kymo.yaml", "--lateness", "soon"], environment: ["KYMO_SHARDS": "none"],
            directory: folder.path)
        #expect(done.end == .exit(78))
        #expect(done.error.split(separator: "\n").filter { $0.contains(": error: ") }.count == 4, "\(done.error)")
        #expect(done.error.contains("kymo: 4 errors, 0 warnings"))
    }

    @Test func findingsForMachines() throws {
        let folder = TemporaryFolder()
        folder.write("mine/device.json", MappingText.device)
        folder.write("mine/fhir.json", MappingText.fhir.replacing("\"/min\"}", with: "\"bpm\"}"))
        let done = try Kymo.run(["check", "--format", "json", "./mine"], directory: folder.path)
        #expect(done.end == .exit(0))
        #expect(!done.error.contains("warning:"), "findings are on standard output: \(done.error)")
        let report = try JSONTree(parsing: done.output)
        let expected = """
            {"findings": [{"severity": "warning", "file": "./mine/fhir.json", "line": 6, "column": 86,
              "message": "'bpm' is not the UCUM code that is meant", "code": "ucum-code", "template": "pulse",
              "advice": "use \\"code\\": \\"/min\\"; \\"unit\\" may stay \\"/min\\""}],
             "errors": 0, "warnings": 1}
            """
        #expect(try report.differences(from: JSONTree(parsing: Array(expected.utf8))) == [])
        let text = try Kymo.run(["check", "--format", "text", "./mine"], directory: folder.path)
        #expect(text.end == .exit(0) && text.output.isEmpty)
        #expect(text.error.contains("mine/fhir.json:6:86: warning: ") && text.error.contains("[type pulse, ucum-code]"))
    }

    /// Errors of configuration and mapping are in one report.
    @Test func errorsForMachines() throws {
        let folder = TemporaryFolder()
        folder.write("kymo.yaml", "window: x\n")
        folder.write("mine/device.json", MappingText.device.replacing("\"typeName\": \"pulse\",", with: ""))
        folder.write("mine/fhir.json", MappingText.fhir)
        let done = try Kymo.run(
            ["check", "--format", "json", "--config", "kymo.yaml", "--mapping", "./mine"], directory: folder.path)
        #expect(done.end == .exit(78))
        #expect(done.text.contains("\"errors\": 2") && done.text.contains("kymo.yaml"), "\(done.text)")
        #expect(done.text.contains("\"missing-field\"") && done.error.contains("kymo: 2 errors, 0 warnings"))
    }

    @Test func strictFailsOnWarnings() throws {
        let folder = TemporaryFolder()
        folder.write("mine/device.json", MappingText.device)
        folder.write("mine/fhir.json", MappingText.fhir.replacing("\"/min\"}", with: "\"bpm\"}"))
        #expect(try Kymo.run(["check", "./mine"], directory: folder.path).end == .exit(0))
        #expect(try Kymo.run(["check", "--strict", "./mine"], directory: folder.path).end == .exit(78))
        #expect(try Kymo.run(["check", "--strict", "reading"], directory: folder.path).end == .exit(0))
    }

    /// Sample events: what is rejected exits with status 65, what matches nothing is a warning, and each is said once.
    @Test func sampleEvents() throws {
        let folder = TemporaryFolder()
        folder.write("mine/device.json", MappingText.device)
        folder.write("mine/fhir.json", MappingText.fhir)
        let bad = MappingText.reading.replacing("\"id\":\"p-1\",", with: "")
        let lines = [MappingText.reading, bad, "", bad, "{\"temperature\":7}"]
        folder.write("events.ndjson", lines.joined(separator: "\n"))
        let done = try Kymo.run(["check", "./mine", "--events", "events.ndjson"], directory: folder.path)
        #expect(done.end == .exit(65))
        let place = "events.ndjson:2:1: error: the event is rejected as noDevice: type pulse, deviceIdExpression $.id"
        #expect(done.error.contains("\(place) (2 times, first here)"), "\(done.error)")
        #expect(done.error.contains("events.ndjson:5:1: warning: no template matches") && done.output.isEmpty)
        folder.write("good.json", MappingText.reading)
        #expect(try Kymo.run(["check", "./mine", "--events", "good.json"], directory: folder.path).end == .exit(0))
        #expect(try Kymo.run(["check", "./mine", "--events", "none"], directory: folder.path).end == .exit(66))
    }

    /// What names no device is one of the source's device, as `run` would take it, and a rejection says how.
    @Test func sampleEventsOfADefaultDevice() throws {
        let folder = TemporaryFolder()
        folder.write("mine/device.json", MappingText.device)
        folder.write("mine/fhir.json", MappingText.fhir)
        folder.write("events.ndjson", MappingText.reading.replacing("\"id\":\"p-1\",", with: ""))
        folder.write("kymo.yaml", "sources:\n  - stdin: true\n")
        let check = ["check", "./mine", "--events", "events.ndjson"]
        let without = try Kymo.run(check, directory: folder.path)
        #expect(without.end == .exit(65) && without.error.contains("--default-device"), "\(without.error)")
        for more in [["--stdin"], []] {
            let with = try Kymo.run(check + ["--default-device", "phone-7"] + more, directory: folder.path)
            #expect(with.end == .exit(0), "\(with.error)")
        }
        let elsewhere = ["--config", "kymo.yaml", "--default-device", "phone-7"]
        let refused = try Kymo.run(check + elsewhere, directory: folder.path)
        #expect(refused.end == .exit(78) && refused.error.contains("write defaultDevice at the source"))
        let empty = try Kymo.run(check + ["--default-device", ""], directory: folder.path)
        #expect(empty.end == .exit(78) && empty.error.contains("--default-device: the value is empty"))
    }

    @Test func missingMapping() throws {
        let folder = TemporaryFolder()
        folder.write("empty/notes.txt", "nothing")
        let arguments: [(String, String)] = [
            ("./empty", "device.json is missing"), ("./nowhere", "no such folder"), ("wristbnad", "'wristband'"),
            ("./empty/notes.txt", "is a file"),
        ]
        for (name, words) in arguments {
            let done = try Kymo.run(["check", name], directory: folder.path)
            #expect(done.end == .exit(78))
            #expect(done.error.contains(words), "\(done.error)")
        }
    }
}
