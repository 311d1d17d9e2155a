import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// Serial lines and streams with frames, as bridges of devices send them.
@Suite struct RunSerialTests {
    /// Links `name` in `folder` to the device of `terminal`, as udev does for a line that is plugged in.
    private func plug(_ terminal: PseudoTerminal, _ link: String) {
        unsafe unlink(link)
        unsafe symlink(terminal.path, link)
    }

    /// COBS for content without zeros of at most 253 bytes, and the zero after it.
    private func cobs(_ line: String) -> [UInt8] {
        let bytes = Array(line.utf8)
        precondition(bytes.count < 254 && !bytes.contains(0))
        return [UInt8(bytes.count + 1)] + bytes + [0]
    }

    /// Binary frames pass a line unchanged, though terminals give a meaning to many bytes, and give what NDJSON gives.
    @Test func framesOfASerialLineBecomeTheSameObservations() throws {
        let terminal = try PseudoTerminal()
        let lines = Readings.heartRates(500) + [Readings.heartRate(second: 0, device: "last")]
        let run = try Kymo.start(
            ["run", "--serial", "\(terminal.path):115200,8N1", "--framing", "cobs", "--idle", "200ms"])
        #expect(try run.addresses() == ["serial \(terminal.path)"])
        // Bytes with which a terminal would interrupt, end the file or stop the flow.
        let noise: [UInt8] = [3, 4, 0, 0x11, 0x13, 0x0D, 0, 0x1A, 0]
        terminal.write(lines.prefix(250).flatMap(cobs) + noise + lines.dropFirst(250).flatMap(cobs))
        try Waiting.until("the last device") { String(decoding: run.output, as: UTF8.self).contains("last") }
        let done = try run.terminate()
        let balance = try #require(done.balance)
        #expect(
            balance.accepted == 501 && balance.reasons == ["frameMalformed": 3] && balance.isClosed, "\(done.error)")
        let plain = try Kymo.run(["run", "--stdin"], input: .bytes(Readings.ndjson(lines)))
        let (found, expected) = (try bundles(done.output), try bundles(plain.output))
        #expect(found.differences(from: expected, ignoring: ["status"]) == [])
        #expect(found.observations.count == expected.observations.count && found.observations.count >= 3)
    }

    private func bundles(_ bytes: [UInt8]) throws -> BundleReader {
        var reader = BundleReader()
        try reader.read(ndjson: bytes)
        return reader
    }

    @Test func aLineThatIsUnpluggedComesBack() throws {
        let folder = TemporaryFolder()
        let link = folder.file("line")
        let run = try Kymo.start(["run", "--serial", "\(link):9600", "--idle", "100ms"])
        try run.waitForError("cannot open serial \(link)")
        for round in 0..<3 {
            let terminal = try PseudoTerminal()
            plug(terminal, link)
            try Waiting.until("the line, round \(round): \(run.errorText)") {
                run.errorText.split(separator: "serial \(link) is there").count == round + 2
            }
            try withExtendedLifetime(terminal) {
                terminal.write(Readings.ndjson(Readings.heartRates(10, device: "round-\(round)")))
                try Waiting.until("a bundle of round \(round)") {
                    String(decoding: run.output, as: UTF8.self).contains("round-\(round)")
                }
            }
        }
        // Each terminal went with the end of its round.
        try run.waitForError("serial \(link) has gone; waiting for it")
        let done = try run.terminate()
        let balance = try #require(done.balance)
        #expect(done.end == .exit(0) && balance.accepted == 30 && balance.isClosed, "\(done.error)")
    }

    /// A run that reads heart-rate packets in hexadecimal, or as they are in frames, from a line.
    private func startPackets(_ folder: TemporaryFolder, _ link: String, _ framing: String) throws -> ChildProcess {
        folder.write("mine/device.json", MappingText.packetDevice)
        folder.write("mine/fhir.json", MappingText.fhir)
        let config = folder.write(
            "kymo.yaml",
            """
            sources:
              - serial: \(link):9600
                framing: \(framing)
                mappings: \(folder.path)/mine
                defaultDevice: strap-1
            deadLetter: \(folder.file("dead"))
            """)
        let run = try Kymo.start(["run", "--config", config, "--format", "ndjson", "--idle", "100ms", "--ephemeral"])
        _ = try run.addresses()
        return run
    }

    /// The values of the Observations in `bytes`.
    private func values(_ bytes: [UInt8]) -> [String] {
        bytes.split(separator: 0x0A).compactMap { line in
            guard case .number(let text)? = try? JSONTree(parsing: Array(line))["valueQuantity"]?["value"] else {
                return nil
            }
            return text
        }
    }

    /// A line is opened while its device sends, and unplugged while it sends: parts of packets are other packets.
    @Test(arguments: [
        ("lines", ["0611\n063d\n", "063e\n0640"], ["0611", "0640"]),
        ("nul", ["\u{6}\u{11}\0\u{6}=\0", "\u{6}>\0\u{6}@"], ["\u{6}\u{11}", "\u{6}@"]),
    ])
    func partsOfPacketsAreNoReadings(framing: String, input: [String], parts: [String]) throws {
        let folder = TemporaryFolder()
        let link = folder.file("line")
        let terminal = try PseudoTerminal()
        plug(terminal, link)
        let run = try startPackets(folder, link, framing)
        // What is read at once was received at once.
        for (number, piece) in input.enumerated() {
            terminal.write(Array(piece.utf8))
            try Waiting.until("reading \(number)") { values(run.output).count == number + 1 }
        }
        terminal.unplug()
        try run.waitForError("serial \(link) has gone")
        let done = try run.terminate()
        #expect(values(done.output) == ["61", "62"], "\(done.text)")
        let balance = try #require(done.balance)
        #expect(balance.accepted == 2 && balance.reasons == ["beginningMissed": 1, "frameIncomplete": 1])
        let letters = try DeadLetter.read(folder.file("dead"))
        #expect(letters.map(\.text) == parts && letters.map(\.reason) == ["beginningMissed", "frameIncomplete"])
    }

    /// What begins as JSON does is whole, or fails to parse; so is a frame with a right checksum.
    @Test func aWholeFirstLineIsTaken() throws {
        let terminal = try PseudoTerminal()
        let lines = Readings.heartRates(3)
        for (first, reasons) in [
            (lines[0], [:]), ("\u{FEFF}" + lines[0], [:]), (String(lines[0].dropFirst(9)), ["beginningMissed": 1]),
            ("\u{FEFF}" + lines[0].dropFirst(9), ["beginningMissed": 1]),
            ("{\"a\":1}}", ["invalidJSON": 1]),
        ] as [(String, [String: Int])] {
            let run = try Kymo.start(["run", "--serial", "\(terminal.path):9600", "--idle", "100ms", "--ephemeral"])
            _ = try run.addresses()
            terminal.write(Readings.ndjson([first, lines[1], lines[2]]))
            try Waiting.until("a bundle") { String(decoding: run.output, as: UTF8.self).contains("}") }
            let balance = try #require(try run.terminate().balance)
            #expect(balance.accepted == (reasons.isEmpty ? 3 : 2) && balance.reasons == reasons, "\(first)")
        }
    }

    @Test func aLineBelongsToOneProcess() throws {
        let terminal = try PseudoTerminal()
        let run = try Kymo.start(["run", "--serial", "\(terminal.path):9600"])
        _ = try run.addresses()
        let second = try Kymo.run(["run", "--serial", "\(terminal.path):9600"])
        #expect(second.end != .exit(0) && second.error.contains("another process has it open"), "\(second.error)")
        #expect(try run.terminate().end == .exit(0))
    }

    /// Every error of a framing is counted by its kind, and its bytes are kept.
    @Test func whatIsNoFrameIsADeadLetter() throws {
        let folder = TemporaryFolder()
        let lines = Readings.heartRates(2)
        let input =
            cobs(lines[0]) + [9, 1, 2, 0] + cobs(String(repeating: "x", count: 250)) + cobs(lines[1]) + [7, 1]
        let done = try Kymo.run(
            ["run", "--stdin", "--framing", "cobs", "--dead-letter", folder.file("dead")], input: .bytes(input))
        let balance = try #require(done.balance)
        #expect(balance.accepted == 2, "\(done.error)")
        #expect(balance.reasons == ["frameMalformed": 1, "invalidJSON": 1, "frameIncomplete": 1], "\(done.error)")
        let letters = try DeadLetter.read(folder.file("dead"))
        #expect(letters.first { $0.reason == "frameMalformed" }?.bytes == [9, 1, 2])
        #expect(letters.first { $0.reason == "frameIncomplete" }?.bytes == [7, 1])
    }

    /// Letters have payloads without their frames: they are not sent to a socket that wants frames.
    @Test func lettersOfFramedSocketsWaitForTheEnd() throws {
        let folder = TemporaryFolder()
        let (path, data) = (folder.file("a.sock"), folder.file("data"))
        let run = try Kymo.start(["run", "--unix", path, "--framing", "cobs", "--data", data])
        _ = try run.addresses()
        let connection = try OpenConnection("unix \(path)")
        try connection.send("\u{8}{\"a\":1}\0")
        try Waiting.until("a letter") { try Kymo.run(["dead", "list", "--data", data]).text.contains("noTemplate") }
        let letters = try Kymo.run(["dead", "list", "--data", data]).text
        #expect(letters.contains("sent by process \(getpid()) of user \(geteuid())"), "\(letters)")
        let early = try Kymo.run(["dead", "replay", "--all", "--data", data])
        #expect(early.end != .exit(0) && early.error.contains("stop it, and replay then"), "\(early.error)")
        #expect(try run.terminate().end == .exit(0))
        let late = try Kymo.run(["dead", "replay", "--all", "--framing", "cobs", "--data", data])
        #expect(late.error.contains("letter 1: rejected again: noTemplate"), "\(late.error)")
    }

    @Test func inputEndsAtAWrongLength() throws {
        let folder = TemporaryFolder()
        let line = Array(Readings.heartRates(1)[0].utf8)
        let input = [UInt8(line.count), 0] + line + [0xFF, 0xFF] + line
        let done = try Kymo.run(
            [
                "run", "--stdin", "--framing", "length,u16le", "--config",
                folder.write("kymo.yaml", "limits: {lineBytes: 4KiB}"),
            ], input: .bytes(input))
        let balance = try #require(done.balance)
        #expect(balance.accepted == 1 && balance.reasons == ["frameTooLong": 1] && balance.isClosed, "\(done.error)")
    }
}
