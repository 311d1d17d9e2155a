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
            let absent = try Kymo.run(["query", "--data", run.data, "--id", name])
            #expect(absent.end == .exit(65) && absent.output.isEmpty)
            let message =
                "kymo: the store has no Observation with the id or identifier '\(name)'; --open looks at open windows, "
                + "too\n"
            #expect(absent.error == message)
        }
        let other = try #require(try JSONTree(parsing: Array(all[19].utf8))["id"]?.text)
        #expect(try lines(run, "--id", id, "--id", other) == [all[7], all[19]])
        let first = try Kymo.run(["query", "--data", run.data, "--id", id, "--id", other, "--limit", "1"])
        let cursor = try #require(first.error.firstMatch(of: /--cursor (\S+)/)?.output.1)
        #expect(try first.lines == [all[7]] && lines(run, "--id", other, "--cursor", String(cursor)) == [all[19]])
        #expect(try run.command("export", "--id", id).lines == [all[7]])
        let absent = try Kymo.run(["export", "--data", run.data, "--id", id, "--id", "x"])
        #expect(absent.end == .exit(65) && absent.lines == [all[7]], "\(absent.error)")
        #expect(absent.error.contains("no Observation with the id or identifier 'x'"), "\(absent.error)")
        let folder = run.folder.file("bulk")
        let bulk = try Kymo.run(["export", "--data", run.data, "--format", "bulk", "--out", folder, "--id", "x"])
        #expect(bulk.end == .exit(65) && Files.names(folder) == ["manifest.json"], "\(bulk.error)")
    }

    /// Ids that nothing has are named, beside what was found; the texts write no line and command no terminal.
    @Test func idsThatNothingHas() throws {
        let run = StoredRun()
        try run.run(Readings.heartRates(180))
        let all = try lines(run)
        let id = try #require(try JSONTree(parsing: Array(all[1].utf8))["id"]?.text)
        let hostile = "x\n\u{1B}[2Jy"
        let both = try Kymo.run(["query", "--data", run.data, "--id", hostile, "--id", id, "--id", "z", "--open"])
        #expect(both.end == .exit(65) && both.lines == [all[1]], "\(both.error)")
        let message = "kymo: the store has no Observation with the id or identifier 'x\\u000a\\u001b[2Jy', 'z'\n"
        #expect(both.error == message)
        // What is there, and not among what else is asked for.
        for option in [["--device", "watch-9"], ["--from", "2026-03-02T00:00:00Z"], ["--type", "heartRate"]] {
            let done = try Kymo.run(["query", "--data", run.data, "--open", "--id", id] + option)
            let isThere = option[0] == "--type"
            #expect(done.end == .exit(isThere ? 0 : 65) && done.lines == (isThere ? [all[1]] : []), "\(done.error)")
            #expect(
                done.error.contains("'\(id)', among the windows that the other options select\n") == !isThere,
                "\(done.error)")
        }
        let raw = try Kymo.run(["query", "--data", run.data, "--raw", "--id", "z"])
        #expect(raw.end == .exit(65) && raw.error.contains("with the id or identifier 'z'"), "\(raw.error)")
        // What is behind a limit may have it, and so may what was before a cursor.
        let first = try Kymo.run(["query", "--data", run.data, "--limit", "1"])
        let cursor = try #require(first.error.firstMatch(of: /--cursor (\S+)/)?.output.1)
        let ids = try all.map { try #require(try JSONTree(parsing: Array($0.utf8))["id"]?.text) }
        #expect(ids.count == 3)
        let many = (ids + ["z"]).flatMap { ["--id", $0] } + ["--limit", "1"]
        for part in [["--id", ids[0], "--cursor", String(cursor)], many] {
            let done = try Kymo.run(["query", "--data", run.data] + part)
            #expect(done.end == .exit(0) && !done.error.contains("has no Observation"), "\(part): \(done.error)")
        }
    }

    /// Of an Observation with this id, its own template is enough, and so it is for its payload. What is not found may
    /// be of the type that has none.
    @Test func idsOfOneTypeOfTwo() throws {
        let run = StoredRun()
        run.folder.write("mine/device.json", MappingText.device)
        run.folder.write("mine/fhir.json", MappingText.fhir)
        let config = ["--config", run.folder.write("kymo.yaml", "store: {keepRaw: 30d}\n")]
        let mapping = ["--mapping", "\(run.folder.path)/mine"]
        let reading = MappingText.reading
        try run.run(Readings.heartRates(60), config)
        try run.run([reading], mapping + config)
        func query(_ arguments: [String]) throws -> Kymo.Finished {
            try Kymo.run(["query", "--data", run.data] + mapping + arguments)
        }
        let pulses = try query(["--type", "pulse"]).lines
        let pulse = try #require(pulses.first)
        let id = try #require(try JSONTree(parsing: Array(pulse.utf8))["id"]?.text)
        let found = try query(["--id", id])
        #expect(found.end == .exit(0) && found.lines == pulses && pulses.count == 1, "\(found.error)")
        let raw = try query(["--raw", "--id", id])
        #expect(raw.end == .exit(0) && raw.lines.count == 1, "\(raw.error)")
        #expect(try JSONTree(parsing: Array(raw.output))["payload"]?.text == reading, "\(raw.text)")
        // Without an id no template is needed for payloads.
        let all = try Kymo.run(["query", "--raw", "--data", run.data])
        #expect(all.end == .exit(0) && all.lines.count == 61, "\(all.error)")
        for lost in [["--id", "x"], ["--id", id, "--id", "x"], ["--raw", "--id", "x"]] {
            let done = try query(lost)
            #expect(done.end == .exit(78) && done.error.contains("no template for heartRate:"), "\(done.error)")
            #expect(done.lines.count == (lost.contains(id) ? 1 : 0), "\(done.text)")
        }
        let ofType = try query(["--id", "x", "--type", "pulse"])
        #expect(ofType.end == .exit(65) && ofType.lines.isEmpty, "\(ofType.error)")
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
