import CommandSupport
import KymographTestKit
import Testing

/// `kymo query` and `kymo export`: what the archive has.
@Suite struct QueryTests {
    /// A store with two devices, ten minutes each, some of it late.
    private func filled() throws -> StoredRun {
        let run = StoredRun()
        let lines = Readings.heartRates(600) + Readings.heartRates(600, device: "watch-2")
        try run.run(lines.filter { !$0.contains("08:03:") })
        return run
    }

    /// Windows come latest first, and the readings of each in the order of their times.
    @Test func order() throws {
        let run = StoredRun()
        let lines = Readings.heartRates(180)
        try run.run((0..<3).flatMap { lines[$0 * 60..<$0 * 60 + 60].reversed() })
        let windows = try run.command("query").lines.map { try JSONTree(parsing: Array($0.utf8)) }
        let minutes = ["08:02", "08:01", "08:00"].map { "2026-03-01T\($0)" }
        #expect(windows.map { $0["effectivePeriod"]?["start"]?.text } == minutes.map { "\($0):00Z" })
        let readings = try run.command("query", "--readings").lines.map { try JSONTree(parsing: Array($0.utf8)) }
        let seconds = (0..<60).map { $0 < 10 ? "0\($0)" : "\($0)" }
        let expected = minutes.flatMap { minute in seconds.map { "\(minute):\($0)" } }
        #expect(readings.map { String($0["OccurrenceTimeUtc"]?.text?.prefix(19) ?? "") } == expected)
    }

    /// The Observations are those that were written as output, byte by byte.
    @Test func observations() throws {
        let run = try filled()
        let query = try run.command("query")
        #expect(query.end == .exit(0), "\(query.error)")
        #expect(query.lines.sorted() == run.written && query.lines.count == 18)
        let export = try run.command("export")
        #expect(export.end == .exit(0) && export.lines == query.lines)
        // What came late is shown as it was written: amended, and in its place.
        let before = Set(run.written)
        try run.run(
            ["08:03:10", "08:00:30"].map { time in
                Readings.heartRate(second: 0).replacing("08:00:00", with: time).replacing(":72", with: ":99")
            })
        let after = try run.command("query", "--device", "watch-1")
        #expect(Set(after.lines).subtracting(before).isSubset(of: Set(run.written)))
        #expect(after.lines.count == 10 && after.text.contains("\"amended\""))
    }

    @Test func filters() throws {
        let run = try filled()
        func count(_ arguments: String...) throws -> Int? {
            let done = try Kymo.run(["query", "--count", "--data", run.data] + arguments)
            return try JSONTree(parsing: done.output)["windows"]?.integer
        }
        #expect(try count() == 18)
        #expect(try count("--device", "watch-1") == 9 && count("--device", "watch-3") == 0)
        #expect(try count("--type", "heartRate") == 18 && count("--type", "steps") == 0)
        #expect(try count("--patient", "p") == 0)
        #expect(try count("--from", "2026-03-01T08:05:30Z") == 10)
        #expect(try count("--from", "2026-03-01T08:05:00Z", "--to", "2026-03-01T08:06:00Z") == 2)
        #expect(try count("--to", "2026-03-01T08:00:00Z") == 0)
        #expect(try count("--modified-from", "2026-03-01T08:00:00Z") == 18)
        #expect(try count("--modified-to", "2026-03-01T08:00:00Z") == 0)
    }

    /// A filter that is given twice means both values: the last one alone would hide what was asked for.
    @Test func repeatedFilters() throws {
        let run = try filled()
        try run.run(Readings.heartRates(60, device: "watch-3"))
        func count(_ arguments: String...) throws -> Int? {
            let done = try Kymo.run(["query", "--count", "--data", run.data] + arguments)
            return try JSONTree(parsing: done.output)["windows"]?.integer
        }
        #expect(try count("--device", "watch-1", "--device", "watch-3") == 10)
        #expect(try count("--type", "heartRate", "--type", "steps") == 19)
        #expect(try count("--type", "steps", "--type", "heartRate", "--device", "watch-3") == 1)
        #expect(try run.command("export", "--type", "heartRate", "--type", "steps").lines.count == 19)
        let devices = ["--device", "watch-3", "--device", "watch-1"]
        let ledger = try JSONTree(
            parsing: try Kymo.run(["ledger", "--data", run.data, "--format", "json"] + devices).output)
        #expect(ledger["series"]?.elements?.count == 2 && ledger["isComplete"]?.isTrue == true)
    }

    /// What was there already is no amendment: neither the Observation nor its version changes, and the duplicates are
    /// counted. A store that kept their receive times as a new revision would show it as `amended`.
    @Test func resentReadings() throws {
        let run = try filled()
        let (before, written) = (try run.command("query").lines, run.written)
        let ledger = try run.json("ledger", "--device", "watch-1", "--format", "json")["windows"]
        try run.run(Readings.heartRates(120))
        #expect(try run.command("query").lines == before && run.written == written)
        let windows = try run.json("ledger", "--device", "watch-1", "--format", "json")["windows"]?.elements ?? []
        for (window, former) in zip(windows, ledger?.elements ?? []) {
            #expect(window["revision"] == .number("1") && window["modified"] == former["modified"])
        }
        #expect(windows.first?["duplicate"]?.integer == 60)
        #expect(try run.command("ledger", "--verify").end == .exit(0))
        // The receive times are kept all the same: they decide what comes next.
        let received = try run.command("query", "--readings", "--device", "watch-1").lines
        let (first, last) = (received.last ?? "", received.first ?? "")
        #expect(Self.receipt(first) > Self.receipt(last), "\(first) \(last)")
    }

    private static func receipt(_ line: String) -> String {
        (try? JSONTree(parsing: Array(line.utf8)))?["IngestionTimeUtc"]?.text ?? ""
    }

    /// The tag of a type's template, with its system or without.
    @Test func tags() throws {
        let run = StoredRun()
        let device = """
            {"templateType":"CollectionContent","template":[{"templateType":"JsonPathContent","template":{
            "typeName":"a","typeMatchExpression":"$..[?(@a)]","deviceIdExpression":"$.d","timestampExpression":"$.t",
            "values":[{"valueName":"v","valueExpression":"$.a"}]}},{"templateType":"JsonPathContent","template":{
            "typeName":"b","typeMatchExpression":"$..[?(@b)]","deviceIdExpression":"$.d","timestampExpression":"$.t",
            "values":[{"valueName":"v","valueExpression":"$.b"}]}}]}
            """
        func template(_ type: String, _ rest: String) -> String {
            """
            {"templateType":"CodeValueFhir","template":{"typeName":"\(type)","codes":[{"system":"urn:x","code":"\(type)"}],
            "value":{"valueType":"Quantity","valueName":"v","unit":"mm","code":"mm"}\(rest)}}
            """
        }
        let tagged = template("a", ",\"tag\":[{\"system\":\"urn:study\",\"code\":\"research\"}]")
        let fhir = "{\"templateType\":\"CollectionFhir\",\"template\":[\(tagged),\(template("b", ""))]}"
        _ = run.folder.write("m/device.json", device)
        _ = run.folder.write("m/fhir.json", fhir)
        let mapping = ["--mapping", run.folder.file("m/")]
        let lines = ["a", "a", "b"].enumerated().map { index, type in
            "{\"d\":\"w\",\"t\":\"2026-03-01T08:00:0\(index)Z\",\"\(type)\":\(index)}"
        }
        try run.run(lines, mapping)
        for (tag, count) in [("research", 2), ("urn:study|research", 2), ("study", 0)] {
            let query = try Kymo.run(["query", "--data", run.data, "--tag", tag] + mapping)
            #expect(query.end == .exit(0) && query.lines.count == count, "\(tag): \(query.text) \(query.error)")
            let counted = try Kymo.run(["query", "--data", run.data, "--count", "--tag", tag] + mapping)
            let numbers = try JSONTree(parsing: counted.output)
            #expect(numbers["readings"]?.integer == count, "\(counted.text)")
            let exported = try Kymo.run(["export", "--data", run.data, "--tag", tag] + mapping)
            #expect(exported.end == .exit(0) && exported.lines == query.lines, "\(tag): \(exported.error)")
            let csv = try Kymo.run(["export", "--data", run.data, "--format", "csv", "--tag", tag] + mapping)
            // A line of names comes first.
            #expect(csv.end == .exit(0) && csv.lines.count == count + 1, "\(tag): \(csv.text) \(csv.error)")
        }
        // A reading may have the tag whatever the templates say: what cannot be written is there.
        let unfit = try run.command("query", "--tag", "research")
        #expect(unfit.end == .exit(78) && unfit.error.contains("no template for a, b"), "\(unfit.error)")
        // What is not asked for need not be written.
        let other = "{\"d\":\"x\",\"t\":\"2026-03-01T09:00:00Z\",\"b\":1}"
        try run.run([other], mapping)
        let half = run.folder.write("half/fhir.json", "{\"templateType\":\"CollectionFhir\",\"template\":[\(tagged)]}")
        _ = run.folder.write("half/device.json", device)
        let lacking = ["--mapping", String(half.dropLast("fhir.json".count))]
        for (options, end) in [
            (["--tag", "research"], 78), (["--tag", "research", "--device", "x"], 78),
            (["--tag", "research", "--to", "2026-03-01T08:00:02Z"], 0), (["--to", "2026-03-01T08:00:02Z"], 0),
            (["--tag", "research", "--type", "a"], 0), (["--device", "y"], 0),
        ] as [([String], Int32)] {
            let done = try Kymo.run(["query", "--data", run.data] + options + lacking)
            #expect(done.end == .exit(end), "\(options) \(done.error)")
            let isOfB = done.error.contains("no template for b:")
            #expect(isOfB == (end == 78) && done.lines.count == (end == 0 && !options.contains("y") ? 2 : 0))
        }
        let readings = try run.command("query", "--tag", "research", "--readings")
        #expect(readings.end == .exit(0) && readings.lines.isEmpty, "\(readings.error)")
    }

    /// Readings that gave no Observation, because their template has none of what they have, are passed over.
    @Test func readingsWithoutObservation() throws {
        let run = StoredRun()
        _ = run.folder.write(
            "m/device.json",
            """
            {"templateType":"CollectionContent","template":[{"templateType":"JsonPathContent","template":{
            "typeName":"a","typeMatchExpression":"$..[?(@u)]","deviceIdExpression":"$.d","timestampExpression":"$.t",
            "values":[{"valueName":"v","valueExpression":"$.v","required":false},
            {"valueName":"u","valueExpression":"$.u"}]}}]}
            """)
        _ = run.folder.write(
            "m/fhir.json",
            """
            {"templateType":"CollectionFhir","template":[{"templateType":"CodeValueFhir","template":{"typeName":"a",
            "codes":[{"system":"urn:x","code":"a"}],"value":{"valueType":"Quantity","valueName":"v"}}}]}
            """)
        let mapping = ["--mapping", run.folder.file("m/")]
        let lines = [",\"v\":1", "", ",\"v\":2"].enumerated().map { index, value in
            "{\"d\":\"w\",\"t\":\"2026-03-01T08:00:0\(index)Z\",\"u\":1\(value)}"
        }
        #expect(try run.run(lines, mapping).error.contains("rejected: missingValue 1"))
        for command in ["query", "export"] {
            let done = try Kymo.run([command, "--data", run.data] + mapping)
            #expect(done.end == .exit(0) && done.lines.count == 2, "\(command): \(done.error)")
        }
    }

    /// Pages have every window once, also when windows come in between them.
    @Test(arguments: [1, 4, 7])
    func pages(limit: Int) throws {
        let run = try filled()
        let all = try run.command("query", "--device", "watch-1").lines
        var lines: [String] = []
        var cursor: [String] = []
        repeat {
            let page = try Kymo.run(
                ["query", "--data", run.data, "--device", "watch-1", "--limit", "\(limit)"] + cursor)
            #expect(page.end == .exit(0) && page.lines.count <= limit)
            if lines.isEmpty { try run.run([Readings.heartRate(second: 3_000)]) }
            lines += page.lines
            cursor = page.error.firstMatch(of: /--cursor (\S+)/).map { ["--cursor", String($0.1)] } ?? []
        } while !cursor.isEmpty
        #expect(lines == all)
        #expect(try run.command("query", "--cursor", "what").end == .exit(64))
    }

    @Test func readings() throws {
        let run = try filled()
        let span = ["--from", "2026-03-01T08:01:30Z", "--to", "2026-03-01T08:01:40Z", "--device", "watch-2"]
        let done = try Kymo.run(["query", "--data", run.data, "--readings"] + span)
        let readings = try done.lines.map { try JSONTree(parsing: Array($0.utf8)) }
        #expect(readings.count == 10 && readings.allSatisfy { $0["DeviceId"]?.text == "watch-2" })
        #expect(readings.first?["OccurrenceTimeUtc"]?.text?.hasPrefix("2026-03-01T08:01:30") == true)
        let table = try Kymo.run(["query", "--data", run.data, "--readings", "--format", "table"] + span)
        #expect(table.lines.count == 11 && table.lines[0].hasPrefix("TIME"))
        let windows = try run.command("query", "--format", "table", "--device", "watch-2")
        #expect(windows.lines.count == 10 && windows.lines[1].contains("2026-03-01T08:09:00Z"))
    }

    @Test func csv() throws {
        let run = try filled()
        let done = try run.command("export", "--format", "csv", "--device", "watch-1")
        #expect(done.end == .exit(0))
        let rows = done.lines.map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
        #expect(rows.count == 541 && Set(rows.map(\.count)).count == 1)
        #expect(Array(rows[0].prefix(4)) == ["time", "received", "type", "device"])
        let column = try #require(rows[0].firstIndex(of: "beatsPerMinute"))
        let values = Dictionary(uniqueKeysWithValues: rows.dropFirst().map { ($0[0], $0[column]) })
        #expect(values["2026-03-01T08:00:05Z"] == "65" && values.count == 540)
    }

    /// Types of mappings that are not named cannot be written, and the command says so.
    @Test func withoutTheMapping() throws {
        let run = StoredRun()
        run.folder.write("mine/device.json", MappingText.device)
        run.folder.write("mine/fhir.json", MappingText.fhir)
        let mapping = "\(run.folder.path)/mine"
        try run.run([MappingText.reading], ["--mapping", mapping])
        let done = try run.command("query")
        #expect(done.end == .exit(78) && done.error.contains("pulse") && done.error.contains("--mapping"))
        #expect(try run.command("query", "--mapping", mapping).lines == run.written)
        #expect(try run.command("query", "--readings").lines.count == 1)
    }
}
