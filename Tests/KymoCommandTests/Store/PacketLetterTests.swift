import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// Dead letters with packets: another byte would be another reading.
@Suite struct PacketLetterTests {
    /// A heart-rate packet with bytes that end lines elsewhere, and its heart rate.
    private static let packets: [([UInt8], String)] = [
        ([0x00, 0x0A], "10"), ([0x01, 0x0D, 0x0A], "2573"), ([0x0A, 0x0D, 0x10, 0x00], "13"),
    ]

    /// A run whose mapping takes no packet until it is mended.
    private struct Strap {
        let run = StoredRun()

        init() { write(least: 60_000) }

        /// Writes a mapping that matches heart rates above `least`.
        func write(least: Int) {
            let device = MappingText.packetDevice.replacing("(@heartRate)", with: "(@heartRate > \(least))")
            run.folder.write("mine/device.json", device)
            run.folder.write("mine/fhir.json", MappingText.fhir)
        }

        /// Mends the mapping, which `instance` then uses, if there is one.
        func mend(_ instance: ChildProcess? = nil) throws {
            write(least: 0)
            instance?.signal(SIGHUP)
            try instance?.waitForError("again")
        }

        func arguments(_ source: String) -> [String] {
            let config = run.folder.write(
                "kymo.yaml",
                """
                sources:
                  - \(source)
                    mappings: \(run.folder.path)/mine
                    defaultDevice: strap-1
                """)
            return ["--config", config, "--data", run.data, "--out", run.output, "--format", "ndjson"]
        }

        /// An instance that has rejected `payload`.
        func start(_ source: String, _ payload: [UInt8]) throws -> ChildProcess {
            let instance = try Kymo.start(["run", "--no-watch"] + arguments(source))
            try Sending.send(exactly: [payload], to: try instance.addresses()[0])
            try letters(1)
            return instance
        }

        /// Waits until the list has `count` letters.
        func letters(_ count: Int) throws {
            try Waiting.until("\(count) letters") { try run.command("dead", "list").lines.count == count + 1 }
        }

        func replay(_ source: String) throws -> Kymo.Finished {
            try Kymo.run(["dead", "replay", "--all"] + arguments(source))
        }

        /// The values of all Observations.
        var values: [String] {
            run.written.compactMap { line in
                guard case .number(let text)? = try? JSONTree(parsing: Array(line.utf8))["valueQuantity"]?["value"]
                else { return nil }
                return text
            }
        }

        func source(_ kind: String) throws -> String {
            guard kind == "udp" else { return "\(kind): \(run.folder.file("a.sock"))" }
            // A port that was free a moment ago: letters of a port that the kernel chose have no address.
            let instance = try Kymo.start(["run", "--udp", "127.0.0.1:0", "--ephemeral"])
            let address = try instance.addresses()[0]
            _ = try instance.terminate()
            return address.replacing("udp ", with: "udp: ")
        }
    }

    @Test(arguments: ["udp", "unixgram", "seqpacket"], packets)
    func datagramsAreSentAsTheyCame(kind: String, packet: ([UInt8], String)) throws {
        let strap = Strap()
        let source = try strap.source(kind)
        let instance = try strap.start(source, packet.0)
        try strap.mend(instance)
        let replay = try strap.replay(source)
        #expect(replay.end == .exit(0), "\(replay.error)")
        try strap.letters(0)
        let done = try instance.terminate()
        #expect(done.end == .exit(0) && done.balance?.accepted == 1, "\(done.error)")
        #expect(strap.values == [packet.1])
        #expect(try strap.run.command("dead", "list", "--all").lines.count == 2)
    }

    @Test(arguments: ["udp", "unixgram", "seqpacket"], packets)
    func datagramsAreMappedAsTheyCame(kind: String, packet: ([UInt8], String)) throws {
        let strap = Strap()
        let source = try strap.source(kind)
        #expect(try strap.start(source, packet.0).terminate().end == .exit(0))
        try strap.mend()
        let replay = try strap.replay(source)
        #expect(replay.end == .exit(0), "\(replay.error)")
        #expect(strap.values == [packet.1])
        try strap.letters(0)
        #expect(try strap.run.command("dead", "list", "--all").lines.count == 2)
        #expect(try strap.run.command("ledger", "--verify").end == .exit(0))
    }

    /// On a line a packet is spelled, and must not be taken for the bytes of its digits.
    @Test(arguments: [true, false]) func linesStayLines(isRunning: Bool) throws {
        let strap = Strap()
        let source = try strap.source("unix")
        let instance = try strap.start(source, Array("00 3d\n".utf8))
        if !isRunning { #expect(try instance.terminate().end == .exit(0)) }
        try strap.mend(isRunning ? instance : nil)
        let replay = try strap.replay(source)
        #expect(replay.end == .exit(0), "\(replay.error)")
        try strap.letters(0)
        if isRunning { #expect(try instance.terminate().balance?.accepted == 1) }
        #expect(strap.values == ["61"])
    }

    /// What is no line is not sent to a stream of lines, nor marked; without the instance it is mapped as it came.
    @Test func noLineOfIt() throws {
        let strap = Strap()
        let source = try strap.source("unix")
        let framed = "\(source)\n    framing: length,u8"
        #expect(try strap.start(framed, [2, 0x00, 0x0A]).terminate().end == .exit(0))
        try strap.mend()
        let instance = try Kymo.start(["run", "--no-watch"] + strap.arguments(source))
        _ = try instance.addresses()
        try Waiting.until("the instance to answer") {
            try strap.run.command("status").text.contains("used by process")
        }
        let refused = try strap.replay(source)
        #expect(refused.end == .exit(65), "\(refused.error)")
        #expect(refused.error.contains("letter 1: it cannot be sent as a line to unix"), "\(refused.error)")
        try strap.letters(1)
        #expect(try instance.terminate().balance?.received == 0)
        let replay = try strap.replay(framed)
        #expect(replay.end == .exit(0) && strap.values == ["10"], "\(replay.error)")
    }

    /// The rest of the line was never read: what there is of it spells another packet.
    @Test func whatWasCutIsNotMapped() throws {
        let strap = Strap()
        let source = try strap.source("unix")
        let instance = try Kymo.start(["run", "--no-watch"] + strap.arguments(source))
        let connection = try OpenConnection(try instance.addresses()[0])
        try connection.send("00 3d")
        #expect(try instance.terminate().balance?.reasons == ["shutdown": 1])
        try strap.mend()
        let refused = try strap.replay(source)
        #expect(refused.end == .exit(65) && refused.error.contains("1 (shutdown)"), "\(refused.error)")
        #expect(strap.values.isEmpty)
        try strap.letters(1)
        let forced = try Kymo.run(["dead", "replay", "1", "--parts"] + strap.arguments(source))
        #expect(forced.end == .exit(0) && strap.values == ["61"], "\(forced.error)")
    }

    /// A packet without bytes would be refused again, whoever maps it: it is counted once, and stays.
    @Test(arguments: ["udp", "unixgram"], [true, false])
    func anEmptyPacket(kind: String, isRunning: Bool) throws {
        let strap = Strap()
        let source = try strap.source(kind)
        let instance = try strap.start(source, [])
        if !isRunning { #expect(try instance.terminate().balance?.reasons == ["truncatedPacket": 1]) }
        let replay = try strap.replay(source)
        #expect(replay.end == .exit(65), "\(replay.error)")
        #expect(replay.error.contains("letter 1: rejected again: truncatedPacket"), "\(replay.error)")
        if isRunning { #expect(try instance.terminate().balance?.reasons == ["truncatedPacket": 1]) }
        #expect(try strap.run.command("dead", "list", "--all").lines.count == 2)
        try strap.letters(1)
    }
}
