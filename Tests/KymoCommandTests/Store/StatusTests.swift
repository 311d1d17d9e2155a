import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// `kymo status`: a running instance, or the data directory.
@Suite struct StatusTests {
    @Test func running() throws {
        let run = StoredRun()
        let instance = try Kymo.start([
            "run", "--unix", run.folder.file("a.sock"), "--data", run.data, "--out", run.output, "--idle", "0s",
        ])
        let address = try instance.addresses()[0]
        // Whoever has read that it listens can ask it.
        #expect(try run.command("status").text.contains("used by process"))
        #expect(Files.mode("\(run.data)/control.sock") == 0o600 && Files.isSocket("\(run.data)/control.sock"))
        try Sending.send(lines: Readings.heartRates(30) + ["{}"], to: address)
        var status = JSONTree.null
        try Waiting.until("30 readings in the journal") {
            status = try run.json("status", "--format", "json")
            return status["store"]?["journalReadings"]?.integer == 30
                && status["store"]?["deadLetters"]?.integer == 1
        }
        #expect(status["process"]?.integer == Int(instance.pid))
        let source = try #require(status["sources"]?.elements?.first)
        #expect(source["name"]?.text == address && source["received"]?.integer == 31)
        #expect(source["rejected"]?.integer == 1)
        #expect((status["store"]?["usedBytes"]?.integer ?? 0) > 0)
        #expect(status["store"]?["limitBytes"]?.integer == 16 << 30)
        let metrics = try run.command("status", "--format", "prometheus").text
        #expect(metrics.contains("# TYPE kymo_readings_received_total counter\n"))
        #expect(metrics.contains("\nkymo_readings_received_total{source=\"\(address)\"} 31\n"))
        #expect(metrics.contains("\nkymo_store_journal_readings 30\n"))
        let text = try run.command("status")
        #expect(text.end == .exit(0) && text.text.contains("used by process \(instance.pid)"))
        #expect(try instance.terminate().end == .exit(0))
        #expect(!Files.exists("\(run.data)/control.sock"))
    }

    @Test func stopped() throws {
        let run = StoredRun()
        try run.run(Readings.heartRates(90))
        let status = try run.json("status", "--format", "json")
        #expect(status["process"] == nil && status["store"]?["windows"]?.integer == 2)
        #expect(status["store"]?["outboxRows"]?.integer == 0 && status["store"]?["journalBlocks"]?.integer == 0)
        try run.change(
            """
            INSERT INTO sink VALUES ('fhir', 6);
            INSERT INTO outbox SELECT value, 1, 1, 0, 0, 0, x'00', NULL FROM json_each('[5, 7, 9]')
            """)
        let metrics = try run.command("status", "--format", "prometheus").text
        #expect(metrics.contains("\nkymo_store_windows 2\n") && !metrics.contains("kymo_readings_received_total"))
        let behind = try run.json("status", "--format", "json")
        let sink = try #require(behind["sinks"]?.elements?.first)
        #expect(sink["name"]?.text == "fhir" && sink["settledThrough"]?.integer == 6)
        #expect(sink["waiting"]?.integer == 2 && behind["store"]?["outboxRows"]?.integer == 3)
        #expect(behind["store"]?["outboxOldest"]?.text?.hasPrefix("1970-01-01T00:00:00.000000001") == true)
        #expect(try run.command("status").text.contains("no instance runs"))
    }

    /// A killed instance leaves its socket: that is no instance, and the next one takes its place.
    @Test func afterAKill() throws {
        let run = StoredRun()
        let arguments = ["run", "--unix", run.folder.file("a.sock"), "--data", run.data, "--out", run.output]
        let instance = try Kymo.start(arguments)
        _ = try instance.addresses()
        #expect(Files.isSocket("\(run.data)/control.sock"))
        instance.signal(SIGKILL)
        _ = try instance.wait()
        #expect(try run.command("status").text.contains("no instance runs"))
        let next = try Kymo.start(arguments)
        try Waiting.until("the next instance") { try run.command("status").text.contains("process \(next.pid)") }
        #expect(try next.terminate().end == .exit(0))
    }
}
