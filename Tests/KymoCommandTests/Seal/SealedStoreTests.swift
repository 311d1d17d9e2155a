import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// An encrypted store does what a plain one does, and none of its files says what is in it.
@Suite struct SealedStoreTests {
    @Test func theSameOutputAndAnswers() throws {
        let (plain, sealed) = (try SealedRun(isSealed: false), try SealedRun(isSealed: true))
        let parts = [SealedRun.lines(400).prefix(150), SealedRun.lines(400).dropFirst(150)]
        for part in parts {
            for run in [plain, sealed] {
                let done = try run.run(Array(part))
                #expect(done.end == .exit(0), "\(done.error)")
            }
        }
        let lines = try plain.written()
        #expect(try lines.count > 5 && sealed.written() == lines)
        let commands = [["query", "--readings"], ["dead", "list", "--format", "json"], ["sources", "list"]]
        for command in commands {
            let answers = try [plain, sealed].map { run in
                try Kymo.run(command + ["--data", run.data] + run.keyFlag)
            }
            #expect(answers.allSatisfy { $0.end == .exit(0) }, "\(command): \(answers.map(\.error))")
            #expect(answers[0].lines.count > 1 && answers[0].lines.count == answers[1].lines.count, "\(command)")
        }
        // Two starts, and still the first data key: between the head of the list and its code.
        #expect(Files.text("\(sealed.data)/kymo.keys").split(separator: "\n").count == 3)
        let letters = try sealed.content(sealed.letters)
        #expect(letters.count { $0 == 0x0A } == 40)
    }

    /// While it runs, and after it was killed in the midst of writing. The plain one has all of it.
    @Test(arguments: [true, false]) func noFileHasReadings(isSealed: Bool) throws {
        let run = try SealedRun(isSealed: isSealed)
        let process = try Kymo.start(run.arguments("--unix", run.folder.file("k.sock")))
        _ = try process.addresses()
        let client = try AckClient(run.folder.file("k.sock"))
        let lines = SealedRun.lines(3_000)
        client.send(Readings.ndjson(lines))
        try Waiting.until("all to be acknowledged: \(client.acknowledged)") {
            client.receive()
            return client.acknowledged == lines.count
        }
        try Waiting.until("a dead letter") { !Files.read(run.letters).isEmpty }
        try Waiting.until("output") { Files.names(run.output).contains { !Files.read("\(run.output)/\($0)").isEmpty } }
        let running = run.found()
        client.send(Readings.ndjson(lines))
        process.signal(SIGKILL)
        #expect(try process.wait() == .signal(SIGKILL))
        let killed = run.found()
        if isSealed {
            #expect(running.isEmpty && killed.isEmpty, "\(running) \(killed)")
        } else {
            for places in [running, killed] {
                // Dead letters are in base64.
                for place in ["data/", "out/"] {
                    #expect(places.contains { $0.hasPrefix(place) }, "\(place): \(places)")
                }
            }
        }
        // What the killed one has left is finished, and read.
        #expect(try run.run([]).end == .exit(0))
        #expect(try run.written().allSatisfy { $0.contains("431.25") } && !run.written().isEmpty)
        #expect(try run.content(run.letters).contains(0x0A))
    }

    /// What a server has answered names readings, too.
    @Test(arguments: [true, false]) func receiptsAreSealed(isSealed: Bool) throws {
        let run = try SealedRun(isSealed: isSealed)
        let server = try EchoingServer()
        let receipts = run.folder.file("receipts")
        run.folder.write("kymo.yaml", "server: {url: '\(server.url)', identity: create}\nreceipts: \(receipts)\n")
        // A server takes bundles alone.
        let arguments = run.arguments("--stdin").filter { $0 != "--format" && $0 != "ndjson" }
        let done = try Kymo.run(arguments, input: .bytes(Readings.ndjson(SealedRun.lines(20))))
        #expect(done.end == .exit(0), "\(done.error)")
        let name = try #require(Files.names(receipts).first)
        let lines = String(decoding: try run.content("\(receipts)/\(name)"), as: UTF8.self).split(separator: "\n")
        #expect(!lines.isEmpty && name.hasSuffix(".sealed") == isSealed, "\(name)")
        let found = run.found().filter { $0.hasPrefix("receipts/") }
        #expect(found.isEmpty == isSealed, "\(found)")
    }

    /// Nothing is touched, whatever is asked.
    @Test func withoutTheRightKey() throws {
        let (sealed, plain) = (try SealedRun(isSealed: true), try SealedRun(isSealed: false))
        for run in [sealed, plain] { #expect(try run.run(SealedRun.lines(50)).end == .exit(0)) }
        let other = try SealedRun(isSealed: true)
        let commands = [
            ["run", "--stdin"], ["status"], ["query"], ["ledger"], ["dead", "list"], ["dead", "replay", "1"],
            ["sources", "list"], ["keys", "rotate", "--all"],
        ]
        func refuse(_ run: SealedRun, _ flags: [String], _ message: String, _ commands: [[String]]) throws {
            let before = run.files().map { "\($0.name) \($0.bytes.hashValue)" }
            for command in commands {
                let done = try Kymo.run(command + ["--data", run.data] + flags)
                #expect(done.end == .exit(78) && done.error.contains(message), "\(command): \(done.error) \(done.end)")
            }
            #expect(run.files().map { "\($0.name) \($0.bytes.hashValue)" } == before)
        }
        try refuse(sealed, [], "is encrypted: name its key", commands)
        try refuse(sealed, ["--key-file", other.key], "is not the key that encrypts the store", commands)
        try refuse(sealed, ["--key-file", sealed.folder.file("none")], "cannot be read: No such file", commands)
        try refuse(plain, ["--key-file", plain.key], "is not encrypted", commands)
        Files.move("\(sealed.data)/kymo.keys", to: sealed.folder.file("kymo.keys"))
        try refuse(sealed, sealed.keyFlag, "kymo.keys is missing", commands)
        try refuse(sealed, [], "kymo.keys is missing", Array(commands.dropLast()))
        Files.move(sealed.folder.file("kymo.keys"), to: "\(sealed.data)/kymo.keys")
        #expect(try sealed.command("query").end == .exit(0))
    }

    @Test func keyFiles() throws {
        let run = try SealedRun(isSealed: true)
        let again = try Kymo.run(["keys", "new", run.key])
        #expect(again.end == .exit(73) && again.error.contains("exists"), "\(again.error)")
        _ = try ChildProcess("/bin/chmod", ["644", run.key]).wait()
        let open = try run.run([])
        #expect(open.end == .exit(78) && open.error.contains("chmod 600"), "\(open.error)")
        _ = try ChildProcess("/bin/chmod", ["600", run.key]).wait()
        Files.write(Array("short".utf8), to: run.folder.file("short"))
        _ = try ChildProcess("/bin/chmod", ["600", run.folder.file("short")]).wait()
        let short = try Kymo.run(["run", "--stdin", "--data", run.data, "--key-file", run.folder.file("short")])
        #expect(short.end == .exit(78) && short.error.contains("32 bytes"), "\(short.error)")
        let nothing = try Kymo.run(["run", "--stdin", "--ephemeral", "--key-file", run.key])
        #expect(nothing.end == .exit(78) && nothing.error.contains("nothing is kept"), "\(nothing.error)")
    }

    /// A disk that is full at the start is no matter of the configuration: a service manager tries again.
    @Test(.enabled(if: PreloadedLibrary.hasCompiler, "needs a C compiler called cc"), arguments: [true, false])
    func aFullDiskIsNoWrongKey(isNew: Bool) throws {
        let run = try SealedRun(isSealed: true)
        let machine = try FaultyMachine(root: run.folder.path)
        if !isNew { #expect(try run.run(SealedRun.lines(50)).end == .exit(0)) }
        machine.fill(true)
        let full = try run.run([], environment: machine.environment)
        #expect(full.end == .exit(73) && full.error.contains("kymo.keys.new: No space left"), "\(full.error)")
        machine.fill(false)
        let done = try run.run(SealedRun.lines(50), environment: machine.environment)
        #expect(done.end == .exit(0), "\(done.error)")
    }

    /// systemd passes the key; a configuration names it.
    @Test func credentials() throws {
        let run = try SealedRun(isSealed: true)
        run.folder.write(
            "kymo.yaml", "data: \(run.data)\noutput: {to: \(run.output)}\nencryption: {credential: key}\n")
        let arguments = ["run", "--stdin", "--config", run.folder.file("kymo.yaml")]
        let missing = try Kymo.run(arguments)
        #expect(missing.end == .exit(78) && missing.error.contains("kymo.yaml:3:"), "\(missing.error)")
        let done = try Kymo.run(
            arguments, environment: ["CREDENTIALS_DIRECTORY": run.folder.path],
            input: .bytes(Readings.ndjson(SealedRun.lines(50))))
        #expect(done.end == .exit(0), "\(done.error)")
        #expect(try run.command("query").lines.count > 0 && run.found().isEmpty)
    }
}
