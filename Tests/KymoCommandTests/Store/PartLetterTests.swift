import CommandSupport
import KymographTestKit
import Testing

/// Dead letters that hold only a part of what came: taken for a payload, it could be a reading that nobody took.
@Suite struct PartLetterTests {
    /// Something of which a run keeps a part only.
    struct Part: CustomTestStringConvertible, Sendable {
        var framing: String
        var input: [UInt8]
        var reason: String

        var testDescription: String { reason }
    }

    private static let long = [UInt8](repeating: 0x78, count: 5_000)

    static let parts = [
        Part(framing: "lines", input: long + [0x0A], reason: "lineTooLong"),
        Part(framing: "nul", input: long + [0], reason: "frameTooLong"),
        Part(framing: "cobs", input: [9, 1, 2, 0], reason: "frameMalformed"),
        Part(framing: "nul,crc16-ccitt", input: Array("{\"a\":1}??\0".utf8), reason: "frameChecksum"),
        Part(framing: "slip", input: Array("{\"a\":1}".utf8), reason: "frameIncomplete"),
    ]

    private func numbers(_ run: StoredRun, _ reason: String) throws -> [Int] {
        try run.command("dead", "list", "--reason", reason, "--format", "ndjson").lines.compactMap {
            try JSONTree(parsing: Array($0.utf8))["number"]?.integer
        }
    }

    private func limited(_ run: StoredRun) -> [String] {
        ["--data", run.data, "--config", run.folder.write("kymo.yaml", "limits: {lineBytes: 4KiB}")]
    }

    @Test(arguments: Self.parts) func aPartIsNotReplayed(part: Part) throws {
        let run = StoredRun()
        let limits = limited(run)
        try run.run([#"{"a":1}"#])
        let done = try Kymo.run(
            ["run", "--stdin", "--framing", part.framing, "--out", run.output] + limits, input: .bytes(part.input))
        #expect(done.balance?.reasons == [part.reason: 1], "\(done.error)")
        let number = try #require(try numbers(run, part.reason).first)
        // What is over a limit names the setting.
        let list = try run.command("dead", "list", "--reason", part.reason)
        #expect(list.text.contains("limits.lineBytes") == part.reason.hasSuffix("TooLong"), "\(list.text)")
        let replay = try Kymo.run(["dead", "replay", "--all", "--framing", part.framing] + limits)
        #expect(replay.end == .exit(65) && replay.error.contains("1 letter holds only a part"), "\(replay.error)")
        #expect(replay.error.contains("\(number) (\(part.reason))"), "\(replay.error)")
        #expect(replay.error.contains("letter 1: rejected again: noTemplate"), "\(replay.error)")
        // It is kept, and comes only when that is asked for.
        #expect(try numbers(run, part.reason) == [number])
        let forced = try Kymo.run(
            ["dead", "replay", "\(number)", "--parts", "--framing", part.framing] + limits)
        #expect(forced.end == .exit(65), "\(forced.error)")
        #expect(forced.error.contains("letter \(number): rejected again: "), "\(forced.error)")
        #expect(try numbers(run, part.reason) == [number])
        #expect(try run.command("ledger", "--verify").end == .exit(0))
    }

    /// The kernel cuts what is too long.
    @Test func aDatagramThatWasCut() throws {
        let run = StoredRun()
        let source = "unixgram: \(run.folder.file("a.sock"))"
        let config = run.folder.write("kymo.yaml", "sources:\n  - \(source)\n")
        let arguments = ["--config", config, "--data", run.data]
        let instance = try Kymo.start(["run", "--out", run.output] + arguments)
        try Sending.send(exactly: [[UInt8](repeating: 0x20, count: 70_000)], to: try instance.addresses()[0])
        try Waiting.until("the letter") { try !numbers(run, "truncatedDatagram").isEmpty }
        #expect(try run.command("dead", "list").text.contains("longer than the receive buffer"))
        // An instance is not sent it, either.
        let running = try Kymo.run(["dead", "replay", "--all"] + arguments)
        #expect(running.end == .exit(65) && running.error.contains("1 (truncatedDatagram)"), "\(running.error)")
        #expect(try instance.terminate().balance?.received == 1)
        #expect(try numbers(run, "truncatedDatagram") == [1])
    }
}
