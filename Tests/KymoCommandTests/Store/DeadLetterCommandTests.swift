import CommandSupport
import Glibc
import KymographCore
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
        // What is no JSON would be rejected again: it stays the letter that it is; the others are marked.
        #expect(replay.end == .exit(65) && replay.error.contains("letter 11: rejected again: invalidJSON"))
        #expect(replay.error.contains("replayed 10 payloads"), "\(replay.error)")
        let expected = StoredRun()
        try expected.run(Array(Misfit.lines.dropLast()), ["--mapping", misfit.mapping])
        #expect(run.written == expected.written && run.written.count == 10)
        #expect(try run.command("dead", "list").lines.count == 2)
        #expect(try run.command("dead", "list", "--all").lines.count == 12)
        let verified = try run.command("ledger", "--verify")
        #expect(verified.end == .exit(0), "\(verified.error)")
        let source = try #require(try run.json("ledger", "--format", "json")["sources"]?.elements?.first)
        #expect(source["name"]?.text == "stdin" && source["received"]?.integer == 21)
    }

    /// A mapping that rejects everything again changes nothing, and the command says so: letters and counts doubled.
    @Test(arguments: [false, true]) func replayWithoutMending(isRunning: Bool) throws {
        let misfit = Misfit()
        misfit.write(member: "nothing")
        let run = misfit.run
        let arguments = [
            "run", "--unix", run.folder.file("a.sock"), "--data", run.data, "--out", run.output, "--mapping",
            misfit.mapping,
        ]
        let instance = try Kymo.start(arguments)
        try Sending.send(lines: Misfit.lines, to: try instance.addresses()[0])
        try Waiting.until("11 letters") { try run.command("dead", "list").lines.count == 12 }
        if !isRunning { #expect(try instance.terminate().end == .exit(0)) }
        for _ in 0..<2 {
            let replay = try Kymo.run(
                ["dead", "replay", "--all", "--data", run.data, "--out", run.output, "--mapping", misfit.mapping])
            #expect(replay.end == .exit(65) && replay.error.contains("11 letters left"), "\(replay.error)")
            #expect(replay.error.contains("replayed 0 payloads"), "\(replay.error)")
        }
        if isRunning { #expect(try instance.terminate().end == .exit(0)) }
        #expect(try run.command("dead", "list", "--all").lines.count == 12)
        let balance = try run.json("ledger", "--format", "json")["balance"]
        #expect(balance?["received"]?.integer == 11 && balance?["rejected"]?["noTemplate"]?.integer == 10)
        #expect(try run.command("ledger", "--verify").end == .exit(0))
    }

    /// A letter's value is as old as its receipt: a later value of the same instant stays. Stamped as received now, the
    /// old one replaced it.
    @Test(arguments: [false, true]) func anOldValueReplacesNoNewerOne(isRunning: Bool) throws {
        let misfit = Misfit()
        misfit.write(member: "nothing")
        let run = misfit.run
        let arguments = [
            "--data", run.data, "--out", run.output, "--format", "ndjson", "--window", "1m", "--mapping",
            misfit.mapping,
        ]
        let listening = ["run", "--unix", run.folder.file("a.sock"), "--no-watch"] + arguments
        let instance = try Kymo.start(listening)
        let socket = try instance.addresses()[0]
        try Sending.send(lines: [MappingText.reading], to: socket)
        try Waiting.until("a letter") { try run.command("dead", "list").lines.count == 2 }
        misfit.write(member: "pulse")
        instance.signal(SIGHUP)
        try instance.waitForError("again")
        let newer = MappingText.reading.replacing("\"pulse\":61", with: "\"pulse\":99")
        try Sending.send(lines: [newer], to: socket)
        try Waiting.until("the reading") {
            try run.json("ledger", "--format", "json")["sources"]?.elements?.first?["received"]?.integer == 2
        }
        if !isRunning { #expect(try instance.terminate().end == .exit(0)) }
        let replay = try Kymo.run(["dead", "replay", "--all"] + arguments)
        // A running instance takes it as any other; else the command sees what becomes of it.
        #expect(replay.end == (isRunning ? .exit(0) : .exit(65)), "\(replay.error)")
        #expect(isRunning || replay.error.contains("letter 2: it is new: a replayed reading was rejected: superseded"))
        if isRunning {
            try Waiting.until("the letter's reading") {
                try run.json("ledger", "--format", "json")["sources"]?.elements?.first?["received"]?.integer == 3
            }
            #expect(try instance.terminate().end == .exit(0))
        }
        #expect(!run.written.isEmpty && run.written.allSatisfy { $0.contains("\"value\":99") }, "\(run.written)")
        let balance = try run.json("ledger", "--format", "json")["balance"]
        #expect(balance?["rejected"]?["superseded"]?.integer == 1, "\(String(describing: balance))")
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
        #expect(replay.end == .exit(65) && replay.error.contains("letter 11: rejected again"), "\(replay.error)")
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
        #expect(refused.end == .exit(65), "\(refused.text)")
        #expect(refused.text.contains("1 entry was put aside for a server (serverRefused 1)"), "\(refused.text)")
        let number = try run.json("dead", "list", "--format", "ndjson")["number"]?.integer ?? 0
        let replay = try Kymo.run(["dead", "replay", "\(number)", "--data", run.data])
        #expect(replay.end == .exit(0) && replay.error.contains("0 payloads and 1 entry"), "\(replay.error)")
        #expect(try run.json("status", "--format", "json")["store"]?["outboxRows"]?.integer == 1)
        #expect(try run.value("SELECT outbox.body = dead.body FROM outbox, dead") == 1)
        #expect(try run.command("dead", "list").lines.count == 1)
        let waiting = try run.command("ledger", "--device", "watch-1")
        #expect(waiting.end == .exit(65) && waiting.text.contains("1 entry waits to be sent again"), "\(waiting.text)")
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
        #expect(next.end == .exit(0) && next.error.contains("1 bundle in"), "\(next.error)")
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

    private static let receipt = """
        INSERT INTO receipt (sink, outbox, resource, status, location, version, attempts, at)
        VALUES ('server', 8, 'Observation/1', 200, '', '', 1, 1)
        """

    /// One letter that may not go back keeps no other: `--all` stopped at the first.
    @Test func eachLetterOnItsOwn() throws {
        let run = StoredRun()
        try run.run(Readings.heartRates(5))
        let other = StoredRun.refusedEntry.replacing("Observation/1", with: "Observation/2")
        let gone = StoredRun.refusedEntry.replacing("'server'", with: "'gone'")
        try run.change(
            "\(StoredRun.refusingSink); \(gone); \(StoredRun.refusedEntry); \(other); \(Self.receipt)")
        let replay = try Kymo.run(["dead", "replay", "--all", "--data", run.data])
        #expect(replay.end == .exit(65) && replay.error.contains("1 entry"), "\(replay.error)")
        #expect(replay.error.contains("letter 1: no sink is called 'gone'"), "\(replay.error)")
        #expect(replay.error.contains("letter 2: a newer version"), "\(replay.error)")
        #expect(try run.command("dead", "list").lines.count == 3)
        #expect(try run.value("SELECT count(*) FROM outbox") == 1)
    }

    /// A letter that is damaged inside keeps no other.
    @Test func aDamagedReadingKeepsNoOther() throws {
        let run = StoredRun()
        try run.run(Readings.heartRates(5))
        let damaged = StoredRun.letter(
            Array(#"{"JournalSeries":"AAAA","JournalRecord":"AAAA"}"#.utf8), resource: ""
        )
        .replacing("'entry'", with: "'measurement'")
        try run.change("\(StoredRun.refusingSink); \(damaged); \(StoredRun.refusedEntry)")
        let replay = try Kymo.run(["dead", "replay", "--all", "--other-sinks", "--data", run.data])
        #expect(replay.end == .exit(65) && replay.error.contains("0 payloads and 1 entry"), "\(replay.error)")
        #expect(replay.error.contains("letter 1: its record is damaged"), "\(replay.error)")
        #expect(try run.value("SELECT count(*) FROM outbox") == 1)
    }

    /// A socket that is gone keeps no letter of another.
    @Test func aSocketThatIsGoneKeepsNoOther() throws {
        let misfit = Misfit()
        misfit.write(member: "nothing")
        let run = misfit.run
        let sockets = ["a.sock", "b.sock"].map { run.folder.file($0) }
        let instance = try Kymo.start(
            sockets.flatMap { ["--unixgram", $0] }.reduce(into: ["run"]) { $0.append($1) } + [
                "--data", run.data, "--out", run.output, "--format", "ndjson", "--mapping", misfit.mapping,
                "--no-watch",
            ])
        for address in try instance.addresses(sockets.count) {
            try Sending.send(lines: [MappingText.reading], to: address)
        }
        try Waiting.until("2 letters") { try run.command("dead", "list").lines.count == 3 }
        misfit.write(member: "pulse")
        instance.signal(SIGHUP)
        try instance.waitForError("again")
        #expect(unsafe unlink(sockets[0]) == 0)
        let replay = try Kymo.run(["dead", "replay", "--all", "--data", run.data, "--mapping", misfit.mapping])
        #expect(replay.end == .exit(65) && replay.error.contains("replayed 1 payload"), "\(replay.error)")
        #expect(replay.error.contains("a.sock: "), "\(replay.error)")
        #expect(try run.command("dead", "list").lines.count == 2)
        #expect(try instance.terminate().end == .exit(0))
        #expect(run.written.count == 1)
    }

    /// What was sent again is as old as it was: a newer version that was refused may still replace it, and the older
    /// letter goes nowhere beside it.
    @Test func versionsKeepTheirOrder() throws {
        let run = StoredRun()
        try run.run(Readings.heartRates(5))
        let newer = StoredRun.refusedEntry.replacing("'Observation/1', 7", with: "'Observation/1', 9")
        try run.change("\(StoredRun.refusingSink); \(StoredRun.refusedEntry); \(newer)")
        let both = try Kymo.run(["dead", "replay", "--all", "--data", run.data])
        #expect(both.end == .exit(65) && both.error.contains("letter 1: letter 2 has a newer version"), "\(both.error)")
        // It is taken: its receipt names a row that is later than all, and its content is of row 9.
        let taken = try run.value("SELECT max(number) FROM outbox") ?? 0
        try run.change(
            """
            UPDATE sink SET through = \(taken) WHERE name = 'server'; DELETE FROM outbox;
            \(Self.receipt.replacing(" 8,", with: " \(taken),"));
            \(newer.replacing(", 9,", with: ", \(taken + 100),"))
            """)
        let last = try Kymo.run(["dead", "replay", "3", "--data", run.data])
        #expect(last.end == .exit(0), "\(last.error)")
        let old = try Kymo.run(["dead", "replay", "1", "--data", run.data])
        #expect(old.end == .exit(65) && old.error.contains("newer version"), "\(old.error)")
    }

    /// A Patient that the server has by now needs nothing more.
    @Test func aPatientThatIsThereIsSettled() throws {
        let run = StoredRun()
        try run.run(Readings.heartRates(5))
        var entry = EntryDraft(.patient)
        entry.body = Array(#"{"resourceType":"Patient","identifier":[{"value":"7"}]}"#.utf8)
        (entry.type, entry.value) = (Array("Patient".utf8), Array("7".utf8))
        let block = EntryDraft.block(of: [entry], form: BundleForm(type: .batch))
        try run.change(
            """
            \(StoredRun.refusingSink); \(StoredRun.letter(block, resource: "Patient?identifier=|7"));
            \(Self.receipt.replacing("Observation/1", with: "Patient?identifier=|7"));
            UPDATE sink SET through = 8
            """)
        let replay = try Kymo.run(["dead", "replay", "--all", "--data", run.data])
        #expect(replay.end == .exit(0), "\(replay.error)")
        #expect(try run.command("dead", "list").lines.count == 1)
        #expect(try run.value("SELECT count(*) FROM outbox") == 0)
        #expect(try run.command("ledger", "--device", "watch-1").end == .exit(0))
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
