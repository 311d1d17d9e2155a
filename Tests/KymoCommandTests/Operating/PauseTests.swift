import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// `kymo pause` and `kymo resume`: what is paused is not lost, or counted and put aside.
@Suite struct PauseTests {
    private let run = StoredRun()

    private func start(_ sources: [String]) throws -> (instance: ChildProcess, addresses: [String]) {
        let instance = try Kymo.start(
            ["run", "--data", run.data, "--out", run.output, "--format", "ndjson", "--idle", "0s"] + sources)
        let addresses = try instance.addresses(sources.count / 2)
        try Waiting.until("the control socket") { try run.command("status").text.contains("used by process") }
        return (instance, addresses)
    }

    private var unix: [String] { ["--unix", run.folder.file("a.sock")] }
    private var datagrams: [String] { ["--unixgram", run.folder.file("b.sock")] }

    /// Waits until the instance has received `count`.
    private func wait(_ count: Int) throws {
        try Waiting.until("\(count) received") {
            let sources = try run.json("status", "--format", "json")["sources"]?.elements ?? []
            return sources.compactMap { $0["received"]?.integer }.reduce(0, +) == count
        }
    }

    private func steps(_ second: Int) -> String {
        Readings.heartRate(second: second).replacing("heartRate", with: "bodyMass")
            .replacing("\"/min\"", with: "\"kg\"")
    }

    /// Of a paused type readings are put aside, others are taken; the letters are taken after it, and nothing is lost.
    @Test func aType() throws {
        let (instance, addresses) = try start(unix)
        try Sending.send(lines: Readings.heartRates(3), to: addresses[0])
        try wait(3)
        let paused = try run.command("pause", "heartRate")
        #expect(paused.end == .exit(0), "\(paused.error)")
        #expect(paused.text == "type heartRate is paused: what comes of it is put aside as dead letters\n")
        #expect(try run.command("pause", "heartRate").text.hasPrefix("type heartRate is paused already, for "))
        try Sending.send(
            lines: [Readings.heartRate(second: 10), steps(11), Readings.heartRate(second: 12)], to: addresses[0])
        try wait(6)
        let status = try run.command("status").text
        #expect(status.contains("\npaused type heartRate for "), "\(status)")
        // While it is paused a letter would be rejected again.
        let tooEarly = try run.command("dead", "replay", "--all")
        #expect(tooEarly.end == .exit(65) && tooEarly.error.contains("typePaused"), "\(tooEarly.error)")
        let resumed = try run.command("resume", "heartRate")
        #expect(resumed.text.contains("2 dead letters put aside: see 'kymo dead replay --help'"), "\(resumed.text)")
        #expect(try run.command("resume", "heartRate").text == "type heartRate was not paused\n")
        let replayed = try run.command("dead", "replay", "--all")
        #expect(replayed.end == .exit(0), "\(replayed.error)")
        try wait(8)
        let done = try instance.terminate()
        #expect(done.error.contains("type heartRate is paused ('kymo pause')"))
        #expect(done.error.contains("type heartRate is taken again ('kymo resume')"))
        let balance = try #require(done.balance)
        #expect(balance.accepted == 6 && balance.isClosed && balance.reasons == ["typePaused": 2])
        #expect(try run.command("query", "--readings").lines.count == 6)
        #expect(try run.command("ledger", "--verify").end == .exit(0))
    }

    /// A socket whose clients can wait is not read: they wait, nothing is rejected, and all is there after it.
    @Test func aSourceWhoseClientsWait() throws {
        let (instance, addresses) = try start(unix)
        let client = try OpenConnection(addresses[0])
        try client.send(Readings.heartRate(second: 0) + "\n")
        try wait(1)
        let paused = try run.command("pause", addresses[0])
        #expect(
            paused.text == "source \(addresses[0]) is paused: it is not read, and its senders wait\n", "\(paused.error)"
        )
        // Of a connection that was there, and of one that comes.
        try client.send(Readings.heartRate(second: 1) + "\n")
        try Sending.send(lines: [Readings.heartRate(second: 2)], to: addresses[0])
        for _ in 0..<3 {
            #expect(try run.json("status", "--format", "json")["sources"]?.elements?.first?["received"]?.integer == 1)
        }
        let resumed = try run.command("resume", addresses[0])
        #expect(resumed.text.contains("nothing was put aside"), "\(resumed.text)")
        try wait(3)
        let balance = try #require(try instance.terminate().balance)
        #expect(balance.accepted == 3 && balance.rejected == 0 && balance.isClosed)
    }

    /// Datagrams cannot wait: they are counted and put aside, with the bytes that they came with.
    @Test func aSourceOfDatagrams() throws {
        let (instance, addresses) = try start(datagrams + unix)
        let name = try #require(addresses.first { $0.hasPrefix("unixgram ") })
        let other = try #require(addresses.first { $0.hasPrefix("unix ") })
        #expect(try run.command("pause", name).text.contains("put aside as dead letters"))
        try Sending.send([Array(Readings.heartRate(second: 1).utf8)], to: name)
        try Sending.send(lines: [Readings.heartRate(second: 2)], to: other)
        try wait(2)
        let metrics = try run.command("status", "--format", "prometheus").text
        #expect(
            metrics.contains("kymo_source_rejected_total{source=\"\(name)\",reason=\"sourcePaused\"} 1"), "\(metrics)")
        #expect(metrics.contains("kymo_paused_seconds{kind=\"source\",name=\"\(name)\"}"))
        #expect(try run.command("resume", name).text.contains("1 dead letter put aside"))
        #expect(try run.command("dead", "replay", "--all").end == .exit(0))
        try wait(3)
        let balance = try #require(try instance.terminate().balance)
        #expect(balance.accepted == 2 && balance.isClosed && balance.reasons == ["sourcePaused": 1])
    }

    /// A broker keeps what comes while its source is paused, and nothing is put aside.
    @Test(.enabled(if: Mosquitto.isInstalled, "needs the packages mosquitto and mosquitto-clients"))
    func aSourceOfABroker() throws {
        let broker = try Mosquitto()
        let config = run.folder.write(
            "kymo.yaml", "sources: [{mqtt: '\(broker.url())', topics: ['ward/#'], name: ward}]\n")
        let instance = try Kymo.start([
            "run", "--config", config, "--data", run.data, "--out", run.output, "--format", "ndjson",
        ])
        try instance.waitForError(": connected")
        try broker.publish([Readings.heartRate(second: 1)], to: "ward/a")
        try wait(1)
        #expect(try run.command("pause", "ward").text.contains("its senders wait"))
        try broker.publish([Readings.heartRate(second: 2), Readings.heartRate(second: 3)], to: "ward/a")
        #expect(try run.json("status", "--format", "json")["sources"]?.elements?.first?["received"]?.integer == 1)
        #expect(try run.command("resume", "ward").text.contains("nothing was put aside"))
        try wait(3)
        let balance = try #require(try instance.terminate().balance)
        #expect(balance.accepted == 3 && balance.rejected == 0 && balance.isClosed)
    }

    /// Without the topic of a message its letter has no device: its type is not paused, and its source is.
    @Test(.enabled(if: Mosquitto.isInstalled, "needs the packages mosquitto and mosquitto-clients"))
    func aTypeOfTopicsThatNameDevices() throws {
        let broker = try Mosquitto()
        let config = run.folder.write(
            "kymo.yaml", "sources: [{mqtt: '\(broker.url())', topics: ['ward/{device}/vitals'], name: ward}]\n")
        let instance = try Kymo.start([
            "run", "--config", config, "--data", run.data, "--out", run.output, "--format", "ndjson",
        ])
        try instance.waitForError(": connected")
        try broker.publish([Readings.heartRate(second: 1)], to: "ward/watch-1/vitals")
        try wait(1)
        let refused = try run.command("pause", "heartRate")
        #expect(refused.end == .exit(1) && refused.error.contains("topics of the source ward"), "\(refused.error)")
        #expect(try run.command("pause", "ward").end == .exit(0))
        #expect(try instance.terminate().end == .exit(0))
        // Noted without an instance it ends at the start, and is said.
        #expect(try run.command("pause", "heartRate").end == .exit(0))
        let next = try Kymo.start([
            "run", "--config", config, "--data", run.data, "--out", run.output, "--format", "ndjson",
        ])
        try next.waitForError("type heartRate is not paused any more, and is taken: topics of the source ward")
        try next.waitForError("source ward is paused since ")
        #expect(try next.terminate().end == .exit(0))
    }

    /// Nothing would be kept for a source whose broker has granted no session.
    @Test(.enabled(if: Mosquitto.isInstalled, "needs the packages mosquitto and mosquitto-clients"))
    func aSourceWithoutASession() throws {
        let config = run.folder.write(
            "kymo.yaml", "sources: [{mqtt: 'mqtt://127.0.0.1:9', topics: ['ward/#'], name: ward}]\n")
        let instance = try Kymo.start([
            "run", "--config", config, "--data", run.data, "--out", run.output, "--format", "ndjson",
        ])
        try Waiting.until("the control socket") { try run.command("status").text.contains("used by process") }
        let refused = try run.command("pause", "ward")
        #expect(refused.end == .exit(1) && refused.error.contains("has not granted a session"), "\(refused.error)")
        #expect(try instance.terminate().end == .exit(0))
    }

    /// A source that begins paused gets its session, and what comes after that is kept.
    @Test(.enabled(if: Mosquitto.isInstalled, "needs the packages mosquitto and mosquitto-clients"))
    func aBrokerThatDoesNotKnowIt() throws {
        let broker = try Mosquitto()
        let config = run.folder.file("kymo.yaml")
        func start(_ client: String) throws -> ChildProcess {
            run.folder.write(
                "kymo.yaml",
                "sources: [{mqtt: '\(broker.url())', topics: ['ward/{device}/#'], name: ward, clientId: \(client)}]\n")
            let instance = try Kymo.start([
                "run", "--config", config, "--data", run.data, "--out", run.output, "--format", "ndjson",
            ])
            try instance.waitForError(": connected")
            return instance
        }
        #expect(try start("one").terminate().end == .exit(0))
        #expect(try run.command("pause", "ward").end == .exit(0))
        let instance = try start("two")
        try broker.publish([Readings.heartRate(second: 1), Readings.heartRate(second: 2)], to: "ward/watch-1/x")
        #expect(try run.json("status", "--format", "json")["sources"]?.elements?.first?["received"]?.integer == 0)
        #expect(try run.command("resume", "ward").text.contains("nothing was put aside"))
        try wait(2)
        let balance = try #require(try instance.terminate().balance)
        #expect(balance.accepted == 2 && balance.rejected == 0 && balance.isClosed)
    }

    /// A client that hears what is taken hears nothing when the instance ends meanwhile, and sends again.
    @Test func anEndWhileRequestsWait() throws {
        let (instance, addresses) = try start(["--http", "127.0.0.1:0"])
        let client = PostClient(addresses[0])
        #expect(try run.command("pause", "http 127.0.0.1:0").end == .exit(0))
        var looks = 0
        let answer = try client.exchange(PostClient.request(Readings.ndjson([Readings.heartRate(second: 1)]))) {
            looks += 1
            if looks == 5 { instance.signal(SIGTERM) }
        }
        #expect(answer.map { $0.status == 503 } ?? true, "\(answer.map { "\($0)" } ?? "")")
        let balance = try #require(try instance.finish().balance)
        #expect(balance.accepted == 0 && balance.rejected == 0 && balance.isClosed)
        #expect(try !run.command("dead", "list").text.contains("sourcePaused"))
    }

    /// A lane that has ended follows nothing, and nobody waits for it.
    @Test func aLaneThatHasEnded() throws {
        let instance = try Kymo.start(
            [
                "run", "--stdin", "--unix", run.folder.file("a.sock"), "--lanes", "2", "--data", run.data, "--out",
                run.output, "--format", "ndjson",
            ], input: .bytes(Array((Readings.heartRate(second: 1) + "\n").utf8)))
        try Waiting.until("the control socket") { try run.command("status").text.contains("used by process") }
        try wait(1)
        for command in ["pause", "resume"] {
            let done = try run.json(command, "heartRate", "--format", "json")
            #expect(done["pauses"]?.elements?.first?["isInEffect"]?.isTrue == true)
        }
        #expect(try instance.terminate().end == .exit(0))
    }

    /// Where the first version stays, nothing is put aside until later.
    @Test func whereTheFirstVersionStays() throws {
        let config = run.folder.write("kymo.yaml", "output: {write: conditional-create}\n")
        let instance = try Kymo.start(
            ["run", "--data", run.data, "--out", run.output, "--config", config] + unix)
        let addresses = try instance.addresses()
        try Waiting.until("the control socket") { try run.command("status").text.contains("used by process") }
        let refused = try run.command("pause", "heartRate")
        #expect(refused.end == .exit(1) && refused.error.contains("conditional-create"), "\(refused.error)")
        #expect(try run.command("pause", addresses[0]).end == .exit(0))
        #expect(try instance.terminate().end == .exit(0))
    }

    /// A client of HTTP waits for its answer, which comes when its source is taken again.
    @Test func aSourceOfRequests() throws {
        let (instance, addresses) = try start(["--http", "127.0.0.1:0"])
        let client = PostClient(addresses[0])
        let first = try client.exchange(PostClient.request(Readings.ndjson([Readings.heartRate(second: 1)])))
        #expect(first?.status == 200)
        // By its name, which has no port.
        let name = "http 127.0.0.1:0"
        #expect(try run.command("pause", name).text.contains("its senders wait"))
        var looks = 0
        let second = try client.exchange(PostClient.request(Readings.ndjson([Readings.heartRate(second: 2)]))) {
            looks += 1
            guard looks == 20 else { return }
            let received = try? run.json("status", "--format", "json")["sources"]?.elements?.first?["received"]?.integer
            #expect(received == 1)
            #expect(throws: Never.self) { try run.command("resume", name) }
        }
        #expect(looks >= 20 && second?.status == 200 && second?.body.contains("\"rejectedCount\":0") == true)
        let balance = try #require(try instance.terminate().balance)
        #expect(balance.accepted == 2 && balance.rejected == 0 && balance.isClosed)
    }

    /// A pause is there after a kill, and said at the start; the clients that waited are taken after it ends.
    @Test func outlivesAKill() throws {
        let (instance, addresses) = try start(unix)
        try Sending.send(lines: Readings.heartRates(2), to: addresses[0])
        try wait(2)
        _ = try run.command("pause", addresses[0], "heartRate")
        instance.signal(SIGKILL)
        _ = try instance.wait()
        let (next, again) = try start(unix)
        try next.waitForError("type heartRate is paused since ")
        try next.waitForError("source \(again[0]) is paused since ")
        let client = try OpenConnection(again[0])
        try client.send(Readings.heartRate(second: 30) + "\n")
        for _ in 0..<3 {
            #expect(try run.json("status", "--format", "json")["sources"]?.elements?.first?["received"]?.integer == 0)
        }
        // The type stays paused when its source goes on.
        _ = try run.command("resume", again[0])
        try wait(1)
        #expect(try run.command("resume", "heartRate").text.contains("1 dead letter put aside"))
        #expect(try next.terminate().balance?.isClosed == true)
    }

    /// What waits in the sockets of a paused source when the instance ends would be lost with them: it is put aside.
    @Test func anEndWhileItIsPaused() throws {
        let (instance, addresses) = try start(unix)
        let client = try OpenConnection(addresses[0])
        try client.send(Readings.heartRate(second: 0) + "\n")
        try wait(1)
        _ = try run.command("pause", addresses[0])
        try client.send(Readings.heartRate(second: 1) + "\n")
        let balance = try #require(try instance.terminate().balance)
        #expect(balance.received == 2 && balance.accepted == 1 && balance.reasons == ["sourcePaused": 1])
        let letters = try run.command("dead", "list")
        #expect(letters.lines.count == 2 && letters.text.contains("sourcePaused"))
        // Without an instance the pause is ended in the store, and the letter is taken.
        let early = try Kymo.run(["dead", "replay", "--all", "--data", run.data, "--out", run.output])
        #expect(early.end == .exit(65) && early.error.contains("sourcePaused"), "\(early.error)")
        let resumed = try run.command("resume", addresses[0])
        #expect(
            resumed.end == .exit(0) && resumed.text.contains("1 dead letter put aside"),
            "\(resumed.text) \(resumed.error)")
        let replayed = try Kymo.run(["dead", "replay", "--all", "--data", run.data, "--out", run.output])
        #expect(replayed.end == .exit(0), "\(replayed.error)")
        #expect(try run.command("query", "--readings").lines.count == 2)
    }

    /// Names that are nobody's change nothing.
    @Test func namesAreLookedAt() throws {
        let (instance, _) = try start(unix)
        let done = try run.command("pause", "hartRate")
        #expect(done.end == .exit(1) && done.error.contains("no type or source 'hartRate'; did you mean 'heartRate'?"))
        let both = try run.command("pause", "heartRate", "nothing-like-it")
        #expect(both.end == .exit(1))
        #expect(try !run.command("status").text.contains("\npaused "))
        #expect(try instance.terminate().end == .exit(0))
    }

    /// A pause is no reason not to be ready, and is said there.
    @Test func readinessSaysIt() throws {
        let instance = try Kymo.start(
            [
                "run", "--data", run.data, "--out", run.output, "--admin", "127.0.0.1:0",
            ] + unix)
        _ = try instance.addresses()
        try Waiting.until("the control socket") { try run.command("status").text.contains("used by process") }
        _ = try run.command("pause", "heartRate")
        let admin = try AdminClient(instance)
        let ready = try admin.get("/readyz")
        #expect(ready.status == 200 && ready.body.contains("paused: 1 type or source,"), "\(ready.body)")
        #expect(try instance.terminate().end == .exit(0))
    }
}
