import CommandSupport
import KymographTestKit
import Testing

/// Letters that a running instance gets again.
@Suite struct RunningLetterTests {
    private let run = StoredRun()

    private var socket: String { run.folder.file("a.sock") }

    private func start(_ source: String) throws -> ChildProcess {
        let file = run.folder.write(
            "kymo.yaml", "sources:\n  - {unix: \(socket), mappings: [\(run.folder.file("mine"))]\(source)}\n")
        let instance = try Kymo.start([
            "run", "--no-watch", "--config", file, "--data", run.data, "--out", run.output, "--format", "ndjson",
        ])
        _ = try instance.addresses()
        try Waiting.until("the instance to answer") { try run.command("status").text.contains("used by process") }
        return instance
    }

    private func waitForLetter(_ reason: String) throws {
        try Waiting.until("a letter \(reason)") { try run.command("dead", "list").text.contains(reason) }
    }

    /// A letter of several lines is sent as one, and is as old as it was: its value took the place of the correction.
    @Test func aLetterOfSeveralLinesIsNoNewerThanItWas() throws {
        run.folder.write("mine/device.json", MappingText.device.replacing("(@pulse)", with: "(@nothing)"))
        run.folder.write("mine/fhir.json", MappingText.fhir)
        let first = try start(", framing: json")
        let old = MappingText.reading.replacing(",", with: ",\n").replacing("61", with: "171")
        try Sending.send(lines: [old], to: "unix \(socket)")
        try waitForLetter("noTemplate")
        #expect(try first.terminate().end == .exit(0))

        run.folder.write("mine/device.json", MappingText.device)
        let second = try start("")
        try Sending.send(lines: [MappingText.reading.replacing("61", with: "182")], to: "unix \(socket)")
        try Waiting.until("the correction") {
            try run.json("ledger", "--format", "json")["balance"]?["received"]?.integer == 2
        }
        let replay = try run.command("dead", "replay", "1")
        #expect(replay.end == .exit(0) && replay.error.contains("replayed 1 payload"), "\(replay.error)")
        try waitForLetter("superseded")
        #expect(try second.terminate().end == .exit(0))
        let readings = try run.command("query", "--readings").text
        #expect(readings.contains("\"182\"") && !readings.contains("\"171\""), "\(readings)")
        let shown = try run.command("dead", "show", "2", "--bytes").text
        #expect(shown.contains("\"171\"") && !shown.contains("\"182\""), "\(shown)")
        #expect(try run.command("ledger", "--verify").end == .exit(0))
    }
}
