import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// `kymo run --tcp`.
@Suite struct RunTCPTests {
    /// An address of this machine that was free a moment ago.
    private static func freeAddress() throws -> String {
        let run = try Kymo.start(["run", "--tcp", "127.0.0.1:0", "--ephemeral"])
        let address = try run.addresses()[0]
        _ = try run.terminate()
        return String(address.dropFirst(4))
    }

    @Test func readsBothFamilies() throws {
        let run = try Kymo.start(["run", "--tcp", "127.0.0.1:0", "--tcp", "[::1]:0"])
        for (index, address) in try run.addresses(2).enumerated() {
            #expect(address.hasPrefix(index == 0 ? "tcp 127.0.0.1:" : "tcp [::1]:"))
            try Sending.send(lines: Readings.heartRates(30, device: "watch-\(index)"), to: address)
        }
        let done = try run.terminate()
        let balance = try #require(done.balance)
        #expect(done.end == .exit(0) && balance.received == 60 && balance.accepted == 60 && balance.isClosed)
    }

    /// What was acknowledged is there after the worst end.
    @Test func everyLineCountsOnceItIsDurable() throws {
        let folder = TemporaryFolder()
        let run = try Kymo.start(["run", "--tcp", "127.0.0.1:0", "--data", folder.file("data")])
        let client = try AckClient(tcp: try run.addresses()[0])
        client.send(Readings.ndjson(Readings.heartRates(500) + ["", "{"]))
        try Waiting.until("501 lines, not \(client.acknowledged)") {
            client.receive()
            return client.acknowledged == 501
        }
        run.signal(SIGKILL)
        _ = try run.wait()
        let again = try Kymo.run(["run", "--stdin", "--data", folder.file("data")])
        #expect(again.error.contains("took 500 readings"), "\(again.error)")
    }

    /// A client that has gone before it heard anything has delivered all the same, and may send everything again.
    @Test func whoHasGoneSendsAgain() throws {
        let folder = TemporaryFolder()
        let run = try Kymo.start(["run", "--tcp", "127.0.0.1:0", "--data", folder.file("data")])
        let address = try run.addresses()[0]
        let lines = Readings.ndjson(Readings.heartRates(100))
        var first: AckClient? = try AckClient(tcp: address)
        first?.send(lines)
        first = nil
        let second = try AckClient(tcp: address)
        second.send(lines)
        try Waiting.until("100 lines, not \(second.acknowledged)") {
            second.receive()
            return second.acknowledged == 100
        }
        let done = try run.terminate()
        let balance = try #require(done.balance)
        #expect(balance.accepted == 100 && balance.isClosed && balance.received == 100 + balance.duplicate)
    }

    /// Letters say which host and port sent them; a running instance gets them again by TCP.
    @Test func deadLettersSayWhoSentThem() throws {
        let folder = TemporaryFolder()
        let address = try Self.freeAddress()
        let arguments = ["--data", folder.file("data"), "--out", folder.file("out")]
        let run = try Kymo.start(["run", "--tcp", address, "--dead-letter", folder.file("dead.ndjson")] + arguments)
        _ = try run.addresses()
        try Sending.send(lines: ["{", Readings.heartRate(second: 1)], to: "tcp \(address)")
        try Waiting.until("a letter") {
            try Kymo.run(["dead", "list", "--data", folder.file("data")]).lines.count == 2
        }
        let replay = try Kymo.run(["dead", "replay", "--all", "--tcp", address] + arguments)
        #expect(replay.end == .exit(65) && replay.error.contains("rejected again"), "\(replay.error)")
        let done = try run.terminate()
        let letters = try DeadLetter.read(folder.file("dead.ndjson"))
        #expect(letters.map(\.source) == ["tcp \(address)"] && letters.map(\.reason) == ["invalidJSON"])
        #expect(letters.first?.detail.contains("sent by 127.0.0.1:") == true, "\(letters)")
        #expect(done.balance?.isClosed == true)
    }

    /// The letters of a source with a name of its own do not say where it listens; the instance does.
    @Test func lettersOfANamedSourceComeAgain() throws {
        let folder = TemporaryFolder()
        let source = "- tcp: \(try Self.freeAddress())\n  name: ward\n  mappings: [\(folder.file("m"))]\n"
        let file = folder.write("kymo.yaml", "data: \(folder.file("data"))\nsources:\n\(source)")
        folder.write("m/device.json", MappingText.device.replacing("@pulse", with: "@puls"))
        folder.write("m/fhir.json", MappingText.fhir)
        let run = try Kymo.start(["run", "--config", file, "--out", folder.file("out")])
        try Sending.send(lines: [MappingText.reading], to: try run.addresses()[0])
        try Waiting.until("a letter") { try Kymo.run(["dead", "list", "--config", file]).lines.count == 2 }
        folder.write("m/device.json", MappingText.device)
        run.signal(SIGHUP)
        try run.waitForError("again")
        let replay = try Kymo.run(["dead", "replay", "--all", "--config", file])
        #expect(replay.end == .exit(0), "\(replay.error)")
        #expect(try run.terminate().balance?.accepted == 1)
    }

    /// Connections stay while mappings are loaded again; a restart has the port at once, and clients connect again.
    @Test func reloadAndRestart() throws {
        let folder = TemporaryFolder()
        let address = try Self.freeAddress()
        let arguments = ["run", "--tcp", address, "--data", folder.file("data"), "--out", folder.file("out")]
        let run = try Kymo.start(arguments)
        _ = try run.addresses()
        let connection = try OpenConnection("tcp \(address)")
        try connection.send(Readings.heartRates(10).map { $0 + "\n" }.joined())
        run.signal(SIGHUP)
        try run.waitForError("again")
        try connection.send(Readings.heartRates(20).map { $0 + "\n" }.joined())
        let done = try run.terminate()
        #expect(done.balance?.received == 30 && done.balance?.accepted == 20, "\(done.error)")
        let next = try Kymo.start(arguments)
        #expect(try next.addresses() == ["tcp \(address)"])
        try Sending.send(lines: Readings.heartRates(20), to: "tcp \(address)")
        #expect(try next.terminate().balance?.duplicate == 20)
    }

    /// Limits refuse, are counted in summary and status, and are told of once.
    @Test func limitsAreCounted() throws {
        let folder = TemporaryFolder()
        let file = folder.write(
            "kymo.yaml",
            "data: \(folder.file("data"))\nsources:\n- tcp: 127.0.0.1:0\n  name: ward\n  connectionsPerPeer: 1\n")
        let run = try Kymo.start(["run", "--config", file])
        let address = try run.addresses()[0]
        let first = try OpenConnection(address)
        try first.send(Readings.heartRate(second: 0) + "\n")
        for _ in 0..<4 { _ = try OpenConnection(address) }
        // A reading is received before it is accepted.
        let parts = ["source ward: received 1, rejected 0", "refused connections 4", "received 1 = accepted 1"]
        var seen = ""
        try Waiting.until("the status, not \(seen)") {
            seen = try Kymo.run(["status", "--config", file]).text
            return parts.allSatisfy { seen.contains($0) }
        }
        let status = try JSONTree(parsing: try Kymo.run(["status", "--config", file, "--format", "json"]).output)
        let counters = status["counters"]?.elements ?? []
        let refused = counters.first { $0["name"]?.text == "kymo_source_connections_refused_total" }
        #expect(refused?["value"]?.integer == 4 && refused?["labels"]?["source"]?.text == "ward")
        #expect(status["balance"]?.text?.hasPrefix("received 1 = accepted 1") == true, "\(status)")
        let done = try run.terminate()
        #expect(done.end == .exit(0) && done.error.contains("kymo: refused connections 4\n"), "\(done.error)")
        #expect(done.error.split(separator: "\n").count { $0.contains("raise connectionsPerPeer") } == 1)
    }

    /// A client that has gone without a word is found: the kernel asks whether it is there after a minute of silence.
    @Test func silentClientsAreProbed() throws {
        let run = try Kymo.start(["run", "--tcp", "127.0.0.1:0", "--ephemeral"])
        let address = try run.addresses()[0]
        let client = try OpenConnection(address)
        let port = String(PostClient.port(address), radix: 16, uppercase: true)
        let ofServer = "0100007F:\(String(repeating: "0", count: 4 - port.utf8.count))\(port)"
        // Local and remote address, state, queues and timer: "02" is that of keep-alive, in hundredths of a second.
        var timer = ""
        try Waiting.until("the timer of keep-alive, not '\(timer)'") {
            let lines = Files.text("/proc/net/tcp").split(separator: "\n").map { $0.split(separator: " ") }
            let own = lines.first { $0.count > 5 && $0[1] == ofServer && $0[3] == "01" }
            timer = own.map { String($0[5]) } ?? ""
            return timer.hasPrefix("02:")
        }
        let left = try #require(Int(timer.dropFirst(3), radix: 16))
        #expect(left > 0 && left <= 60 * 100, "\(timer)")
        try withExtendedLifetime(client) { _ = try run.terminate() }
    }

    @Test func othersNeedAWord() throws {
        let refused = try Kymo.run(["run", "--tcp", "0.0.0.0:0"])
        #expect(refused.end == .exit(78) && refused.error.contains("--insecure"), "\(refused.error)")
        let run = try Kymo.start(["run", "--tcp", "0.0.0.0:0", "--insecure"])
        let address = try run.addresses()[0]
        try Sending.send(lines: Readings.heartRates(5), to: address.replacing("0.0.0.0", with: "127.0.0.1"))
        #expect(try run.terminate().balance?.accepted == 5)
    }

    @Test func simulatedDevicesSendByTCP() throws {
        let run = try Kymo.start(["run", "--tcp", "127.0.0.1:0"])
        let address = try run.addresses()[0].dropFirst(4)
        let sent = try Kymo.run([
            "simulate", "--tcp", String(address), "--devices", "3", "--duration", "5s", "--speed", "max",
        ])
        #expect(sent.end == .exit(0), "\(sent.error)")
        let balance = try #require(try run.terminate().balance)
        #expect(balance.received > 0 && balance.accepted == balance.received)
    }
}
