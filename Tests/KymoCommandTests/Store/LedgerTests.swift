import CommandSupport
import Glibc
import KymographTestKit
import Testing
import TrialSupport

/// `kymo ledger`: where every reading is.
@Suite struct LedgerTests {
    /// Readings with duplicates, several of one instant and lines that are none, from a seed.
    static func mixed(seed: UInt64, count: Int) -> [String] {
        var random = SeededGenerator(seed: seed)
        return (0..<count).map { _ in
            switch Int.random(in: 0..<20, using: &random) {
            case 0: "{\"no\":\"template\"}"
            case 1: "{\"deviceId\":\"watch"
            default:
                Readings.heartRate(
                    second: Int.random(in: 0..<600, using: &random), value: Int.random(in: 60...62, using: &random),
                    device: "watch-\(Int.random(in: 1...3, using: &random))")
            }
        }
    }

    /// The ledger says what the run said, over two runs, and verifies.
    @Test(arguments: Trials.seeds(3))
    func balance(seed: UInt64) throws {
        let run = StoredRun()
        var (received, duplicate, conflict, rejected) = (0, 0, 0, 0)
        for part in 0..<2 {
            let done = try run.run(Self.mixed(seed: seed * 10 + UInt64(part), count: 800))
            let balance = try #require(done.balance)
            #expect(balance.isClosed && balance.received == 800, "\(done.error)")
            received += balance.received
            duplicate += balance.duplicate
            conflict += balance.conflict
            rejected += balance.rejected
        }
        let ledger = try run.json("ledger", "--format", "json")
        let balance = try #require(ledger["balance"])
        #expect(balance["received"]?.integer == received && balance["onTheWay"]?.integer == 0)
        #expect(balance["duplicate"]?.integer == duplicate && balance["conflict"]?.integer == conflict)
        #expect(balance["accepted"]?.integer == received - duplicate - conflict - rejected)
        #expect(duplicate > 0 && conflict == 0 && rejected > 0)
        let verified = try run.command("ledger", "--verify")
        #expect(verified.end == .exit(0), "\(verified.error)")
        #expect(verified.error.contains("verified"))
    }

    /// Any count that is changed behind the store's back is found.
    @Test(arguments: [
        "UPDATE window SET readings = readings + 1 WHERE number = 1",
        "UPDATE window SET sources = '3:1' WHERE number = 1",
        "UPDATE window SET duplicates = duplicates + 1 WHERE number = 1",
        "UPDATE window SET last = last + 1 WHERE number = 1",
        "UPDATE window SET body = zeroblob(length(body)) WHERE number = 1",
        "UPDATE window SET outbox = 1000000 WHERE number = 1",
        "DELETE FROM window WHERE number = 1",
        "UPDATE tally SET count = count - 1 WHERE outcome = 'received'",
        "UPDATE tally SET count = count - 1 WHERE outcome = 'noTemplate'",
        "INSERT INTO receipt VALUES (1, 'nobody', 1, 'Observation/1', 201, '', '', 1, 0)",
    ])
    func tampering(sql: String) throws {
        let run = StoredRun()
        try run.run(Readings.heartRates(200) + ["{}"])
        #expect(try run.command("ledger", "--verify").end == .exit(0))
        try run.change(sql)
        let done = try run.command("ledger", "--verify")
        #expect(done.end == .exit(65) && done.error.contains("differs"), "\(sql): \(done.error)")
    }

    /// One device's span is complete although others have rejected readings, and says what is missing when it is not.
    @Test func aSpanOfOneDevice() throws {
        let run = StoredRun()
        try run.run(Readings.heartRates(120) + Readings.heartRates(60, device: "watch-2"))
        let span = ["--from", "2026-03-01T08:00:00Z", "--to", "2026-03-01T08:02:00Z"]
        let done = try Kymo.run(["ledger", "--data", run.data, "--device", "watch-1"] + span)
        #expect(done.end == .exit(0), "\(done.text) \(done.error)")
        let windows = done.lines.filter { $0.hasPrefix("window ") }
        #expect(windows.count == 2 && windows.allSatisfy { $0.contains("readings 60 (stdin 60)") }, "\(done.text)")
        #expect(done.lines.last == "complete")
        let other = try Kymo.run(["ledger", "--data", run.data, "--device", "nobody"] + span)
        #expect(other.end == .exit(65) && other.text.contains("there are no readings"))
        // As a server that has taken the first of two bundles.
        try run.change(
            """
            INSERT INTO sink VALUES ('fhir', 3), ('study', 0);
            UPDATE window SET outbox = 3 + number / 2, sinks = 'fhir'
            """)
        let behind = try Kymo.run(["ledger", "--data", run.data, "--device", "watch-1"] + span)
        #expect(behind.end == .exit(65) && behind.text.contains("1 window is not delivered to fhir yet"))
        #expect(!behind.text.contains("study"), "nothing was for it: \(behind.text)")
    }

    /// A late reading amends its window: the ledger shows one window, written twice.
    @Test func lateReadings() throws {
        let run = StoredRun()
        try run.run(Array(Readings.heartRates(60).dropLast(10)))
        try run.run(Array(Readings.heartRates(60).suffix(15)))
        let ledger = try run.json("ledger", "--device", "watch-1", "--format", "json")
        let windows = try #require(ledger["windows"]?.elements)
        #expect(windows.count == 1 && ledger["isComplete"]?.isTrue == true)
        #expect(windows.first?["readings"]?.integer == 60 && windows.first?["duplicate"]?.integer == 5)
        #expect(windows.first?["revision"]?.integer == 2)
    }

    /// Readings that add a value to one of the same instant are received, and no further readings.
    @Test func mergedReadings() throws {
        let run = StoredRun()
        run.folder.write(
            "mine/device.json",
            """
            {"templateType":"CollectionContent","template":[{"templateType":"JsonPathContent","template":{
              "typeName":"both","typeMatchExpression":"$..[?(@d)]","deviceIdExpression":"$.d",
              "timestampExpression":"$.t",
              "values":[{"valueName":"a","valueExpression":"$.a"},{"valueName":"b","valueExpression":"$.b"}]}}]}
            """)
        run.folder.write(
            "mine/fhir.json",
            """
            {"templateType":"CollectionFhir","template":[{"templateType":"CodeValueFhir","template":{
              "typeName":"both","periodInterval":60,"codes":[{"system":"urn:example","code":"both"}],
              "components":[
                {"codes":[{"system":"urn:example","code":"a"}],"value":{"valueType":"SampledData","valueName":"a",
                  "unit":"1","code":"1","defaultPeriod":1000}},
                {"codes":[{"system":"urn:example","code":"b"}],"value":{"valueType":"SampledData","valueName":"b",
                  "unit":"1","code":"1","defaultPeriod":1000}}]}}]}
            """)
        let lines = (10..<40).flatMap { second in
            ["a", "b"].map { "{\"d\":\"x\",\"t\":\"2026-03-01T08:00:\(second)Z\",\"\($0)\":\(second)}" }
        }
        let done = try run.run(lines, ["--mapping", "\(run.folder.path)/mine"])
        #expect(done.balance?.accepted == 60, "\(done.error)")
        let window = try #require(
            try run.json("ledger", "--device", "x", "--format", "json")["windows"]?.elements?.first)
        #expect(window["readings"]?.integer == 30 && window["merged"]?.integer == 30)
        #expect(try run.command("ledger", "--verify").end == .exit(0))
    }

    /// What the kernel drops is in the ledger, to the last datagram.
    @Test func kernelDrops() throws {
        let run = StoredRun()
        let file = run.folder.write("kymo.yaml", "sources:\n  - udp: 127.0.0.1:0\n    receiveBuffer: 4KiB\n")
        let instance = try Kymo.start(["run", "--config", file, "--data", run.data, "--out", run.output])
        try Sending.send(lines: Readings.heartRates(7_200), to: try instance.addresses()[0])
        let summary = try #require(try instance.terminate().balance)
        let balance = try run.json("ledger", "--format", "json")["balance"]
        #expect(balance?["received"]?.integer == summary.received)
        #expect(balance?["kernelDropped"]?.integer == summary.kernelDropped)
        #expect(summary.received + summary.kernelDropped == 7_200 && summary.kernelDropped > 0)
    }

    /// Readings over a limit are rejected by the shard, which knows whose they are.
    @Test func rejectionsOfADevice() throws {
        let run = StoredRun()
        let file = run.folder.write("kymo.yaml", "limits:\n  readingsPerWindow: 25\n")
        try run.run(
            Readings.heartRates(30) + Readings.heartRates(20, device: "watch-2"), ["--config", file])
        let done = try run.command("ledger", "--device", "watch-1")
        #expect(done.end == .exit(65) && done.text.contains("5 readings were rejected: tooManyReadings"))
        #expect(try run.command("ledger", "--device", "watch-2").end == .exit(0))
        #expect(try run.command("ledger", "--verify").end == .exit(0))
        #expect(try run.command("dead", "list").text.contains("measurement"))
    }

    /// A window that gives no Observation holds its readings all the same: they count as rejected, once.
    @Test func windowsWithoutObservation() throws {
        let run = StoredRun()
        run.folder.write(
            "mine/device.json",
            MappingText.device.replacing(
                "\"required\": true}]", with: "}, {\"valueName\": \"other\", \"valueExpression\": \"$.other\"}]"
            ).replacing(", }", with: "}").replacing("(@pulse)", with: "(@id)"))
        run.folder.write("mine/fhir.json", MappingText.fhir.replacing("\"instance\"", with: "\"1m\""))
        let lines = (10..<15).map { "{\"id\":\"p\",\"at\":\"2026-03-01T08:00:\($0)Z\",\"other\":1}" }
        let done = try run.run(lines, ["--mapping", "\(run.folder.path)/mine"])
        #expect(done.balance?.rejected == 5 && done.balance?.accepted == 0, "\(done.error)")
        let balance = try run.json("ledger", "--format", "json")["balance"]
        #expect(balance?["accepted"]?.integer == 0 && balance?["received"]?.integer == 5)
        #expect(try run.command("ledger", "--verify").end == .exit(0))
    }

    /// What the archive drops stays counted.
    @Test func droppedWindows() throws {
        let run = StoredRun()
        try run.run(Readings.heartRates(90) + Readings.heartRates(5))
        let file = run.folder.write("kymo.yaml", "store:\n  archiveAge: 1ms\n")
        try run.run(Readings.heartRates(10, device: "watch-2"), ["--config", file])
        let ledger = try run.json("ledger", "--format", "json")
        #expect(ledger["balance"]?["received"]?.integer == 105 && ledger["balance"]?["accepted"]?.integer == 100)
        #expect(ledger["balance"]?["duplicate"]?.integer == 5 && ledger["balance"]?["onTheWay"]?.integer == 0)
        let done = try run.command("ledger", "--device", "watch-1")
        #expect(done.end == .exit(65) && done.text.contains("has dropped windows with 90 readings"), "\(done.text)")
        #expect(try run.command("ledger", "--verify").end == .exit(0))
    }

    /// A value called `sequence` tells which messages never came, whatever the order in which the others did.
    @Test func sequenceNumbers() throws {
        let run = StoredRun()
        run.folder.write(
            "mine/device.json",
            MappingText.device.replacing(
                "\"required\": true}]",
                with: "\"required\": true}, {\"valueName\": \"sequence\", \"valueExpression\": \"$.n\"}]"))
        run.folder.write("mine/fhir.json", MappingText.fhir)
        func lines(_ numbers: [Int]) -> [String] {
            numbers.map { "{\"id\":\"p-1\",\"at\":\"2026-03-01T08:00:\(10 + $0)Z\",\"pulse\":61,\"n\":\($0)}" }
        }
        let mapping = ["--mapping", "\(run.folder.path)/mine"]
        try run.run(lines([1, 2, 5, 4, 4, 9]), mapping)
        let done = try run.command("ledger", "--device", "p-1")
        #expect(done.end == .exit(65) && done.text.contains("p-1: 4 messages are missing"), "\(done.text)")
        let part = try run.command("ledger", "--device", "p-1", "--to", "2026-03-01T08:00:16Z")
        #expect(part.text.contains("p-1: 1 message is missing"), "\(part.text)")
        // What was missing comes late.
        try run.run(lines([8, 3, 7, 6]), mapping)
        let whole = try run.command("ledger", "--device", "p-1")
        #expect(whole.end == .exit(0), "\(whole.text)")
    }

    /// While the instance runs: open windows are shown as such, and the balance holds.
    @Test func whileItRuns() throws {
        let run = StoredRun()
        let instance = try Kymo.start(
            ["run", "--unix", run.folder.file("a.sock"), "--data", run.data, "--out", run.output, "--idle", "0s"])
        try Sending.send(lines: Readings.heartRates(40), to: try instance.addresses()[0])
        try Waiting.until("the journal") {
            try run.json("ledger", "--format", "json")["balance"]?["open"]?.integer == 40
        }
        let open = try run.command("ledger", "--device", "watch-1")
        #expect(open.end == .exit(65) && open.text.contains("40 readings are in windows that are still open"))
        #expect(try run.command("ledger", "--verify").end == .exit(0))
        #expect(try instance.terminate().end == .exit(0))
        #expect(try run.command("ledger", "--device", "watch-1").end == .exit(0))
    }

    /// A killed instance: what is durable is accounted for, and more than was received never is.
    @Test(arguments: [3, 20, 60])
    func killed(milliseconds: Int) throws {
        let run = StoredRun()
        let instance = try Kymo.start(
            ["run", "--stdin", "--data", run.data, "--out", run.output, "--window", "10s", "--lateness", "0s"],
            input: .pipe)
        _ = try instance.addresses()
        instance.write(Readings.ndjson(Readings.heartRates(2_000)))
        usleep(UInt32(milliseconds) * 1_000)
        instance.signal(SIGKILL)
        _ = try instance.wait()
        let killed = try run.command("ledger", "--verify")
        #expect(killed.end == .exit(0), "\(killed.error)")
        try run.run(Readings.heartRates(2_000), ["--window", "10s"])
        let after = try run.command("ledger", "--verify")
        #expect(after.end == .exit(0), "\(after.error)")
        let series = try #require(try run.json("ledger", "--format", "json")["series"]?.elements?.first)
        #expect(series["readings"]?.integer == 2_000)
    }

    @Test func noStore() throws {
        let folder = TemporaryFolder()
        for command in ["ledger", "query", "export", "status"] {
            let done = try Kymo.run([command, "--data", folder.file("none")])
            #expect(done.end == .exit(66) && done.error.contains("there is no store in"), "\(done.error)")
        }
    }
}
