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
        run.folder.write("m/device.json", MappingText.device)
        run.folder.write("m/fhir.json", MappingText.fhir)
        let mapping = run.folder.file("m/")
        let other = try Kymo.run(["run", "--stdin", "--data", run.data, "--out", run.output, "--mapping", mapping])
        #expect(other.end == .exit(0) && other.error.contains("received 0 = accepted 0 +"), "\(other.error)")
        #expect(other.error.contains("rejected 10 readings of an earlier run"), "\(other.error)")
        let balance = try #require(try run.json("ledger", "--format", "json")["balance"])
        #expect(balance["accepted"] == .number("0") && balance["rejected"]?["noFHIRTemplate"] == .number("10"))
        try check(run, letters: 10)
        // Without a template they would be rejected again; with one they give what they would have given.
        let arguments = ["--all", "--data", run.data, "--out", run.output, "--format", "ndjson"]
        let again = try Kymo.run(["dead", "replay"] + arguments + ["--mapping", mapping])
        #expect(again.end == .exit(65) && again.error.contains("10 letters were left"), "\(again.error)")
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
        let replay = try Kymo.run(["dead", "replay", "--all"] + arguments)
        #expect(replay.end == .exit(0) && replay.error.contains("8 readings"), "\(replay.error)")
        let expected = StoredRun()
        try expected.run(lines)
        #expect(run.written == expected.written && run.written.count == 3)
        try check(run, letters: 8)
        #expect(try run.command("dead", "list").lines.count == 1)
        #expect(try run.json("ledger", "--format", "json")["balance"]?["received"] == .number("20"))
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
