import CommandSupport
import KymographTestKit
import Testing

/// `kymo map`, `kymo test` and `kymo mappings`: what a person who writes a mapping uses.
@Suite struct MapTests {
    @Test func fromFileAndFromStandardInput() throws {
        let folder = TemporaryFolder()
        let file = folder.write("reading.json", Readings.heartRate(second: 5))
        let fromFile = try Kymo.run(["map", file])
        let fromInput = try Kymo.run(["map"], input: .bytes(Array(Readings.heartRate(second: 5).utf8)))
        let fromDash = try Kymo.run(["map", "-"], input: .bytes(Array(Readings.heartRate(second: 5).utf8)))
        #expect(fromFile.end == .exit(0) && fromFile.error.isEmpty)
        #expect(fromFile.output == fromInput.output && fromFile.output == fromDash.output)
        let tree = try JSONTree(parsing: fromFile.output)
        let observation = tree["observations"]?.elements?.first
        #expect(tree["measurements"]?.elements?.count == 1 && tree["rejected"] == nil)
        #expect(observation?["resourceType"]?.text == "Observation")
        #expect(observation?["valueQuantity"]?["value"] == .number("72"))
    }

    @Test func rejectedPayloads() throws {
        let payloads: [(String, String)] = [
            ("{", "invalidJSON"), ("{\"type\":\"unknown\"}", "noTemplate"),
            (Readings.heartRate(second: 0).replacing("72", with: "null"), "nullValue"),
        ]
        for (payload, reason) in payloads {
            let done = try Kymo.run(["map"], input: .bytes(Array(payload.utf8)))
            #expect(done.end == .exit(65))
            let rejected = try JSONTree(parsing: done.output)["rejected"]?.elements
            #expect(rejected?.first?["reason"]?.text == reason, "\(done.text)")
        }
    }

    @Test func nothingToMap() throws {
        let done = try Kymo.run(["map"])
        #expect(done.end == .exit(65))
        #expect(try JSONTree(parsing: done.output) == .object([:]))
    }

    /// Nothing is no frame, and no packet that could be read.
    @Test func noPacketToMap() throws {
        for text in ["", " \n"] {
            let frames = try Kymo.run(
                ["map", "--mapping", "heart-rate-strap", "--explain"], input: .bytes(Array(text.utf8)))
            let message = "kymo: standard input is empty, or holds no reading: give one payload\n"
            #expect(frames.end == .exit(65) && frames.error == message, "\(frames.error)")
            #expect(try JSONTree(parsing: frames.output) == .object([:]))
        }
        let folder = TemporaryFolder()
        folder.write("mine/device.json", MappingText.packetDevice)
        folder.write("mine/fhir.json", MappingText.fhir)
        let packet = try Kymo.run(["map", "--mapping", folder.file("mine"), "--explain"])
        #expect(packet.end == .exit(65) && packet.error.contains("truncatedPacket at byte 0"), "\(packet.error)")
        let rejected = try JSONTree(parsing: packet.output)["rejected"]?.elements
        #expect(rejected?.first?["reason"]?.text == "truncatedPacket")
    }

    /// A packet shows what it was decoded to, and each of its objects is explained.
    @Test func explainsPackets() throws {
        let frame = #"{"device":"d","characteristic":"2A37","time":"2026-03-01T08:00:05Z","value":"163c1104"}"#
        let arguments = ["map", "--mapping", "heart-rate-strap", "--explain"]
        let done = try Kymo.run(arguments, input: .bytes(Array(frame.utf8)))
        #expect(done.end == .exit(0), "\(done.error)")
        #expect(done.error.split(separator: "\n").filter { $0.hasPrefix("decoded: {") }.count == 2, "\(done.error)")
        #expect(
            done.error.contains(#""heartRate":60"#) && done.error.contains("a reading: milliseconds = 1016.6015625"))
        #expect(try JSONTree(parsing: done.output)["measurements"]?.elements?.count == 2)
        let cut = try Kymo.run(arguments, input: .bytes(Array(frame.replacing("163c1104", with: "16").utf8)))
        #expect(cut.end == .exit(65) && cut.error.contains("the payload is refused: truncatedPacket at byte 1"))
    }

    /// One payload cannot be JSON and a packet, nor two kinds of packets.
    @Test func mappingsOfDifferentPayloads() throws {
        let both = try Kymo.run(["map", "--mapping", "reading", "--mapping", "heart-rate-strap"])
        #expect(both.end == .exit(78), "\(both.error)")
        #expect(both.error.contains("'reading' and 'heart-rate-strap' of one source read different payloads"))
        let agreed = ["map", "--mapping", "binary-patch", "--mapping", "heart-rate-strap"]
        #expect(try Kymo.run(agreed).end == .exit(65))
    }

    @Test func explain() throws {
        let good = try Kymo.run(["map", "--explain"], input: .bytes(Array(Readings.heartRate(second: 0).utf8)))
        #expect(good.end == .exit(0))
        #expect(good.error.contains("reading, type heartRate (device.json line") && good.error.contains("a reading"))
        #expect(good.error.contains("no match for") && good.error.contains("value beatsPerMinute (required)"))
        #expect(try JSONTree(parsing: good.output)["measurements"]?.elements?.count == 1)
        let bad = Readings.heartRate(second: 0).replacing("deviceId", with: "device")
        let rejected = try Kymo.run(["map", "--explain"], input: .bytes(Array(bad.utf8)))
        #expect(rejected.end == .exit(65))
        #expect(rejected.error.contains("noDevice") && rejected.error.contains("deviceIdExpression"))
        #expect(rejected.error.contains("--default-device"), "\(rejected.error)")
        let broken = try Kymo.run(["map", "--explain"], input: .bytes(Array("{\"a\":".utf8)))
        #expect(broken.end == .exit(65))
        #expect(broken.error.contains("invalidJSON at byte 5"), "\(broken.error)")
    }

    /// A match expression that looks beside the payload says where the payload is.
    @Test func explainsAMissedEnvelope() throws {
        let folder = TemporaryFolder()
        folder.write("mine/device.json", MappingText.device.replacing("$..[?(@pulse)]", with: "$.pulse"))
        folder.write("mine/fhir.json", MappingText.fhir)
        let done = try Kymo.run(
            ["map", "--mapping", folder.file("mine"), "--explain"], input: .bytes(Array(MappingText.reading.utf8)))
        #expect(done.end == .exit(65))
        #expect(done.error.contains("no match for $.pulse\n    did you mean '$.Body.pulse'?"), "\(done.error)")
        #expect(done.error.contains("device.json:3:") && done.error.contains("envelope-path"), "\(done.error)")
    }

    /// So does one that begins with brackets, where what it says selects something of the payload.
    @Test(arguments: [
        ("$['pulse']", false, "$.Body['pulse']"), ("$[?(@.pulse)]", true, "$.Body[?(@.pulse)]"),
        ("$[0]", true, "$.Body[0]"), ("$[0].pulse", true, "$.Body[0].pulse"), ("$[?(@.steps)]", true, nil),
        ("$[0]", false, nil),
    ])
    func explainsAMissedEnvelopeOfBrackets(match: String, isArray: Bool, meant: String?) throws {
        let folder = TemporaryFolder()
        folder.write("mine/device.json", MappingText.device.replacing("$..[?(@pulse)]", with: match))
        folder.write("mine/fhir.json", MappingText.fhir)
        let payload = isArray ? "[\(MappingText.reading)]" : MappingText.reading
        let done = try Kymo.run(
            ["map", "--mapping", folder.file("mine"), "--explain"], input: .bytes(Array(payload.utf8)))
        #expect(done.end == .exit(65))
        let hint = meant.map { "    did you mean '\($0)'?" } ?? ""
        #expect(done.error.contains("no match for \(match)\n\(hint)"), "\(done.error)")
        #expect((meant == nil) == !done.error.contains("did you mean '$.Body"), "\(done.error)")
    }

    /// What `map` takes is explained: a byte-order mark, several values of one payload, and what only the reference's
    /// reader takes.
    @Test func explainsWhatMapTakes() throws {
        let lines = [Readings.heartRate(second: 0, value: 61), Readings.heartRate(second: 1, value: 62)]
        func explain(_ text: String, _ more: String...) throws -> (done: Kymo.Finished, outcomes: [String?]) {
            let done = try Kymo.run(["map", "--explain"] + more, input: .bytes(Array(text.utf8)))
            let outcomes = done.error.split(separator: "\n").filter { $0.contains("a reading: ") }
            return (done, outcomes.map { $0.split(separator: "a reading: ").last.map(String.init) })
        }
        for text in ["\u{FEFF}\(lines[0])", "\u{FEFF} \(lines[0])"] {
            let marked = try explain(text)
            #expect(marked.done.end == .exit(0) && marked.outcomes == ["beatsPerMinute = 61"], "\(marked.done.error)")
            #expect(!marked.done.error.contains("refused"), "\(marked.done.error)")
        }
        let both = try explain("\(lines[0])\n\(lines[1])")
        #expect(both.outcomes == ["beatsPerMinute = 61", "beatsPerMinute = 62"], "\(both.done.error)")
        #expect(both.done.error.contains("value at byte \(lines[0].utf8.count + 1):\n"), "\(both.done.error)")
        let rest = try explain("\(lines[0]) x")
        let place = "the payload is refused: invalidJSON at byte \(lines[0].utf8.count + 1)\n"
        #expect(rest.outcomes == ["beatsPerMinute = 61"] && rest.done.error.contains(place), "\(rest.done.error)")
        let lenient = lines[0].replacing("\"value\"", with: "value") + " // note"
        #expect(try explain(lenient).done.error.contains("the payload is refused: invalidJSON"))
        let taken = try explain(lenient, "--compatibility", "iomt-fhir")
        #expect(taken.done.end == .exit(0) && taken.outcomes == ["beatsPerMinute = 61"], "\(taken.done.error)")
        #expect(!taken.done.error.contains("refused"), "\(taken.done.error)")
    }

    @Test func explainsTheReadingsId() throws {
        let folder = TemporaryFolder()
        folder.write(
            "mine/device.json",
            MappingText.device.replacing("\"values\"", with: "\"readingIdExpression\": \"$.uuid\", \"values\""))
        folder.write("mine/fhir.json", MappingText.fhir)
        let payload = MappingText.reading.replacing("{", with: "{\"uuid\":\"r-1\",")
        let done = try Kymo.run(
            ["map", "--mapping", folder.file("mine"), "--explain"], input: .bytes(Array(payload.utf8)))
        #expect(done.end == .exit(0) && done.error.contains("readingIdExpression $.uuid: \"r-1\""), "\(done.error)")
    }

    /// Readings of an array come in the order of its elements, what is said of them in that of the templates.
    @Test func explainsArrays() throws {
        let elements = [("heartRate", "/min", 61), ("steps", "{steps}", 7), ("heartRate", "/min", 62)].map {
            #"{"deviceId":"d","type":"\#($0.0)","timestamp":"2026-03-01T08:00:05Z","value":\#($0.2),"unit":"\#($0.1)"}"#
        }
        let done = try Kymo.run(
            ["map", "--explain"], input: .bytes(Array("[\(elements.joined(separator: ","))]".utf8)))
        #expect(done.end == .exit(0), "\(done.error)")
        let outcomes = done.error.split(separator: "\n").filter { $0.contains("a reading: ") }
            .map { $0.split(separator: "a reading: ").last.map(String.init) }
        #expect(outcomes == ["beatsPerMinute = 61", "beatsPerMinute = 62", "steps = 7"], "\(done.error)")
        let measurements = try JSONTree(parsing: done.output)["measurements"]?.elements
        #expect(measurements?.compactMap { $0["Type"]?.text } == ["heartRate", "steps", "heartRate"], "\(done.output)")
    }

    @Test func defaultDeviceAndPatient() throws {
        let payload = Readings.heartRate(second: 0).replacing("\"deviceId\":\"watch-1\",", with: "")
        let done = try Kymo.run(
            ["map", "--default-device", "phone-7", "--default-patient", "patient-7"],
            input: .bytes(Array(payload.utf8)))
        #expect(done.end == .exit(0))
        #expect(done.text.contains("phone-7") && done.text.contains("patient-7"))
    }

    @Test func outputThatCannotBeWritten() throws {
        let payload = ChildProcess.Input.bytes(Array(Readings.heartRate(second: 0).utf8))
        for arguments in [["map"], ["mappings"]] {
            let done = try Kymo.run(arguments, input: payload, output: .path("/dev/full"))
            #expect(done.end == .exit(74) && done.error.contains("standard output"), "\(done.end) \(done.error)")
        }
    }

    @Test func brokenMapping() throws {
        let folder = TemporaryFolder()
        folder.write("mine/device.json", MappingText.device.replacing("$.at", with: "$.at["))
        folder.write("mine/fhir.json", MappingText.fhir)
        let done = try Kymo.run(["map", "--mapping", "./mine"], directory: folder.path)
        #expect(done.end == .exit(78) && done.error.contains("mine/device.json:6:"))
    }
}

/// `kymo test` and `kymo mappings`.
@Suite struct MappingTestTests {
    @Test func theCatalogueIsGood() throws {
        let done = try Kymo.run(["test"], directory: "/")
        #expect(done.end == .exit(0), "\(done.error)")
        #expect(done.error.contains("examples passed, 0 failed"))
    }

    @Test func list() throws {
        let done = try Kymo.run(["mappings"], directory: "/")
        #expect(done.end == .exit(0))
        #expect(done.lines == done.lines.sorted() && Set(done.lines).isSuperset(of: ["reading", "wristband"]))
    }

    @Test func exportCheckUpdateAndTest() throws {
        let folder = TemporaryFolder()
        for name in try Kymo.run(["mappings"]).lines {
            #expect(try Kymo.run(["mappings", "--export", name, name], directory: folder.path).end == .exit(0))
            #expect(try Kymo.run(["check", "./\(name)"], directory: folder.path).end == .exit(0))
            #expect(try Kymo.run(["test", "--update", "./\(name)"], directory: folder.path).end == .exit(0))
            let done = try Kymo.run(["test", "./\(name)"], directory: folder.path)
            #expect(done.end == .exit(0) && done.error.contains(", 0 failed"))
        }
        let again = try Kymo.run(["mappings", "--export", "reading", "reading"], directory: folder.path)
        #expect(again.end == .exit(73) && again.error.contains("exists already"))
        let unknown = try Kymo.run(["mappings", "--export", "raeding", "new"], directory: folder.path)
        #expect(unknown.end == .exit(78) && unknown.error.contains("'reading'"))
        #expect(!Files.exists(folder.file("new")))
    }

    @Test func aWrongExpectationIsShown() throws {
        let folder = try mapping()
        #expect(try Kymo.run(["test", "--update", "./mine"], directory: folder.path).end == .exit(0))
        let expected = Files.text(folder.file("mine/examples/one.out.json"))
        #expect(expected.contains("\"value\": 61"))
        folder.write("mine/examples/one.out.json", expected.replacing("\"value\": 61", with: "\"value\": 62"))
        let done = try Kymo.run(["test", "./mine"], directory: folder.path)
        #expect(done.end == .exit(65) && done.output.isEmpty)
        #expect(done.error.contains("./mine: one: failed") && done.error.contains("61 ≠ 62"), "\(done.error)")
        #expect(done.error.contains("0 examples passed, 1 failed"))
        folder.write("mine/examples/one.out.json", "{")
        let broken = try Kymo.run(["test", "./mine"], directory: folder.path)
        #expect(broken.end == .exit(65) && broken.error.contains("no JSON"))
    }

    @Test func examplesWithoutPartner() throws {
        let folder = try mapping()
        let missing = try Kymo.run(["test", "./mine"], directory: folder.path)
        #expect(missing.end == .exit(65) && missing.error.contains("kymo test --update"))
        folder.write("mine/examples/two.out.json", "{}")
        let orphan = try Kymo.run(["test", "./mine"], directory: folder.path)
        #expect(orphan.end == .exit(78) && orphan.error.contains("two.in.json"), "\(orphan.error)")
    }

    private func mapping() throws -> TemporaryFolder {
        let folder = TemporaryFolder()
        folder.write("mine/device.json", MappingText.device)
        folder.write("mine/fhir.json", MappingText.fhir)
        folder.write("mine/examples/one.in.json", MappingText.reading)
        return folder
    }
}
