import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// Clients of Unix stream sockets that ask hear what is durable, and nothing else.
@Suite struct AcknowledgementTests {
    /// Starts a pipeline with a socket and a store; gives the socket's path.
    private func start(_ folder: TemporaryFolder, _ more: [String] = []) throws -> (ChildProcess, String) {
        let path = folder.file("a.sock")
        let run = try Kymo.start(["run", "--unix", path, "--data", folder.file("data")] + more)
        _ = try run.addresses()
        return (run, path)
    }

    @Test func everyLineCountsOnceItIsDurable() throws {
        let folder = TemporaryFolder()
        let (run, path) = try start(folder)
        let client = try AckClient(path)
        let good = Readings.heartRates(40)
        // An empty line, lines that are no readings, and the same again: all but the empty one are frames.
        client.send(Readings.ndjson(good + ["", "{", "{\"a\":1}"] + good))
        try Waiting.until("82 lines, not \(client.acknowledged)") {
            client.receive()
            return client.acknowledged == 82
        }
        run.signal(SIGKILL)
        _ = try run.wait()
        // What was acknowledged is there after the worst end.
        let again = try Kymo.run(["run", "--stdin", "--data", folder.file("data")])
        var reader = BundleReader()
        try reader.read(ndjson: again.output)
        #expect(reader.observations.count == 1 && again.error.contains("took 80 readings"), "\(again.error)")
    }

    @Test func aClientThatEndsHearsOfItsLastLines() throws {
        let folder = TemporaryFolder()
        let (run, path) = try start(folder)
        let client = try AckClient(path)
        client.send(Readings.ndjson(Readings.heartRates(500)))
        client.finishSending()
        try Waiting.until("the end of the connection") {
            client.receive()
            return !client.isOpen
        }
        #expect(client.acknowledged == 500)
        #expect(try run.terminate().end == .exit(0))
    }

    /// Line ends as Windows writes them, and none at the end.
    @Test func theLastLineNeedsNoEnd() throws {
        let folder = TemporaryFolder()
        let (run, path) = try start(folder)
        let client = try AckClient(path, lineEnd: "\r\n")
        client.send(Array(Readings.heartRates(50).joined(separator: "\r\n").utf8))
        client.finishSending()
        try Waiting.until("the end of the connection") {
            client.receive()
            return !client.isOpen
        }
        #expect(client.acknowledged == 50)
        #expect(try run.terminate().end == .exit(0))
    }

    /// Messages need no framing: each of them is a payload.
    @Test func messagesAreAcknowledgedLikeLines() throws {
        let folder = TemporaryFolder()
        let path = folder.file("a.sock")
        let run = try Kymo.start(["run", "--seqpacket", path, "--data", folder.file("data")])
        #expect(try run.addresses() == ["seqpacket \(path)"])
        let client = try AckClient(path, hasMessages: true, lineEnd: "")
        for line in Readings.heartRates(40) + ["{\n"] { client.send(Array(line.utf8)) }
        try Waiting.until("41 messages, not \(client.acknowledged)") {
            client.receive()
            return client.acknowledged == 41
        }
        let done = try run.terminate()
        #expect(done.balance?.accepted == 40 && done.balance?.reasons == ["invalidJSON": 1], "\(done.error)")
    }

    @Test func linesThatWaitAtTheEndAreAcknowledged() throws {
        let folder = TemporaryFolder()
        let (run, path) = try start(folder)
        let client = try AckClient(path)
        client.send(Readings.ndjson(Readings.heartRates(2_000)))
        let done = try run.terminate()
        client.receive()
        #expect(done.end == .exit(0) && client.acknowledged == 2_000, "\(client.acknowledged): \(done.error)")
    }

    /// With more clients in the kernel's queue than descriptors, those that have been read make room for the others.
    @Test(.enabled(if: Files.exists("/usr/bin/prlimit"), "needs prlimit of util-linux"))
    func allClientsAreReadWhenDescriptorsRunOut() throws {
        let folder = TemporaryFolder()
        let (run, path) = try start(folder)
        let limit = Files.names("/proc/\(run.pid)/fd").count + 8
        let prlimit = try ChildProcess(
            "/usr/bin/prlimit", ["--pid", "\(run.pid)", "--nofile=\(limit):\(limit)"])
        #expect(try prlimit.wait() == .exit(0))
        run.signal(SIGSTOP)
        let clients = try (0..<60).map { number in
            let client = try AckClient(path)
            client.send(Readings.ndjson([Readings.heartRate(second: 0, device: "watch-\(number)")]))
            return client
        }
        run.signal(SIGTERM)
        run.signal(SIGCONT)
        let done = try run.finish()
        #expect(done.end == .exit(0) && done.balance?.accepted == 60, "\(done.error)")
        for client in clients { client.receive() }
        #expect(clients.map(\.acknowledged) == Array(repeating: 1, count: 60))
    }

    @Test func whoKeepsNothingAcknowledgesNothing() throws {
        let folder = TemporaryFolder()
        let path = folder.file("a.sock")
        let run = try Kymo.start(["run", "--unix", path, "--ephemeral"])
        _ = try run.addresses()
        let client = try AckClient(path)
        try Waiting.until("an answer") {
            client.receive()
            return !client.isOpen
        }
        #expect(client.acknowledged == 0 && client.error?.contains("--data") ?? false, "\(client.error ?? "nothing")")
        #expect(try run.terminate().end == .exit(0))
    }

    @Test func whoDoesNotAskHearsNothing() throws {
        let folder = TemporaryFolder()
        let (run, path) = try start(folder)
        let connection = try OpenConnection("unix \(path)")
        try connection.send(Readings.heartRates(10).map { $0 + "\n" }.joined())
        let done = try run.terminate()
        #expect(done.balance?.accepted == 10)
    }

    /// The client that the documentation shows, through a crash of the other side.
    @Test(.enabled(if: SharedMaterial.canRunPython, "needs Python"))
    func theDocumentedClientSurvivesACrash() throws {
        let folder = TemporaryFolder()
        let page = Files.text("\(SharedMaterial.package)/docs/durability.md")
        let code = try #require(page.split(separator: "```python\n").dropFirst().first?.split(separator: "```").first)
        let script = folder.write("client.py", String(code))
        let (run, path) = try start(folder)
        let lines = Readings.heartRates(20_000)
        let client = try ChildProcess(
            SharedMaterial.python, [script, path], input: .bytes(Readings.ndjson(lines)))
        try Waiting.until("something in the journal") { Files.exists(folder.file("data/kymo.sqlite-wal")) }
        run.signal(SIGKILL)
        _ = try run.wait()
        let (second, _) = try start(folder, ["--out", folder.file("out")])
        #expect(try client.wait() == .exit(0), "\(client.errorText)")
        #expect(try second.terminate().end == .exit(0))
        var reader = BundleReader()
        for name in Files.names(folder.file("out")) { try reader.read(ndjson: Files.read(folder.file("out/\(name)"))) }
        try reader.read(ndjson: run.output)
        let expected = try Kymo.run(["run", "--stdin"], input: .bytes(Readings.ndjson(lines)))
        var oracle = BundleReader()
        try oracle.read(ndjson: expected.output)
        #expect(reader.differences(from: oracle, ignoring: ["status"]).prefix(3) == [])
    }
}
