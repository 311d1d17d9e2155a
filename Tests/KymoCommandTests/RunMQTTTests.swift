import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// `kymo run --mqtt`, with Debian's broker and its clients.
@Suite(.enabled(if: Mosquitto.isInstalled, "needs the packages mosquitto and mosquitto-clients"))
struct RunMQTTTests {
    private let folder = TemporaryFolder()

    /// A configuration with one source of `broker`.
    private func configuration(_ broker: Mosquitto, _ lines: String) -> String {
        folder.write(
            "kymo.yaml",
            """
            data: \(folder.file("data"))
            output: {to: \(folder.file("out"))}
            sources:
            - mqtt: \(broker.url())
            \(lines.split(separator: "\n").map { "  \($0)" }.joined(separator: "\n"))

            """)
    }

    private func start(_ configuration: String, _ arguments: [String] = []) throws -> ChildProcess {
        let run = try Kymo.start(["run", "--config", configuration] + arguments)
        try run.waitForError(": connected")
        return run
    }

    /// Waits until the running instance has received `count` readings.
    private func waitForReadings(_ count: Int) throws {
        try Waiting.until("\(count) readings") {
            try Kymo.run(["status", "--data", folder.file("data")]).text.hasPrefixInLine("received \(count) ")
        }
    }

    /// The devices of the Observations, by all that was written.
    private func devices() -> Set<String> {
        let texts = Files.names(folder.file("out")).map { Files.text(folder.file("out/\($0)")) }
        let pattern = /"system":"urn:kymograph:device","value":"([^"]*)"/
        return Set(texts.flatMap { $0.matches(of: pattern).map { String($0.output.1) } })
    }

    private func reading(_ second: Int, device: String? = nil) -> String {
        let text = Readings.heartRate(second: second, device: device ?? "x")
        return device == nil ? text.replacing("\"deviceId\":\"x\",", with: "") : text
    }

    /// Messages of each QoS, of both versions; wildcards that name the device where the message does not.
    @Test(arguments: ["5", "3.1.1"], ["0", "1", "2"]) func topicsNameDevices(version: String, quality: String) throws {
        let broker = try Mosquitto()
        let run = try start(
            configuration(broker, "topics: ['ward/{device}/+', 'free/#']\nqos: \(quality)\nmqttVersion: \(version)"))
        try broker.publish([reading(1), reading(2, device: "béd 7")], to: "ward/béd 7/vitals", ["-q", quality])
        try broker.publish([reading(3, device: "other")], to: "ward/bed8/vitals", ["-q", quality])
        try broker.publish([reading(4, device: "own")], to: "free", ["-q", quality])
        try broker.publish([reading(5, device: "no")], to: "ward/a/b/c", ["-q", quality])
        try waitForReadings(4)
        let done = try run.terminate()
        let balance = try #require(done.balance)
        #expect(balance.accepted == 3 && balance.reasons == ["deviceNotAllowed": 1] && balance.isClosed)
        #expect(devices() == ["béd 7", "own"])
        #expect(!done.error.contains("béd 7") && !done.error.contains("other"))
    }

    /// A topic's patient is the patient of readings that name none; who names another one, or nobody, is refused.
    @Test func topicsNamePatients() throws {
        let broker = try Mosquitto()
        let run = try start(configuration(broker, "topics: 'home/{patient}'"))
        let named = reading(1, device: "a").replacing("\"type\"", with: "\"patientId\":\"p1\",\"type\"")
        try broker.publish([named], to: "home/p2")
        try broker.publish([reading(2, device: "a")], to: "home/")
        try broker.publish([reading(3, device: "a")], to: "home/p3")
        try waitForReadings(3)
        let balance = try #require(try run.terminate().balance)
        #expect(balance.accepted == 1 && balance.isClosed)
        #expect(balance.reasons == ["patientNotAllowed": 1, "noPatient": 1])
    }

    /// An array and lines in one message are readings like any others.
    @Test func severalReadingsOfAMessage() throws {
        let broker = try Mosquitto()
        let run = try Kymo.start(["run", "--mqtt", broker.url("ward/+"), "--data", folder.file("data")])
        try run.waitForError(": connected")
        try broker.publish(["[\(reading(1, device: "a")),\(reading(2, device: "a"))]"], to: "ward/1")
        let path = folder.write("message", [3, 4, 5].map { reading($0, device: "a") }.joined(separator: "\n"))
        let sent = try ChildProcess(
            "mosquitto_pub", ["-p", "\(broker.port)", "-t", "ward/2", "-q", "1", "-f", path]
        ).finish()
        #expect(sent.end == .exit(0))
        try waitForReadings(5)
        #expect(try run.terminate().balance?.accepted == 5)
    }

    /// What is published while kymo, or the broker, is away comes when both are there.
    @Test func bothMayBeAway() throws {
        let broker = try Mosquitto()
        let file = configuration(broker, "topics: ward/#")
        let first = try start(file)
        try broker.publish([reading(1, device: "a")], to: "ward/1")
        try waitForReadings(1)
        #expect(try first.terminate().balance?.accepted == 1)
        try broker.publish([reading(2, device: "a")], to: "ward/1")
        try broker.stop()
        let second = try Kymo.start(["run", "--config", file])
        try second.waitForError("no connection: Connection refused; trying again")
        try broker.start()
        try waitForReadings(1)
        try broker.stop()
        try second.waitForError("connection lost")
        try broker.start()
        try broker.publish([reading(3, device: "a")], to: "ward/1")
        try waitForReadings(2)
        let done = try second.terminate()
        #expect(done.balance?.accepted == 2 && !done.error.contains("has not kept"), "\(done.error)")
    }

    /// Each is told in words, and the password in none; the file is read again for each attempt.
    @Test func passwords() throws {
        let users = folder.file("users")
        let made = try ChildProcess("mosquitto_passwd", ["-c", "-b", users, "kymo", "geheim"]).finish()
        #expect(made.end == .exit(0), "\(made.error)")
        unsafe chmod(users, 0o644)
        let broker = try Mosquitto("allow_anonymous false\npassword_file \(users)")
        let password = folder.write("password", "falsch\n")
        unsafe chmod(password, 0o600)
        let file = configuration(broker, "topics: ward/#\nuser: kymo\npasswordFile: \(password)")
        let run = try Kymo.start(["run", "--config", file])
        try run.waitForError("no connection: refused: not authorized (code 0x87); trying again")
        folder.write("password", "geheim\n")
        try run.waitForError(": connected")
        let done = try run.terminate()
        #expect(done.end == .exit(0) && !done.error.contains("falsch") && !done.error.contains("geheim"))
        #expect(done.error.ranges(of: "refused").count == 1, "\(done.error)")
        unsafe chmod(password, 0o644)
        let open = try Kymo.start(["run", "--config", file])
        try open.waitForError("chmod 600")
        _ = try open.terminate()
    }

    /// `kymo check --connect` asks the broker, and leaves the session of a running instance alone.
    @Test func checked() throws {
        let broker = try Mosquitto("allow_anonymous true\npersistent_client_expiration 1d")
        let file = configuration(broker, "topics: ward/#")
        let run = try start(file)
        let check = { try Kymo.run(["check", "--connect", "--config", file]) }
        let good = try check()
        #expect(good.end == .exit(0) && !good.error.contains("warning: "), "\(good.error)")
        try broker.publish([reading(1, device: "a")], to: "ward/1")
        try waitForReadings(1)
        #expect(try run.terminate().error.contains("connection lost") == false)
        try broker.stop()
        let gone = try check()
        #expect(gone.end == .exit(0) && gone.error.contains("Connection refused"), "\(gone.error)")
        #expect(gone.error.contains("kymo run waits for it"), "\(gone.error)")
        let closed = try Mosquitto("allow_anonymous false", port: broker.port)
        let refused = try check()
        #expect(refused.end == .exit(77) && refused.error.contains("not authorized"), "\(refused.error)")
        _ = closed
    }

    /// A retained message is a reading, and a duplicate when it comes again.
    @Test func retainedMessages() throws {
        let broker = try Mosquitto()
        try broker.publish([reading(1, device: "a")], to: "ward/1", ["-q", "1", "-r"])
        let file = configuration(broker, "topics: ward/#\nmqttVersion: 3.1.1")
        let first = try start(file)
        try waitForReadings(1)
        #expect(try first.terminate().balance?.accepted == 1)
        let second = try start(file)
        try waitForReadings(1)
        #expect(try second.terminate().balance?.duplicate == 1)
    }

    /// The bytes of a letter do not say what its topic said: it is not mapped again without a word.
    @Test func lettersWithoutTheirTopic() throws {
        let broker = try Mosquitto()
        let file = configuration(broker, "topics: 'ward/{device}'")
        let run = try start(file)
        try broker.publish(["{\"oops\":1}"], to: "ward/bed7")
        try waitForReadings(1)
        _ = try run.terminate()
        let list = try Kymo.run(["dead", "list", "--config", file])
        #expect(list.text.contains("noTemplate") && list.text.contains("its topic names the device"))
        #expect(!list.text.contains("bed7"))
        let replay = try Kymo.run(["dead", "replay", "--all", "--config", file])
        let left = "1 letter holds only a part of what came, and was left"
        #expect(replay.end == .exit(65) && replay.error.contains(left), "\(replay.error)")
    }

    /// What another sender's flood does to the broker's memory is its business: kymo reads no further than it can keep,
    /// and everything arrives.
    @Test func manyMessages() throws {
        let broker = try Mosquitto("allow_anonymous true\nmax_inflight_messages 0")
        let run = try start(configuration(broker, "topics: ward/#\nreceiveMaximum: 7"))
        try broker.publish((0..<5_000).map { reading($0, device: "a") }, to: "ward/1")
        try waitForReadings(5_000)
        let done = try run.terminate()
        #expect(done.balance?.accepted == 5_000 && done.balance?.isClosed == true, "\(done.error)")
    }
}

extension String {
    /// Whether a line begins with `text`.
    fileprivate func hasPrefixInLine(_ text: String) -> Bool { split(separator: "\n").contains { $0.hasPrefix(text) } }
}
