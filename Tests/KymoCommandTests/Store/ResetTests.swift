import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// `kymo reset`: a data directory begins from scratch, and nothing is lost to anybody without a question.
@Suite struct ResetTests {
    private let run = StoredRun()

    private func reset(_ arguments: String...) throws -> Kymo.Finished {
        try Kymo.run(["reset", "--data", run.data] + arguments)
    }

    /// The folders that resets have made.
    private func folders(_ data: String? = nil) -> [String] {
        Files.names(data ?? run.data).filter { $0.hasPrefix("reset-") }.map { "\(data ?? run.data)/\($0)" }
    }

    private func query(_ data: String, _ flags: [String] = []) throws -> [String] {
        let done = try Kymo.run(["query", "--readings", "--data", data] + flags)
        #expect(done.end == .exit(0), "\(done.error)")
        return done.lines
    }

    /// What is delivered goes aside without a question: the next run knows nothing, what was sent again becomes the
    /// same, and what is aside can be read, and put back.
    @Test func beginsFromScratch() throws {
        let lines = Readings.heartRates(180)
        try run.run(lines)
        let before = try query(run.data)
        let done = try reset()
        #expect(done.end == .exit(0) && done.error.contains("has 3 closed windows"), "\(done.error)")
        let folder = try #require(folders().first)
        #expect(Files.mode(folder) == 0o700 && done.error.contains("mv \(folder)/kymo.mark \(folder)/kymo.sqlite"))
        #expect(try query(folder) == before && before.count == 180)
        #expect(try reset().end == .exit(66))
        // No repair, no loss: the mark went with the store. All of it is new, and the same.
        let again = try run.run(lines)
        #expect(again.end == .exit(0) && again.balance?.accepted == 180 && again.balance?.duplicate == 0)
        #expect(!again.error.contains("lost") && !again.error.contains("repair"), "\(again.error)")
        #expect(try query(run.data).count == 180)
        let records = try Kymo.run(["audit", "list", "--format", "ndjson", "--data", run.data])
        let noted = records.lines.filter { $0.contains(#""event":"reset""#) }
        #expect(noted.count == 1 && noted[0].contains("moves the store aside: 0 readings of open windows"), "\(noted)")
        #expect(try Kymo.run(["audit", "verify", "--data", run.data]).end == .exit(0))
        // Back: the later store goes aside, too.
        try Waiting.until("another second") { try reset().end == .exit(0) }
        for name in Files.names(folder) where name.hasPrefix("kymo.") {
            Files.move("\(folder)/\(name)", to: "\(run.data)/\(name)")
        }
        #expect(try query(run.data) == before)
        let late = try run.run(Array(lines.prefix(60)))
        #expect(late.balance?.duplicate == 60 && late.balance?.accepted == 0, "\(late.error)")
    }

    /// Readings of open windows, undelivered bundles and dead letters are named, and stay without `--yes`.
    @Test func asksBeforeAnythingIsLost() throws {
        try run.run(Readings.heartRates(60) + [#"{"deviceId":"w","note":"no reading"}"#])
        let file = run.folder.write(
            "kymo.yaml", "drain: 1s\noutput: {to: none}\nserver: {url: 'http://127.0.0.1:1/fhir', identity: create}\n")
        _ = try Kymo.run(
            ["run", "--stdin", "--config", file, "--data", run.data, "--window", "1m"],
            input: .bytes(Readings.ndjson([Readings.heartRate(second: 300)])))
        let instance = try Kymo.start(
            [
                "run", "--unix", run.folder.file("a.sock"), "--data", run.data, "--out", run.output, "--window", "1m",
                "--idle", "0s", "--lateness", "1h",
            ])
        try Sending.send(
            lines: (0..<5).map { Readings.heartRate(second: 600 + $0) }, to: try instance.addresses()[0])
        try Waiting.until("the journal") { try run.json("query", "--count", "--open")["readings"]?.integer == 66 }
        let inUse = try reset("--yes")
        #expect(inUse.end == .exit(73) && inUse.error.contains("an instance uses \(run.data)"), "\(inUse.error)")
        instance.signal(SIGKILL)
        _ = try instance.wait()
        let database = Files.read("\(run.data)/kymo.sqlite")
        let refused = try reset()
        #expect(refused.end == .exit(65), "\(refused.error)")
        for text in [
            "5 readings in open windows", "bundle that server http://127.0.0.1:1/fhir has not",
            "1 dead letter not replayed", "nothing was changed", "or give --yes",
        ] { #expect(refused.error.contains(text), "\(text): \(refused.error)") }
        #expect(Files.read("\(run.data)/kymo.sqlite") == database && folders().isEmpty)
        #expect(try reset("--delete").end == .exit(65) && folders().isEmpty)
        let done = try reset("--yes")
        #expect(done.end == .exit(0), "\(done.error)")
        let folder = try #require(folders().first)
        // With its log: the readings of a process that was killed are there.
        let kept = try Kymo.run(["query", "--count", "--open", "--data", folder])
        #expect(try JSONTree(parsing: kept.output)["readings"]?.integer == 66, "\(kept.text)\(kept.error)")
        #expect(!Files.exists("\(run.data)/kymo.sqlite") && !Files.exists("\(run.data)/kymo.mark"))
    }

    /// An instance that was killed, whose readings are in the log alone.
    private func killed() throws {
        let instance = try Kymo.start(
            [
                "run", "--unix", run.folder.file("a.sock"), "--data", run.data, "--out", run.output, "--window", "1m",
                "--idle", "0s", "--lateness", "1h",
            ])
        try Sending.send(lines: Readings.heartRates(50), to: try instance.addresses()[0])
        try Waiting.until("the journal") { try run.json("query", "--count", "--open")["readings"]?.integer == 50 }
        instance.signal(SIGKILL)
        _ = try instance.wait()
    }

    private func readings(_ data: String) throws -> Int? {
        let done = try Kymo.run(["query", "--count", "--open", "--data", data])
        return try JSONTree(parsing: done.output)["readings"]?.integer
    }

    /// Whenever it dies, one of the two has the whole store, and the command given again goes on.
    @Test(arguments: ["reset-linked", "reset-begun"]) func isInterrupted(step: String) throws {
        try killed()
        let died = try Kymo.run(["reset", "--yes", "--data", run.data], environment: ["KYMO_CRASH_POINT": step])
        #expect(died.end == .signal(SIGKILL), "\(died.error)")
        #expect(folders().count == 1)
        if step == "reset-linked" { #expect(try readings(run.data) == 50) }
        // To look leaves what the other has left.
        #expect(try reset("--dry-run").end == .exit(0) && folders().count == 1)
        try Waiting.until("another second") { try reset("--yes").end == .exit(0) }
        // A folder with second names of files that have stayed is gone; one that has the database stays.
        let whole = try #require(folders().first)
        #expect(try readings(whole) == 50)
        #expect(folders().count == (step == "reset-linked" ? 1 : 2))
        #expect(try reset().end == .exit(66))
        let next = try run.run(Readings.heartRates(60))
        #expect(next.end == .exit(0) && next.balance?.accepted == 60 && !next.error.contains("lost"), "\(next.error)")
    }

    /// A start between the two halves of a reset makes a new store, and what was moved is whole.
    @Test func aStartAfterAnInterruption() throws {
        try killed()
        let died = try Kymo.run(
            ["reset", "--yes", "--data", run.data], environment: ["KYMO_CRASH_POINT": "reset-begun"])
        #expect(died.end == .signal(SIGKILL), "\(died.error)")
        let next = try run.run(Readings.heartRates(60))
        #expect(next.end == .exit(0) && next.balance?.accepted == 60 && !next.error.contains("lost"), "\(next.error)")
        let folder = try #require(folders().first)
        #expect(try readings(folder) == 50)
    }

    /// Nor is what repairs have left behind taken for the store by such a start.
    @Test func aDamagedStoreIsInterrupted() throws {
        try killed()
        Files.write(Files.read("\(run.data)/kymo.sqlite"), to: "\(run.data)/kymo.sqlite.damaged")
        Files.write(Array("a page".utf8), to: "\(run.data)/kymo.damaged")
        let died = try Kymo.run(
            ["reset", "--yes", "--data", run.data], environment: ["KYMO_CRASH_POINT": "reset-begun"])
        #expect(died.end == .signal(SIGKILL), "\(died.error)")
        let next = try run.run(Readings.heartRates(60))
        #expect(next.end == .exit(0) && next.balance?.accepted == 60 && !next.error.contains("lost"), "\(next.error)")
    }

    /// To look is not to change.
    @Test func looksFirst() throws {
        try run.run(Readings.heartRates(60))
        let before = Files.names(run.data)
        let done = try reset("--dry-run", "--yes")
        #expect(done.end == .exit(0) && done.error.contains("has 1 closed window"), "\(done.error)")
        #expect(Files.names(run.data) == before && folders().isEmpty)
        #expect(try run.run(Readings.heartRates(60)).balance?.duplicate == 60)
    }

    /// Nor is it where the store is damaged, in its first page or in all others: no file is written or changed. A reset
    /// that is refused leaves everything as it was, too.
    @Test(arguments: [true, false]) func looksAtADamagedStore(isFirst: Bool) throws {
        try run.run(Readings.heartRates(60))
        var database = Files.read("\(run.data)/kymo.sqlite")
        for byte in isFirst ? 0..<16_384 : 16_384..<database.count { database[byte] ^= 0x55 }
        Files.write(database, to: "\(run.data)/kymo.sqlite")
        // What is shared between processes that read is no part of the store.
        func files() -> [(name: String, bytes: [UInt8])] {
            SealedRun.files(in: run.data).filter { !$0.name.hasSuffix("-shm") }
        }
        let before = files()
        for (flags, code) in [(["--dry-run"], Int32(0)), (["--dry-run", "--delete"], 0), ([], 65)] {
            let done = try Kymo.run(["reset", "--data", run.data] + flags)
            #expect(done.end == .exit(code) && done.error.contains("cannot be told"), "\(flags): \(done.error)")
            let after = files()
            #expect(after.map(\.name) == before.map(\.name), "\(flags)")
            #expect(after.map(\.bytes) == before.map(\.bytes), "\(flags)")
        }
    }

    /// On a terminal the word is asked for.
    @Test(arguments: ["reset", "yes"]) func asksOnATerminal(word: String) throws {
        try run.run(Readings.heartRates(60) + ["no JSON"])
        let terminal = try PseudoTerminal()
        let process = try ChildProcess(
            "/bin/sh", ["-c", "exec \"$0\" reset --data \"$1\" < \"$2\"", Kymo.path, run.data, terminal.path])
        try process.waitForError("type 'reset' to go on: ")
        terminal.write(Array("\(word)\n".utf8))
        let done = try process.finish()
        #expect(done.end == .exit(word == "reset" ? 0 : 65), "\(done.error)")
        #expect(folders().count == (word == "reset" ? 1 : 0))
        #expect(Files.exists("\(run.data)/kymo.sqlite") == (word != "reset"))
    }

    @Test func deletes() throws {
        try run.run(Readings.heartRates(60))
        #expect(try reset("--delete").end == .exit(65), "it always asks")
        let done = try reset("--delete", "--yes")
        #expect(done.end == .exit(0) && done.error.contains("is deleted"), "\(done.error)")
        let left = Files.names(run.data).filter { $0.hasPrefix("kymo.sqlite") || $0.hasPrefix("reset-") }
        #expect(left == [] && !Files.exists("\(run.data)/kymo.mark"))
        #expect(try Kymo.run(["audit", "list", "--data", run.data]).text.contains("deletes the store"))
    }

    /// What nobody can read is moved as it is, after a question; and the next run does not repair it.
    @Test func aDamagedStore() throws {
        try run.run(Readings.heartRates(60))
        Files.write(Array("this is no store".utf8), to: "\(run.data)/kymo.sqlite")
        let refused = try reset()
        #expect(refused.end == .exit(65) && refused.error.contains("cannot be told"), "\(refused.error)")
        #expect(try reset("--yes").end == .exit(0))
        let next = try run.run(Readings.heartRates(60))
        #expect(next.end == .exit(0) && next.balance?.accepted == 60 && !next.error.contains("repair"), "\(next.error)")
        let folder = try #require(folders().first)
        #expect(Files.text("\(folder)/kymo.sqlite") == "this is no store")
    }

    /// An encrypted store keeps its keys: what is aside is read with them, before and after a rotation, and so is the
    /// audit trail.
    @Test func anEncryptedStore() throws {
        let sealed = try SealedRun(isSealed: true)
        #expect(try sealed.run(SealedRun.lines(90)).end == .exit(0))
        let before = try query(sealed.data, sealed.keyFlag)
        #expect(try Kymo.run(["reset", "--yes", "--data", sealed.data]).end == .exit(78), "without the key")
        let done = try Kymo.run(["reset", "--yes", "--data", sealed.data] + sealed.keyFlag)
        #expect(done.end == .exit(0) && done.error.contains("payload"), "\(done.error)")
        let folder = try #require(folders(sealed.data).first)
        #expect(Files.exists("\(sealed.data)/kymo.keys") && !done.error.contains("kymo.keys"))
        #expect(try query(folder, sealed.keyFlag) == before && before.count > 50)
        let again = try sealed.run(SealedRun.lines(90))
        #expect(again.end == .exit(0) && again.balance?.duplicate == 0, "\(again.error)")
        let new = sealed.folder.file("new")
        #expect(try Kymo.run(["keys", "new", new]).end == .exit(0))
        let rotated = try Kymo.run(
            ["keys", "rotate", "--all", "--data", sealed.data, "--new-key-file", new] + sealed.keyFlag)
        #expect(rotated.end == .exit(0), "\(rotated.error)")
        #expect(try query(folder, sealed.keyFlag) == before)
        let trail = try Kymo.run(["audit", "list", "--data", sealed.data, "--key-file", new])
        #expect(trail.text.contains("moves the store aside"), "\(trail.error)")
        // Back in its place, the list that is there reads it.
        try Waiting.until("another second") {
            try Kymo.run(["reset", "--yes", "--data", sealed.data, "--key-file", new]).end == .exit(0)
        }
        for name in Files.names(folder) where name.hasPrefix("kymo.") && name != "kymo.keys" {
            Files.move("\(folder)/\(name)", to: "\(sealed.data)/\(name)")
        }
        #expect(try query(sealed.data, ["--key-file", new]) == before)
    }
}
