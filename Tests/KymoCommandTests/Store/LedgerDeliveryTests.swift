import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// What `kymo ledger` says while a server has not got everything.
@Suite struct LedgerDeliveryTests {
    /// Nobody listens there.
    private static let server = ["--server", "http://127.0.0.1:9/fhir", "--server-identity", "create"]

    /// Readings that are Observations of their own leave long before the window that keeps them is archived.
    @Test func singleReadingsWaitForTheirServer() throws {
        let run = StoredRun()
        run.folder.write("mine/device.json", MappingText.device)
        run.folder.write("mine/fhir.json", MappingText.fhir)
        let instance = try Kymo.start(
            [
                "run", "--unix", run.folder.file("a.sock"), "--data", run.data, "--out", "none", "--mapping",
                run.folder.file("mine/"), "--idle", "1s",
            ] + Self.server)
        try Sending.send(lines: [MappingText.reading], to: try instance.addresses()[0])
        try Waiting.until("the window") {
            try run.json("status", "--format", "json")["store"]?["windows"]?.integer == 1
        }
        let running = try run.command("ledger", "--device", "p-1")
        #expect(try instance.terminate().end == .exit(0))
        for ledger in [running, try run.command("ledger", "--device", "p-1")] {
            #expect(ledger.end == .exit(65), "\(ledger.text)")
            #expect(ledger.text.contains("1 window is not delivered to server http://127.0.0.1:9/fhir yet"))
            #expect(ledger.text.contains("server http://127.0.0.1:9/fhir waits"), "\(ledger.text)")
        }
    }

    /// A run with files only amends a window that a server still waits for; a later one ends that server.
    @Test func anAmendmentDoesNotForgetWhoWaits() throws {
        let run = StoredRun()
        let lines = Readings.heartRates(60)
        func deliver(_ lines: some Sequence<String>, _ sinks: [String]) throws {
            let done = try Kymo.run(
                ["run", "--stdin", "--data", run.data, "--out", run.output, "--window", "1m"] + sinks,
                input: .bytes(Readings.ndjson(Array(lines))))
            #expect(done.end == .exit(0), "\(done.error)")
        }
        try deliver(lines.dropLast(10), Self.server)
        try deliver(lines.suffix(10), [])
        let waiting = try run.command("ledger", "--device", "watch-1")
        #expect(waiting.end == .exit(65) && waiting.text.contains("written 2 times"), "\(waiting.text)")
        #expect(waiting.text.contains("1 window is not delivered to server http://127.0.0.1:9/fhir yet"))
        try deliver([], Self.server.map { $0.replacing(":9/", with: ":10/") })
        let ended = try run.command("ledger", "--device", "watch-1")
        #expect(ended.end == .exit(65), "\(ended.text)")
        #expect(ended.text.contains("1 window was given up for server http://127.0.0.1:9/fhir"), "\(ended.text)")
    }

    /// A start that fails for want of a file ends no sink of the run before.
    @Test func aStartThatFailsEndsNoSink() throws {
        let run = StoredRun()
        func start(_ name: String, _ more: String = "") throws -> Kymo.Finished {
            let sink = "{server: \"http://127.0.0.1:9/fhir\", identity: create, name: \(name)\(more)}"
            let file = run.folder.write("kymo.yaml", "sinks: [\(sink)]")
            return try Kymo.run(
                ["run", "--stdin", "--data", run.data, "--config", file, "--window", "1m"],
                input: .bytes(Readings.ndjson(Readings.heartRates(60))))
        }
        #expect(try start("study").end == .exit(0))
        let failed = try start("trial", ", authorization: bearer, tokenFile: \(run.folder.file("none"))")
        #expect(failed.end == .exit(78) && failed.error.contains("trial: tokenFile"), "\(failed.error)")
        #expect(!failed.error.contains("given up"), "\(failed.error)")
        let ledger = try run.command("ledger", "--device", "watch-1")
        #expect(ledger.end == .exit(65), "\(ledger.text)")
        #expect(ledger.text.contains("1 window is not delivered to study yet"), "\(ledger.text)")
        #expect(try start("study").error.contains("1 bundle waits in"))
    }
}
