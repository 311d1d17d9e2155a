import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// `kymo dead`: what could not become a reading, and a second chance for it.
@Suite struct DeadLetterCommandTests {
    /// A run whose mapping does not know the payloads.
    private struct Misfit {
        let run = StoredRun()
        var mapping: String { "\(run.folder.path)/mine" }

        /// Writes a mapping that matches payloads with `member`.
        func write(member: String) {
            run.folder.write("mine/device.json", MappingText.device.replacing("(@pulse)", with: "(@\(member))"))
            run.folder.write("mine/fhir.json", MappingText.fhir)
        }

        /// Payloads, one of them no JSON.
        static let lines = (10..<20).map { MappingText.reading.replacing(":00:00Z", with: ":00:\($0)Z") } + ["{oops"]

        func fill() throws -> Kymo.Finished {
            write(member: "nothing")
            return try run.run(Self.lines, ["--mapping", mapping])
        }
    }

    @Test func listShowDiscard() throws {
        let misfit = Misfit()
        #expect(try misfit.fill().balance?.rejected == 11)
        let list = try misfit.run.command("dead", "list")
        #expect(list.lines.count == 12 && list.lines[1].contains("noTemplate") && list.text.contains("invalidJSON"))
        #expect(try misfit.run.command("dead", "list", "--reason", "invalidJSON").lines.count == 2)
        let lines = try misfit.run.command("dead", "list", "--format", "ndjson").lines
        #expect(try lines.map { try JSONTree(parsing: Array($0.utf8))["number"]?.integer } == Array(1...11))
        #expect(try misfit.run.command("dead", "show", "11", "--bytes").output == Array("{oops".utf8))
        let shown = try misfit.run.json("dead", "show", "1")
        #expect(shown["reason"]?.text == "noTemplate" && shown["source"]?.text == "stdin")
        #expect(try misfit.run.command("dead", "show", "99").end == .exit(65))
        #expect(try misfit.run.command("dead", "discard", "1", "99").end == .exit(65))
        #expect(try misfit.run.command("dead", "discard", "1", "11").end == .exit(0))
        #expect(try misfit.run.command("dead", "list").lines.count == 10)
        #expect(try misfit.run.command("dead", "discard", "--all").end == .exit(0))
        #expect(try misfit.run.command("dead", "list", "--all").lines.count == 1)
        #expect(try misfit.run.command("dead", "discard").end == .exit(64))
        // They stay counted.
        #expect(try misfit.run.command("ledger", "--verify").end == .exit(0))
        let balance = try misfit.run.json("ledger", "--format", "json")["balance"]
        #expect(balance?["rejected"]?["noTemplate"]?.integer == 10)
    }

    /// The mapping is mended, and what had been rejected arrives as if it had never been.
    @Test func replayAfterMending() throws {
        let misfit = Misfit()
        _ = try misfit.fill()
        #expect(misfit.run.written.isEmpty)
        misfit.write(member: "pulse")
        let run = misfit.run
        let replay = try Kymo.run([
            "dead", "replay", "--all", "--data", run.data, "--out", run.output, "--format", "ndjson", "--mapping",
            misfit.mapping,
        ])
        #expect(replay.end == .exit(0), "\(replay.error)")
        let expected = StoredRun()
        try expected.run(Array(Misfit.lines.dropLast()), ["--mapping", misfit.mapping])
        #expect(run.written == expected.written && run.written.count == 10)
        // What is no JSON is rejected again, as a new letter; the others are marked.
        #expect(try run.command("dead", "list").lines.count == 2)
        #expect(try run.command("dead", "list", "--all").lines.count == 13)
        let verified = try run.command("ledger", "--verify")
        #expect(verified.end == .exit(0), "\(verified.error)")
        let source = try #require(try run.json("ledger", "--format", "json")["sources"]?.elements?.first)
        #expect(source["name"]?.text == "stdin" && source["received"]?.integer == 22)
    }

    /// While an instance runs, the bytes go to the socket that they came from.
    @Test func replayIntoARunningInstance() throws {
        let misfit = Misfit()
        misfit.write(member: "nothing")
        let run = misfit.run
        let instance = try Kymo.start([
            "run", "--unix", run.folder.file("a.sock"), "--data", run.data, "--out", run.output, "--format", "ndjson",
            "--mapping", misfit.mapping, "--no-watch",
        ])
        try Sending.send(lines: Misfit.lines, to: try instance.addresses()[0])
        try Waiting.until("11 letters") { try run.command("dead", "list").lines.count == 12 }
        misfit.write(member: "pulse")
        instance.signal(SIGHUP)
        try instance.waitForError("again")
        let replay = try Kymo.run(["dead", "replay", "--all", "--data", run.data, "--mapping", misfit.mapping])
        #expect(replay.end == .exit(0), "\(replay.error)")
        try Waiting.until("the new letter") { try run.command("dead", "list", "--all").lines.count == 13 }
        #expect(try run.command("dead", "list").lines.count == 2)
        #expect(try run.command("dead", "discard", "--all").end == .exit(0))
        #expect(try instance.terminate().end == .exit(0))
        #expect(run.written.count == 10)
        #expect(try run.command("ledger", "--verify").end == .exit(0))
    }

    /// What a server refused goes back to the outbox, byte by byte, and is missing until the server has taken it.
    @Test func entries() throws {
        let run = StoredRun()
        try run.run(Readings.heartRates(5))
        try run.change("\(StoredRun.refusingSink); \(StoredRun.refusedEntry)")
        let refused = try run.command("ledger", "--device", "watch-1")
        #expect(refused.end == .exit(65) && refused.text.contains("1 entries were refused"), "\(refused.text)")
        let number = try run.json("dead", "list", "--format", "ndjson")["number"]?.integer ?? 0
        let replay = try Kymo.run(["dead", "replay", "\(number)", "--data", run.data])
        #expect(replay.end == .exit(0) && replay.error.contains("0 payloads and 1 entries"), "\(replay.error)")
        #expect(try run.json("status", "--format", "json")["store"]?["outboxRows"]?.integer == 1)
        #expect(try run.value("SELECT outbox.body = dead.body FROM outbox, dead") == 1)
        #expect(try run.command("dead", "list").lines.count == 1)
        let waiting = try run.command("ledger", "--device", "watch-1")
        #expect(waiting.end == .exit(65) && waiting.text.contains("1 entries wait to be sent again"), "\(waiting.text)")
        try run.change("UPDATE sink SET through = (SELECT max(number) FROM outbox)")
        #expect(try run.command("ledger", "--device", "watch-1").end == .exit(0))
    }

    /// An entry whose sink is gone would leave the store with nobody: it stays a dead letter.
    @Test(arguments: [false, true]) func entriesOfASinkThatIsGone(isRunning: Bool) throws {
        let run = StoredRun()
        try run.run(Readings.heartRates(5))
        try run.change(StoredRun.refusedEntry)
        let arguments = [
            "run", "--unix", run.folder.file("a.sock"), "--data", run.data, "--out", "none", "--server",
            "http://127.0.0.1:9/fhir", "--server-identity", "create",
        ]
        let instance = isRunning ? try Kymo.start(arguments) : nil
        _ = try instance?.addresses()
        try Waiting.until("the instance to answer") {
            try !isRunning || run.command("status").text.contains("used by process")
        }
        let replay = try Kymo.run(["dead", "replay", "--all", "--data", run.data])
        #expect(replay.end != .exit(0) && replay.error.contains("no sink is called 'server'"), "\(replay.error)")
        #expect(try run.command("dead", "list").lines.count == 2)
        #expect(try instance?.terminate().end ?? .exit(0) == .exit(0))
    }

    /// A sink that is ended before it takes a replayed entry leaves a dead letter, as it was.
    @Test func entriesOfASinkThatIsEnded() throws {
        let run = StoredRun()
        try run.run(Readings.heartRates(5))
        try run.change("\(StoredRun.refusingSink); \(StoredRun.refusedEntry)")
        #expect(try Kymo.run(["dead", "replay", "--all", "--data", run.data]).end == .exit(0))
        #expect(try run.command("dead", "list").lines.count == 1)
        let file = run.folder.write("kymo.yaml", "sinks: [{to: one}, {to: two}]")
        let next = try Kymo.run(
            ["run", "--stdin", "--data", run.data, "--config", file], directory: run.folder.path)
        #expect(next.end == .exit(0) && next.error.contains("1 bundles in"), "\(next.error)")
        #expect(try run.command("dead", "list").lines.count == 2)
        #expect(try run.command("ledger", "--device", "watch-1").end == .exit(65))
    }

    /// An instance that writes files only has nobody to send an entry to, and must not take it for delivered.
    @Test func entriesWithoutAServer() throws {
        let run = StoredRun()
        try run.run(Readings.heartRates(5))
        try run.change(StoredRun.refusedEntry)
        let instance = try Kymo.start(Self.arguments(run))
        _ = try instance.addresses()
        try Waiting.until("the instance to answer") { try run.command("status").text.contains("used by process") }
        let replay = try Kymo.run(["dead", "replay", "--all", "--data", run.data])
        #expect(replay.end != .exit(0) && replay.error.contains("no FHIR server"), "\(replay.error)")
        #expect(try run.command("dead", "list").lines.count == 2)
        #expect(try instance.terminate().end == .exit(0))
    }

    /// A newer version on the server, or on its way there, is not replaced by what was refused before.
    @Test(arguments: ["receipt", "outbox"])
    func supersededEntries(by place: String) throws {
        let run = StoredRun()
        try run.run(Readings.heartRates(5))
        try run.change("\(StoredRun.refusingSink); \(StoredRun.refusedEntry)")
        let newer =
            place == "receipt"
            ? """
            INSERT INTO receipt (sink, outbox, resource, status, location, version, attempts, at)
            VALUES ('server', 8, 'Observation/1', 200, '', '', 1, 1)
            """
            : """
            INSERT INTO outbox (number, created, size, codec, key_id, checksum, body)
            SELECT 8, 1, 1, codec, key_id, checksum, body FROM dead
            """
        try run.change(newer)
        let replay = try Kymo.run(["dead", "replay", "--all", "--data", run.data])
        #expect(replay.end != .exit(0) && replay.error.contains("newer version"), "\(replay.error)")
        #expect(try run.command("dead", "list").lines.count == 2)
    }

    /// A page that another program has written looks as if the disk had changed it: the store is repaired, says so, and
    /// what was put into quarantine is not said to be replayed.
    @Test(.enabled(if: SharedMaterial.canRunPython, "needs Python"))
    func lettersFromOutsideAreNotTrusted() throws {
        let run = StoredRun()
        try run.run(Readings.heartRates(5))
        try run.changeFromOutside(
            """
            INSERT INTO dead (at, kind, reason, source, detail, codec, key_id, checksum, body)
            SELECT 1, 'entry', 'invalidValue', 'fhir', 'x', codec, key_id, checksum, body FROM window
            """)
        let number = try run.json("dead", "list", "--format", "ndjson")["number"]?.integer ?? 0
        let replay = try Kymo.run(["dead", "replay", "\(number)", "--data", run.data])
        #expect(replay.end != .exit(0) && replay.error.contains("no longer in the store"), "\(replay.error)")
        #expect(replay.error.contains("repaired"), "\(replay.error)")
        #expect(try run.json("status", "--format", "json")["store"]?["windows"]?.integer == 1)
    }

    private static func arguments(_ run: StoredRun) -> [String] {
        [
            "run", "--unix", run.folder.file("a.sock"), "--data", run.data, "--out", run.output, "--format", "ndjson",
            "--window", "1m",
        ]
    }
}
