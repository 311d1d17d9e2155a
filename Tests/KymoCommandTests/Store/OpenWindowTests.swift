import CommandSupport
import KymographTestKit
import Testing

/// `kymo query` by source and by id, and of windows that are not closed.
@Suite struct OpenWindowTests {
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

    private func wait(for count: Int, _ run: StoredRun) throws {
        try Waiting.until("\(count) readings") { try lines(run, "--open", "--readings").count == count }
    }

    /// Open windows are shown as what they become when they close, but for their status.
    @Test func openWindows() throws {
        let run = StoredRun()
        let instance = try start(run)
        try Sending.send(lines: Readings.heartRates(150), to: try instance.addresses()[0])
        try wait(for: 150, run)
        #expect(try lines(run).isEmpty && lines(run, "--readings").isEmpty)
        let open = try lines(run, "--open")
        #expect(open.count == 3 && open.allSatisfy { $0.contains("\"status\":\"preliminary\"") })
        #expect(try lines(run, "--open", "--count") == ["{\"windows\":3,\"readings\":150}"])
        #expect(try lines(run, "--open", "--device", "watch-2").isEmpty)
        #expect(try lines(run, "--open", "--from", "2026-03-01T08:02:00Z").count == 1)
        #expect(try lines(run, "--open", "--modified-from", "2026-03-01T08:02:00Z").isEmpty)
        #expect(try lines(run, "--open", "--format", "table").filter { $0.contains(" open ") }.count == 3)
        let export = try Kymo.run(["export", "--data", run.data, "--open", "--format", "csv"])
        #expect(export.lines.count == 151)
        let flush = try Kymo.run(["flush", "--data", run.data])
        #expect(flush.end == .exit(0), "\(flush.error)")
        let closed = try lines(run, "--open")
        #expect(closed == open.map { $0.replacing("preliminary", with: "final") } && closed.count == 3)
        #expect(try lines(run) == closed)
        #expect(try instance.terminate().end == .exit(0))
    }

    /// A window that a late reading opens again is shown once, with all that it has.
    @Test func reopenedWindows() throws {
        let run = StoredRun()
        try run.run(Readings.heartRates(120).filter { !$0.contains("08:00:30") })
        let before = try lines(run)
        let instance = try start(run)
        try Sending.send(lines: [Readings.heartRate(second: 30, value: 199)], to: try instance.addresses()[0])
        try wait(for: 120, run)
        #expect(try lines(run) == before)
        let open = try lines(run, "--open")
        #expect(open.count == 2 && open[0].contains("preliminary") && open[0].contains("199"))
        #expect(open[1] == before[0] && open[1].contains("final"))
        #expect(try lines(run, "--open", "--limit", "1").count == 2)
        #expect(try lines(run, "--open", "--count") == ["{\"windows\":2,\"readings\":120}"])
        #expect(try Kymo.run(["flush", "--data", run.data]).end == .exit(0))
        #expect(try lines(run).last == open[0].replacing("preliminary", with: "amended"))
        #expect(try instance.terminate().end == .exit(0))
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
        try wait(for: 91, run)
        #expect(try Kymo.run(["flush", "--data", run.data]).end == .exit(0))
        try Sending.send(lines: [Readings.heartRate(second: 5, device: "watch-3")], to: try instance.addresses()[0])
        try wait(for: 92, run)
        #expect(try lines(run, "--source", "stdin").count == 1 && lines(run, "--source", name).count == 2)
        #expect(try lines(run, "--source", "stdin", "--source", name).count == 3)
        #expect(try lines(run, "--source", name, "--readings").count == 31)
        #expect(try lines(run, "--source", name, "--readings", "--open").count == 32)
        #expect(try lines(run, "--source", "stdin", "--readings", "--open").count == 60)
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
            #expect(try lines(run, "--id", name, "--count") == ["{\"windows\":1,\"readings\":60}"])
            #expect(try lines(run, "--id", name, "--readings").count == 60)
        }
        for name in [id.uppercased(), String(id.dropLast()), "urn:other|\(value)", "", "watch-1"] {
            #expect(try lines(run, "--id", name).isEmpty)
        }
        let other = try #require(try JSONTree(parsing: Array(all[19].utf8))["id"]?.text)
        #expect(try lines(run, "--id", id, "--id", other) == [all[7], all[19]])
        let first = try Kymo.run(["query", "--data", run.data, "--id", id, "--id", other, "--limit", "1"])
        let cursor = try #require(first.error.firstMatch(of: /--cursor (\S+)/)?.output.1)
        #expect(try first.lines == [all[7]] && lines(run, "--id", other, "--cursor", String(cursor)) == [all[19]])
        #expect(try run.command("export", "--id", id).lines == [all[7]])
    }
}
