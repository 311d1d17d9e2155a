import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// `--open` of `kymo query` and `kymo export`: windows that have not closed yet.
@Suite struct OpenWindowQueryTests {
    private let run = StoredRun()

    /// An instance that closes no window by itself.
    private func start(_ arguments: [String] = []) throws -> ChildProcess {
        try Kymo.start(
            [
                "run", "--unix", run.folder.file("a.sock"), "--data", run.data, "--out", run.output, "--format",
                "ndjson", "--window", "1m", "--lateness", "1h", "--idle", "0s",
            ] + arguments, environment: ["KYMO_LATE_HOLD": "1h"])
    }

    private func send(_ lines: [String], to instance: ChildProcess) throws {
        let (address, before) = (try instance.addresses()[0], try count("--open")["readings"]?.integer ?? 0)
        try Sending.send(lines: lines, to: address)
        try Waiting.until("the readings") {
            try count("--open")["readings"]?.integer == before + lines.count
        }
    }

    private func count(_ arguments: String...) throws -> JSONTree {
        try JSONTree(parsing: try Kymo.run(["query", "--count", "--data", run.data] + arguments).output)
    }

    private func lines(_ arguments: String...) throws -> [String] {
        let done = try Kymo.run(arguments + ["--data", run.data])
        #expect(done.end == .exit(0) && done.error.isEmpty, "\(done.error)")
        return done.lines
    }

    private func statuses(_ lines: [String]) throws -> [String] {
        try lines.map { try JSONTree(parsing: Array($0.utf8))["status"]?.text ?? "" }
    }

    /// A run that has ended, and an instance with two open windows: a new one, and one that was written before.
    private func opened() throws -> ChildProcess {
        try run.run(Readings.heartRates(120).filter { !$0.contains("08:00:3") })
        let instance = try start()
        let late = (30..<40).map { Readings.heartRate(second: $0, value: 99) }
        let new = (0..<20).map { Readings.heartRate(second: 60 + $0, device: "watch-2") }
        try send(late + new, to: instance)
        return instance
    }

    /// What is open is shown as what it becomes, with another status, and each reading once; nothing else changes.
    @Test func ofARunningInstance() throws {
        let instance = try opened()
        let closed = try lines("query")
        #expect(try statuses(closed) == ["final", "final"])
        let open = try lines("query", "--open")
        // Latest start first, and of one start the series that came last.
        #expect(try statuses(open) == ["preliminary", "final", "preliminary"])
        #expect(open[1] == closed[0])
        #expect(try lines("export", "--open") == open)
        #expect(try lines("query", "--count", "--open") == [#"{"windows":3,"readings":140,"openWindows":2}"#])
        #expect(try lines("query", "--count") == [#"{"windows":2,"readings":110}"#])
        // Asked twice, or by hand, nothing has closed.
        #expect(try lines("query", "--open") == open && lines("query") == closed)
        let readings = try lines("query", "--open", "--readings")
        #expect(readings.count == 140 && Set(readings).count == 140)
        #expect(try lines("query", "--readings").count == 110)
        let rows = try lines("export", "--open", "--format", "csv")
        #expect(rows.count == 141 && Set(rows).count == 141)
        let table = try lines("query", "--open", "--format", "table")
        #expect(table[1].contains(" open ") && table[3].contains(" 1, open "), "\(table)")
        #expect(try Kymo.run(["flush", "--data", run.data]).end == .exit(0))
        let flushed = try lines("query")
        #expect(try statuses(flushed) == ["final", "final", "amended"])
        let expected = flushed.map {
            $0.replacing(#""status":"amended""#, with: #""status":"preliminary""#)
        }
        #expect(expected[1] == open[1] && expected[2] == open[2])
        #expect(flushed[0].replacing(#""status":"final""#, with: #""status":"preliminary""#) == open[0])
        #expect(try lines("query", "--open") == flushed)
        #expect(try instance.terminate().end == .exit(0))
    }

    /// What a killed instance has left: it is shown before the next start as after it.
    @Test func ofAKilledInstance() throws {
        let instance = try opened()
        let (open, readings) = (try lines("query", "--open"), try lines("query", "--open", "--readings"))
        instance.signal(SIGKILL)
        #expect(try instance.wait() == .signal(SIGKILL))
        #expect(try lines("query", "--open") == open && lines("query", "--open", "--readings") == readings)
        let next = try start()
        _ = try next.addresses()
        #expect(try lines("query", "--open") == open && lines("query", "--open", "--readings") == readings)
        #expect(try next.terminate().end == .exit(0))
        // It closes what is open when it ends.
        #expect(try statuses(lines("query", "--open")) == ["final", "final", "amended"])
        #expect(try lines("query", "--count", "--open") == [#"{"windows":3,"readings":140,"openWindows":0}"#])
    }

    /// The filters are those of closed windows, and a cursor goes on through windows of both sorts.
    @Test func filtersAndCursor() throws {
        let instance = try opened()
        let patients = ["\u{E9}", "e\u{301}"].map { patient in
            Readings.heartRate(second: 200, device: "watch-3").replacing(
                "{\"", with: "{\"patientId\":\"\(patient)\",\"")
        }
        try send(patients, to: instance)
        let all = try lines("query", "--open")
        #expect(all.count == 5)
        // Identifiers are bytes.
        for patient in ["\u{E9}", "e\u{301}"] {
            let found = try lines("query", "--open", "--patient", patient)
            #expect(found.count == 1 && found[0].utf8.contains(patient.utf8))
        }
        #expect(try lines("query", "--open", "--patient", "e").isEmpty)
        #expect(try lines("query", "--open", "--device", "watch-2") == [all[2]])
        #expect(try lines("query", "--open", "--device", "watch-1") == Array(all[3...]))
        #expect(try lines("query", "--open", "--to", "2026-03-01T08:01:00Z") == [all[4]])
        #expect(try lines("query", "--open", "--from", "2026-03-01T08:01:30Z") == Array(all[...1]) + [all[3]])
        #expect(try lines("query", "--open", "--type", "steps").isEmpty)
        #expect(try lines("query", "--open", "--source", "stdin") == Array(all[3...]))
        #expect(try lines("query", "--open", "--modified-to", "2026-03-01T08:00:00Z").isEmpty)
        #expect(try lines("query", "--open", "--tag", "none").isEmpty)
        let id = try #require(try JSONTree(parsing: Array(all[4].utf8))["id"]?.text)
        #expect(try lines("query", "--open", "--id", id) == [all[4]])
        var (paged, cursor) = ([String](), [String]())
        for _ in 0..<10 {
            let page = try Kymo.run(["query", "--open", "--limit", "1", "--data", run.data] + cursor)
            paged += page.lines
            guard let next = page.error.firstMatch(of: /--cursor (\S+)/)?.output.1 else { break }
            cursor = ["--cursor", String(next)]
        }
        #expect(paged == all)
        #expect(try instance.terminate().end == .exit(0))
    }

    /// What the next start would reject is not shown as if it were there, and is told; so is a journal that is damaged.
    @Test func whatIsLeftOut() throws {
        let instance = try opened()
        instance.signal(SIGKILL)
        #expect(try instance.wait() == .signal(SIGKILL))
        let whole = try lines("query", "--open")
        try run.change("UPDATE series SET dropped_through = 9000000000000000000 WHERE device = 'watch-2'")
        let query = try run.command("query", "--open")
        #expect(query.lines == Array(whole[1...]))
        let told = "readings of the journal that the next start would reject are left out: archiveEvicted 20\n"
        #expect(query.error == "kymo: \(told)")
        let count = try run.command("query", "--open", "--count")
        #expect(count.lines == [#"{"windows":2,"readings":120,"openWindows":1}"#] && count.error.hasSuffix(told))
        #expect(try run.command("export", "--open").error.hasSuffix(told))
        #expect(try run.command("query").error.isEmpty)
        try run.change("UPDATE journal SET checksum = checksum - 1")
        let damaged = try run.command("query", "--open")
        #expect(damaged.lines == (try lines("query")))
        #expect(damaged.error.hasSuffix("of the journal cannot be read: open windows may lack readings\n"))
    }

    /// Single readings were sent when they came: only their window waits, and they are as final in it as without it.
    @Test func singleReadings() throws {
        let device = """
            {"templateType":"CollectionContent","template":[{"templateType":"JsonPathContent","template":{
            "typeName":"spot","typeMatchExpression":"$..[?(@spot)]","deviceIdExpression":"$.d",
            "timestampExpression":"$.t","values":[{"valueName":"v","valueExpression":"$.spot"}]}}]}
            """
        let fhir = """
            {"templateType":"CollectionFhir","template":[{"templateType":"CodeValueFhir","template":{
            "typeName":"spot","period":"instance","codes":[{"system":"urn:x","code":"spot"}],
            "value":{"valueType":"Quantity","valueName":"v","unit":"mm","code":"mm"}}}]}
            """
        _ = run.folder.write("m/device.json", device)
        _ = run.folder.write("m/fhir.json", fhir)
        let mapping = ["--mapping", run.folder.file("m/")]
        try run.run([], mapping)
        let instance = try start(mapping)
        try send((0..<3).map { #"{"d":"w","t":"2026-03-01T08:00:0\#($0)Z","spot":\#($0 + 1)}"# }, to: instance)
        let query = ["query", "--open", "--data", run.data]
        let open = try Kymo.run(query + mapping).lines
        #expect(try statuses(open) == ["final", "final", "final"])
        // Of a type that the mappings do not write nothing is kept silent.
        let unfit = try Kymo.run(query)
        #expect(unfit.end == .exit(78) && unfit.error.contains("no template for spot"), "\(unfit.error)")
        #expect(try Kymo.run(["query", "--data", run.data]).end == .exit(0))
        #expect(try instance.terminate().end == .exit(0))
        #expect(run.written == open.sorted())
        #expect(try Kymo.run(query + mapping).lines == open)
    }
}

extension Sequence<UInt8> {
    fileprivate func contains(_ other: some Sequence<UInt8>) -> Bool {
        let (bytes, wanted) = (Array(self), Array(other))
        return bytes.indices.contains { bytes[$0...].starts(with: wanted) }
    }
}
