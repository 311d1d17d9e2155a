import CommandSupport
import Glibc
import KymographTestKit
import Testing
import TrialSupport

/// `kafka:` sources: what is in the topic comes out, whatever happens on the way, and positions follow the disk.
@Suite(.serialized) struct KafkaSourceTests {
    private let lines = KafkaReadingRun.lines(seed: Trials.seed(1), count: 600)

    /// All of the topic, once; the next run begins behind it.
    @Test func readsOnce() throws {
        let run = try KafkaReadingRun()
        run.configure()
        try run.store(lines)
        let first = try run.start()
        try first.waitForError("reading 4 partitions of readings")
        try run.wait(for: KafkaReadingRun.counts(lines), of: first)
        #expect(try first.terminate().end == .exit(0))
        let second = try run.start()
        try second.waitForError("reading 4 partitions of readings")
        let late = Readings.heartRate(second: 9_000, device: "watch-1")
        try run.store([late])
        try run.wait(for: KafkaReadingRun.counts(lines + [late]), of: second)
        let done = try second.terminate()
        #expect(done.end == .exit(0) && done.error.contains("received 1 = accepted 1 "), "\(done.error)")
        let differences = try run.written().differences(
            from: KafkaReadingRun.expected(lines + [late]), ignoring: ["status"])
        #expect(differences.isEmpty, "\(differences.prefix(5))")
        #expect(try run.kafka.kymo("ledger", "--verify", "--data", "data").end == .exit(0))
    }

    /// Kills, ends in order, brokers that go, and errors that they answer, while readings are stored: Observations and
    /// ledger are those of a run without all that.
    @Test(arguments: Trials.seeds(Trials.isTorture ? 100 : 4)) func faultSchedule(seed: UInt64) throws {
        let run = try KafkaReadingRun()
        run.configure()
        let lines = KafkaReadingRun.lines(seed: seed, count: 800)
        var random = SeededGenerator(seed: seed)
        var stored = 0
        var process = try run.start()
        for round in 1...6 {
            let end = lines.count * round / 6
            try run.store(Array(lines[stored..<end]))
            stored = end
            usleep(UInt32.random(in: 0...400_000, using: &random))
            switch Int.random(in: 0..<6, using: &random) {
            case 0, 1:
                process.signal(SIGKILL)
                #expect(try process.finish().end == .signal(SIGKILL))
                process = try run.start()
            case 2:
                #expect(try process.terminate().end == .exit(0))
                process = try run.start()
            case 3:
                let broker = Int.random(in: 1...3, using: &random)
                try run.kafka.ask("/down?broker=\(broker)")
                usleep(UInt32.random(in: 0...300_000, using: &random))
                try run.kafka.ask("/up?broker=\(broker)")
            case 4: try run.kafka.ask("/errors?of=1&codes=6,7,5,-1")
            default: try run.kafka.ask("/errors?of=8&codes=15,16,7,-1")
            }
        }
        try run.wait(for: KafkaReadingRun.counts(lines), of: process)
        #expect(try process.terminate().end == .exit(0))
        let expected = try KafkaReadingRun.expected(lines)
        let differences = try run.written().differences(from: expected, ignoring: ["status"])
        #expect(differences.isEmpty && expected.observations.count > 30, "seed \(seed): \(differences.prefix(5))")
        let ledger = try run.kafka.kymo("ledger", "--verify", "--data", "data")
        #expect(ledger.end == .exit(0), "seed \(seed): \(ledger.text) \(ledger.error)")
    }

    /// A position behind the end, as brokers leave it that have lost records: the partition is not read, and that is said.
    @Test func recordsAreLost() throws {
        let run = try KafkaReadingRun()
        run.configure(more: "http: {admin: '127.0.0.1:0'}")
        try run.store(lines)
        try run.kafka.ask("/position?group=kymo&partition=1&offset=1000000")
        let process = try run.start()
        try process.waitForError("partition 1 is read no more: it ends at ")
        let client = try AdminClient(process)
        try Waiting.until("the metric") {
            try client.get("/metrics").body.contains(
                "kymo_source_partitions_halted{source=\"kafka \(run.kafka.brokers)/readings\"} 1\n")
        }
        var counts = KafkaReadingRun.counts(lines)
        counts[1] = 1_000_000
        try run.wait(for: counts, of: process)
        #expect(try process.terminate().end == .exit(0))
    }

    /// Records that the topic no longer has are counted.
    @Test func recordsAreGone() throws {
        let run = try KafkaReadingRun()
        run.configure()
        try run.store(lines)
        let process = try run.start()
        try run.wait(for: KafkaReadingRun.counts(lines), of: process)
        #expect(try process.terminate().end == .exit(0))
        // The mock cluster keeps the last 5 MB of a partition, in whole batches: how many records that is depends on
        // how the producer has filled them.
        let filler = String(repeating: " ", count: 100_000)
        try run.store((0..<120).map { Readings.heartRate(second: $0, device: "watch-0") + filler })
        let second = try run.start()
        try second.waitForError("are no longer there")
        try second.waitForError("partition 0: records from \(KafkaReadingRun.counts(lines)[0]) up to ")
        var counts = KafkaReadingRun.counts(lines)
        counts[0] += 120
        try run.wait(for: counts, of: second)
        let done = try second.terminate()
        let missed = try #require(done.error.firstMatch(of: /missed records ([0-9]+)/).flatMap { Int($0.1) })
        let received = try #require(done.error.firstMatch(of: /received ([0-9]+) =/).flatMap { Int($0.1) })
        #expect(done.end == .exit(0) && missed + received == 120 && (40..<100).contains(missed), "\(done.error)")
    }

    /// What is no reading is a dead letter, and its place is passed.
    @Test func rejected() throws {
        let run = try KafkaReadingRun()
        run.configure(", startAt: earliest, group: ward-7", more: "limits: {lineBytes: 1000}")
        try run.store(["no JSON", Readings.heartRate(second: 1), String(repeating: "x", count: 2_000)]) { _ in 2 }
        let process = try run.start()
        try Waiting.until("positions: \(process.errorText)") { try run.positions("ward-7") == [0, 0, 3, 0] }
        let done = try process.terminate()
        #expect(done.error.contains("received 3 = accepted 1 + duplicate 0 + conflict 0 + rejected 2"), "\(done.error)")
        let letters = try run.kafka.kymo("dead", "list", "--data", "data")
        #expect(letters.text.contains("frameTooLong") && letters.text.contains("invalidJSON"), "\(letters.text)")
    }

    /// Events of an IoT Hub, as Event Hubs gives them: whose they are stands in headers, which a value cannot write.
    @Test func headersOfHubs() throws {
        let run = try KafkaReadingRun()
        run.configure(", headers: amqp, mappings: azure-iot-hub")
        let (device, patient) = ("iothub-connection-device-id", "patientId")
        let time = (name: "iothub-enqueuedtime", value: "830000019cA86A1040")
        let body = "{\"heartrate\":72}"
        try run.store(body, headers: [time, (device, "a10877617463682d3137"), (patient, "a106702d30303432")])
        // "watch-17" and "watch-18"; two patients, or perhaps the number 49; a value that says whose it is.
        try run.store(body, headers: [time, (device, "a10877617463682d3137"), (device, "a10877617463682d3138")])
        for (one, other) in [("a106702d30303432", "a106702d30303433"), ("5331", "5331")] {
            try run.store(
                body, headers: [time, (device, "a10877617463682d3137"), (patient, one), (patient, other)])
        }
        let forged =
            "\(body),\"SystemProperties\":{\"\(device)\":\"watch-9\",\"\(time.name)\":\"2026-03-01T08:00:00Z\"}"
        try run.store(forged, headers: [])
        try run.store("{\"Body\":\(forged)}", headers: [time])
        let process = try run.start()
        try run.wait(for: [6, 0, 0, 0], of: process)
        let done = try process.terminate()
        #expect(done.end == .exit(0) && done.error.contains("received 6 = accepted 1 "), "\(done.error)")
        #expect(done.error.contains("noEnvelope 2") && done.error.contains("invalidValue 3"), "\(done.error)")
        #expect(try run.written().observations.count == 1)
        let text = Files.names(run.folder.file("out")).map { Files.text(run.folder.file("out/\($0)")) }.joined()
        for part in ["watch-17", "p-0042", "2026-03-01T08:00:49.216Z"] { #expect(text.contains(part), "\(text)") }
        #expect(!text.contains("watch-9") && !text.contains("watch-18"), "\(text)")
    }

    /// It comes and goes with the configuration.
    @Test func onReload() throws {
        let run = try KafkaReadingRun()
        run.configure()
        let whole = Files.text(run.folder.file("kymo.yaml"))
        run.folder.write("kymo.yaml", whole.replacing("sources: [", with: "sources: [{unix: k.sock}]\n#"))
        let process = try Kymo.start(["run", "--config", "kymo.yaml"], directory: run.folder.path)
        _ = try process.addresses()
        try run.store(lines)
        run.folder.write("kymo.yaml", whole.replacing("sources: [", with: "sources: [{unix: k.sock}, "))
        process.signal(SIGHUP)
        try run.wait(for: KafkaReadingRun.counts(lines), of: process)
        run.folder.write("kymo.yaml", whole.replacing("sources: [", with: "sources: [{unix: k.sock}]\n#"))
        process.signal(SIGHUP)
        try Waiting.until("two reloads: \(process.errorText)") {
            process.errorText.ranges(of: "SIGHUP: took over").count == 2
        }
        try run.store([Readings.heartRate(second: 9_000)])
        let done = try process.terminate()
        #expect(done.end == .exit(0) && done.error.contains("received \(lines.count) = "), "\(done.error)")
    }

    @Test func checkConnects() throws {
        let run = try KafkaReadingRun()
        run.configure()
        let right = try run.kafka.kymo("check", "--connect", "--config", "kymo.yaml")
        #expect(right.end == .exit(0), "\(right.error)")
        run.configure(url: "kafka://127.0.0.1:9/readings")
        let away = try run.kafka.kymo("check", "--connect", "--config", "kymo.yaml")
        #expect(away.end == .exit(0) && away.error.contains("Connection refused"), "\(away.error)")
        #expect(away.error.contains("warning: sources[0].kafka") && away.error.contains("kymo run waits for it"))
        #expect(try run.positions() == [-1, -1, -1, -1])
    }

    /// Without a store, the group would be told that it has what is kept nowhere.
    @Test func needsAStore() throws {
        let done = try Kymo.run(["run", "--kafka", "kafka://127.0.0.1:9/t", "--ephemeral"])
        #expect(
            done.end == .exit(78) && done.error.contains("is kept nowhere; name a directory with data"), "\(done.error)"
        )
    }

    @Test func mistakes() throws {
        let folder = TemporaryFolder()
        // Safe: Swift lends the path for the call.
        unsafe chmod(folder.write("p", "security.protocol=plaintext\ngroup.id=x\n"), 0o600)
        for (source, text) in [
            ("kafka: \"broker:9092/t\"", "kymo.yaml:1:19: error: sources[0].kafka: it is no place of a topic"),
            ("kafka: \"kafka://u:secret@b/t\"", "kafka: it has a user, or a password"),
            ("kafka: \"kafka://b/t\"", "brokers on other machines would be read in plain text"),
            ("kafka: \"kafka://localhost/t\", partitions: 3-1", "partitions: '3-1' names no partitions"),
            ("kafka: \"kafka://localhost/t\", partitions: '1,1'", "names partition 1 twice"),
            ("kafka: \"kafka://localhost/t\", group: 'a b'", "group: 'a b' is no name of a group"),
            ("kafka: \"kafka://localhost/t\", startAt: x", "earliest, latest"),
            ("kafka: \"kafka://localhost/t\", headers: yes", "ignored, text, amqp"),
            (
                "kafka: \"kafka://localhost/t\", whenFull: dropNewest",
                "positions in a topic are those of what is on disk"
            ),
            (
                "kafka: \"kafka://localhost/t\"}, {kafka: \"kafka://localhost,[::1]/t\", partitions: 1",
                "two sources read the same partitions of t for the group kymo"
            ),
            ("kafka: \"kafka://b/t\", propertiesFile: p", "p:2: kymo decides on group.id"),
            ("unix: a.sock, partitions: 1", "it has no effect here; only kafka is a topic"),
        ] {
            folder.write("kymo.yaml", "sources: [{\(source)}]\nsinks: [{to: out}]\ndata: d\n")
            let done = try Kymo.run(["check", "--config", "kymo.yaml"], directory: folder.path)
            #expect(done.error.contains(text) && !done.error.contains("secret"), "\(source): \(done.error)")
            #expect(done.end == .exit(text.contains("no effect") ? 0 : 78), "\(source): \(done.error)")
        }
    }
}
