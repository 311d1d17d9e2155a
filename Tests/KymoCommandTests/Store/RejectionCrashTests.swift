import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// Readings that are rejected when the journal is taken up again are counted once, however often that is begun.
@Suite struct RejectionCrashTests {
    /// Has `lines` acknowledged by a process that is killed then, with all windows open.
    private func acknowledge(_ run: StoredRun, _ lines: [String], _ arguments: [String] = []) throws {
        let process = try Kymo.start(
            ["run", "--unix", run.folder.file("a.sock"), "--data", run.data, "--idle", "0s"] + arguments)
        _ = try process.addresses()
        let client = try AckClient(run.folder.file("a.sock"))
        client.send(Readings.ndjson(lines))
        try Waiting.until("all acknowledgements") {
            client.receive()
            return client.acknowledged == lines.count
        }
        process.signal(SIGKILL)
        _ = try process.wait()
    }

    private func check(_ run: StoredRun, letters: Int) throws {
        #expect(try run.value("SELECT count(*) FROM dead") == letters)
        #expect(try run.value("SELECT sum(count) FROM tally WHERE outcome IN (SELECT reason FROM dead)") == letters)
        #expect(try run.value(StoredRun.strayContexts) == 0)
        let verified = try run.command("ledger", "--verify")
        #expect(verified.end == .exit(0), "\(verified.error)")
        let balance = try run.json("ledger", "--format", "json")["balance"]
        #expect(balance?["onTheWay"]?.integer == 0, "\(balance ?? .null)")
    }

    /// A window that gives no Observation, by a process that dies after one of its first commits.
    @Test(arguments: [1, 2, 3]) func windowsWithoutObservations(commits: Int) throws {
        let run = StoredRun()
        run.folder.write("m/device.json", MappingText.device)
        run.folder.write("m/fhir.json", MappingText.fhir.replacing("\"instance\"", with: "\"5m\""))
        try acknowledge(run, [MappingText.reading], ["--mapping", run.folder.file("m/")])
        let arguments = ["run", "--stdin", "--data", run.data, "--out", run.output, "--mapping", "reading"]
        let dead = try Kymo.run(arguments, environment: ["KYMO_CRASH_POINT": "after-commit:\(commits)"])
        #expect(commits > 1 || dead.end == .signal(SIGKILL), "\(dead.error)")
        #expect(try Kymo.run(arguments).end == .exit(0))
        try check(run, letters: 1)
    }

    /// Readings of a journal whose type has no template in the next run wait as letters, which that run does not count
    /// as its own, and come again when there is one: `accepted -10` before, and letters that nothing could be done with.
    @Test func readingsOfAnotherRunsTypes() throws {
        let run = StoredRun()
        try acknowledge(run, Readings.heartRates(10), ["--window", "1m"])
        let other = try Kymo.run(["run", "--stdin", "--data", run.data, "--out", run.output, "--mapping", "nightscout"])
        #expect(other.end == .exit(0) && other.error.contains("received 0 = accepted 0 +"), "\(other.error)")
        #expect(other.error.contains("rejected 10 readings of an earlier run"), "\(other.error)")
        let balance = try #require(try run.json("ledger", "--format", "json")["balance"])
        #expect(balance["accepted"] == .number("0") && balance["rejected"]?["noFHIRTemplate"] == .number("10"))
        try check(run, letters: 10)
        // Without a template they would be rejected again; with one they give what they would have given.
        let arguments = ["--all", "--data", run.data, "--out", run.output, "--format", "ndjson"]
        let again = try Kymo.run(["dead", "replay"] + arguments + ["--mapping", "nightscout"])
        #expect(again.end == .exit(65) && again.error.contains("10 letters left"), "\(again.error)")
        try check(run, letters: 10)
        let replay = try Kymo.run(["dead", "replay"] + arguments + ["--window", "1m"])
        #expect(replay.end == .exit(0), "\(replay.error)")
        let expected = StoredRun()
        try expected.run(Readings.heartRates(10))
        #expect(run.written == expected.written && run.written.count == 1)
        try check(run, letters: 10)
    }

    /// Letters of readings that had been mapped are taken again as they were, once: nothing could be done with them.
    @Test func readingsAreTakenAgain() throws {
        let run = StoredRun()
        let lines = (1...3).flatMap { Readings.heartRates(4, device: "watch-\($0)") }
        let limits = ["KYMO_LIMITS_DEVICES": "1", "KYMO_SHARDS": "1"]
        let arguments = ["--data", run.data, "--out", run.output, "--format", "ndjson", "--window", "1m"]
        try acknowledge(run, lines, ["--window", "1m"])
        #expect(try Kymo.run(["run", "--stdin"] + arguments, environment: limits).end == .exit(0))
        try check(run, letters: 8)
        // There is room for one device: the readings of the other stay the letters that they are, counted once.
        let before = try run.command("dead", "list").lines.filter { $0.contains("tooManyDevices") }
        for round in 0..<2 {
            let again = try Kymo.run(["dead", "replay", "--all"] + arguments, environment: limits)
            #expect(again.end == (round == 0 ? .exit(65) : .exit(0)), "\(again.error)")
            #expect(again.error.contains("replayed 0 payloads, 4 readings"), "\(again.error)")
            #expect(round > 0 || again.error.contains("rejected again: tooManyDevices"), "\(again.error)")
            let left = try run.command("dead", "list").lines.filter { $0.contains("tooManyDevices") }
            #expect(left.count == (round == 0 ? 4 : 0) && Set(left).isSubset(of: Set(before)))
            #expect(try run.json("ledger", "--format", "json")["balance"]?["received"]?.integer == 16 + 4 * round)
            try check(run, letters: 8)
        }
        let expected = StoredRun()
        try expected.run(lines)
        #expect(run.written == expected.written && run.written.count == 3)
        try check(run, letters: 8)
        #expect(try run.command("dead", "list").lines.count == 1)
        #expect(try run.json("ledger", "--format", "json")["balance"]?["received"] == .number("20"))
    }

    /// The same of payloads, which found no room before a shard had them.
    @Test func payloadsWithoutRoomStayLetters() throws {
        let run = StoredRun()
        let limits = ["KYMO_LIMITS_DEVICES": "1", "KYMO_SHARDS": "1"]
        let arguments = ["--data", run.data, "--out", run.output, "--format", "ndjson", "--window", "1m"]
        let lines = (1...3).flatMap { Readings.heartRates(4, device: "watch-\($0)") }
        let first = try Kymo.run(
            ["run", "--stdin"] + arguments, environment: limits, input: .bytes(Readings.ndjson(lines)))
        #expect(first.balance?.reasons == ["tooManyDevices": 8], "\(first.error)")
        let replay = try Kymo.run(["dead", "replay", "--all"] + arguments, environment: limits)
        #expect(replay.end == .exit(65) && replay.error.contains("replayed 4 payloads"), "\(replay.error)")
        #expect(replay.error.contains("letter 8: rejected again: tooManyDevices"), "\(replay.error)")
        #expect(try run.command("dead", "list").lines.count == 5)
        #expect(try run.json("ledger", "--format", "json")["balance"]?["received"]?.integer == 16)
        try check(run, letters: 8)
    }

    /// A store counts what it has, whatever runs have made of it: no count is below zero.
    private func isSound(_ balance: JSONTree?) -> Bool {
        ["received", "accepted", "duplicate", "conflict", "open", "onTheWay", "lost"].allSatisfy {
            balance?[$0]?.integer ?? -1 >= 0
        }
    }

    /// Windows of a run that was killed are those of that run, though the next one has others: `accepted -1` before.
    @Test func aRunOfOtherWindowsAfterOneThatWasKilled() throws {
        let run = StoredRun()
        try acknowledge(run, [Readings.heartRate(second: 0)], ["--window", "1m"])
        let next = try Kymo.run(
            [
                "run", "--stdin", "--data", run.data, "--out", run.output, "--format", "ndjson", "--window", "5m",
            ])
        let balance = try #require(next.balance)
        #expect(next.end == .exit(0) && balance.isClosed && balance.accepted == 0, "\(next.error)")
        #expect(isSound(try run.json("ledger", "--format", "json")["balance"]))
        #expect(try run.command("ledger", "--verify").end == .exit(0))
        #expect(run.written.count == 1 && run.written[0].contains(".20260301080000Z.20260301080059Z"), "\(run.written)")
    }

    /// A reading of an earlier run that comes again has the time of that, and was not accepted by this run, which
    /// rejects it with its window.
    @Test func whatComesAgainIsRejectedOnce() throws {
        let run = StoredRun()
        let other = #""required": false}, {"valueName": "b", "valueExpression": "$.b"}]"#
        run.folder.write(
            "m/device.json",
            MappingText.device.replacing("(@pulse)", with: "(@id)").replacing(#""required": true}]"#, with: other))
        run.folder.write("m/fhir.json", MappingText.fhir.replacing("\"instance\"", with: "\"5m\""))
        let mapping = ["--mapping", run.folder.file("m/")]
        // Its window gives no Observation.
        let reading = MappingText.reading.replacing("pulse", with: "b")
        try acknowledge(run, [reading], mapping)
        let next = try run.run([reading], mapping)
        let balance = try #require(next.balance)
        #expect(next.end == .exit(0) && balance.isClosed, "\(next.error)")
        #expect(balance.accepted == 0 && balance.duplicate == 1, "\(next.error)")
        #expect(next.error.contains("rejected 1 reading of an earlier run"), "\(next.error)")
        let stored = try run.json("ledger", "--format", "json")["balance"]
        #expect(isSound(stored) && stored?["rejected"]?["missingValue"]?.integer == 1, "\(stored ?? .null)")
        #expect(try run.command("ledger", "--verify").end == .exit(0))
    }

    /// A reading that has left an archived window, while that is open again. Catches: -1 readings in open windows, and a
    /// span that seems to have no readings.
    @Test func aReadingThatMovesIsCountedOnce() throws {
        let run = StoredRun()
        func steps(_ hour: String) -> String {
            """
            {"deviceId":"watch-1","type":"steps","timestamp":"2026-03-01T\(hour):01:00Z",\
            "start":"2026-03-01T\(hour):00:00Z","value":50,"unit":"{steps}","id":"a"}
            """
        }
        try run.run([steps("08")])
        try acknowledge(run, [steps("09")], ["--window", "1m", "--lateness", "6h"])
        let all = try run.json("ledger", "--format", "json")
        #expect(isSound(all["balance"]) && all["balance"]?["accepted"]?.integer == 1, "\(all)")
        let verified = try run.command("ledger", "--verify")
        #expect(verified.end == .exit(0), "\(verified.error)")
        let span = try run.json(
            "ledger", "--device", "watch-1", "--from", "2026-03-01T08:00:00Z", "--to", "2026-03-01T08:05:00Z",
            "--format", "json")
        let series = span["series"]?.elements ?? []
        #expect(series.count == 1 && series.allSatisfy { $0["open"]?.integer == 0 }, "\(span)")
        let missing = span["missing"]?.elements?.compactMap(\.text) ?? []
        #expect(missing == ["watch-1 steps: 1 reading has left windows that are still open"])
        // The rest of the story: the next run writes both windows.
        let next = try run.run([])
        #expect(next.end == .exit(0) && next.balance?.isClosed == true, "\(next.error)")
        #expect(run.written.count == 3 && run.written.count { $0.contains("entered-in-error") } == 1)
        #expect(try run.command("ledger", "--verify").end == .exit(0))
    }

    /// Readings for which there is no room any more, while others keep the journal.
    @Test func readingsOfTooManyDevices() throws {
        let run = StoredRun()
        let lines = (1...3).flatMap { Readings.heartRates(4, device: "watch-\($0)") }
        let limits = ["KYMO_LIMITS_DEVICES": "1", "KYMO_SHARDS": "1"]
        try acknowledge(run, lines)
        for _ in 0..<2 {
            let process = try Kymo.start(
                ["run", "--unix", run.folder.file("a.sock"), "--data", run.data, "--idle", "0s"], environment: limits)
            _ = try process.addresses()
            try Waiting.until("the dead letters: \(process.errorText)") {
                try run.value("SELECT count(*) FROM dead") ?? 0 >= 8
            }
            #expect(try run.value("SELECT count(*) FROM journal") ?? 0 > 0)
            #expect(try run.command("ledger", "--verify").end == .exit(0))
            process.signal(SIGKILL)
            _ = try process.wait()
        }
        let last = try Kymo.run(["run", "--stdin", "--data", run.data, "--out", run.output], environment: limits)
        #expect(last.end == .exit(0), "\(last.error)")
        try check(run, letters: 8)
        #expect(try run.value("SELECT sum(readings) FROM window") == 4)
    }
}
