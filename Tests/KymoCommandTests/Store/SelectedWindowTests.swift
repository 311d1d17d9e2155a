import CommandSupport
import KymographTestKit
import Testing

/// `kymo query` and `kymo export` by source and by id.
@Suite struct SelectedWindowTests {
    private func lines(_ run: StoredRun, _ arguments: String...) throws -> [String] {
        let done = try Kymo.run(["query", "--data", run.data] + arguments)
        #expect(done.end == .exit(0), "\(done.error)")
        return done.lines
    }

    /// An instance on the store of `run` that closes no window by itself.
    private func start(_ run: StoredRun) throws -> ChildProcess {
        try Kymo.start(
            [
                "run", "--udp", "127.0.0.1:0", "--data", run.data, "--out", run.output, "--format", "ndjson",
                "--window",
                "1m", "--lateness", "1h", "--idle", "0s",
            ], environment: ["KYMO_LATE_HOLD": "1h"])
    }

    /// Windows with readings of a source, and of readings only its own.
    @Test func sources() throws {
        let run = StoredRun()
        try run.run(Readings.heartRates(60))
        let instance = try start(run)
        let name = "udp 127.0.0.1:0"
        let later =
            (60..<90).map { Readings.heartRate(second: $0) } + [Readings.heartRate(second: 0, device: "watch-2")]
        try Sending.send(lines: later, to: try instance.addresses()[0])
        try Waiting.until("31 readings") {
            _ = try Kymo.run(["flush", "--data", run.data])
            return try lines(run, "--count") == ["{\"windows\":3,\"readings\":91}"]
        }
        #expect(try lines(run, "--source", "stdin").count == 1 && lines(run, "--source", name).count == 2)
        #expect(try lines(run, "--source", "stdin", "--source", name).count == 3)
        #expect(try lines(run, "--source", name, "--readings").count == 31)
        #expect(try lines(run, "--source", "stdin", "--readings").count == 60)
        #expect(try lines(run, "--source", name, "--count") == ["{\"windows\":2,\"readings\":31}"])
        let unknown = try Kymo.run(["query", "--data", run.data, "--source", "tcp"])
        #expect(
            unknown.end == .exit(65) && unknown.error.contains("it has those of stdin, \(name)"), "\(unknown.error)")
        #expect(try instance.terminate().end == .exit(0))
    }

    /// By id, by identifier with and without its system; anything else finds nothing.
    @Test func ids() throws {
        let run = StoredRun()
        try run.run(Readings.heartRates(600) + Readings.heartRates(600, device: "watch-2"))
        let all = try lines(run)
        let wanted = try JSONTree(parsing: Array(all[7].utf8))
        let id = try #require(wanted["id"]?.text)
        let value = try #require(wanted["identifier"]?.elements?.first?["value"]?.text)
        for name in [id, value, "urn:kymograph:observation|\(value)"] {
            #expect(try lines(run, "--id", name) == [all[7]])
        }
        for name in [id.uppercased(), String(id.dropLast()), "urn:other|\(value)", "|", " ", "watch-1"] {
            #expect(try lines(run, "--id", name).isEmpty)
        }
        let other = try #require(try JSONTree(parsing: Array(all[19].utf8))["id"]?.text)
        #expect(try lines(run, "--id", id, "--id", other) == [all[7], all[19]])
        let first = try Kymo.run(["query", "--data", run.data, "--id", id, "--id", other, "--limit", "1"])
        let cursor = try #require(first.error.firstMatch(of: /--cursor (\S+)/)?.output.1)
        #expect(try first.lines == [all[7]] && lines(run, "--id", other, "--cursor", String(cursor)) == [all[19]])
        #expect(try run.command("export", "--id", id).lines == [all[7]])
    }

    /// An id that is none would show everything, and what is about whole windows more than the Observation.
    @Test(arguments: [
        (["query", "--id", ""], "--id must not be empty"),
        (["query", "--id", "a", "--id", ""], "--id must not be empty"),
        (["export", "--id", ""], "--id must not be empty"),
        (["query", "--id", "a", "--readings"], "--readings is about whole windows"),
        (["query", "--id", "a", "--count"], "--count is about whole windows"),
        (["export", "--id", "a", "--format", "csv"], "--format csv is about whole windows"),
    ])
    func refusedIDs(arguments: [String], message: String) throws {
        let run = StoredRun()
        try run.run(Readings.heartRates(60))
        let done = try Kymo.run(arguments + ["--data", run.data])
        #expect(done.end == .exit(64) && done.error.contains(message) && done.output.isEmpty, "\(done.error)")
    }
}
