import CommandSupport
import KymographTestKit
import Testing

/// Several readings of one instant, corrected readings and readings that move, as `kymo run` and `kymo ledger` show them.
@Suite struct SupersededTests {
    private static func steps(_ value: Int, from start: String, to end: String = "08:01:00", id: String? = nil)
        -> String
    {
        let id = id.map { ",\"id\":\"\($0)\"" } ?? ""
        return """
            {"deviceId":"watch-1","type":"steps","timestamp":"2026-03-01T\(end)Z","start":"2026-03-01T\(start)Z",\
            "value":\(value),"unit":"{steps}"\(id)}
            """
    }

    private static func weight(_ value: Double) -> String {
        """
        {"deviceId":"scale-1","type":"bodyMass","timestamp":"2026-03-01T08:00:00Z","value":\(value),"unit":"kg"}
        """
    }

    /// The last version of each Observation that was written, by identity.
    private static func observations(_ run: StoredRun) throws -> [JSONTree] {
        var reader = BundleReader()
        for name in Files.names(run.output).filter({ $0.hasSuffix(".ndjson") }).sorted() {
            try reader.read(ndjson: Files.read("\(run.output)/\(name)"))
        }
        return Array(reader.observations.values)
    }

    private static func values(_ run: StoredRun) throws -> [JSONTree?] {
        try observations(run).map { $0["valueQuantity"]?["value"] }
    }

    /// Catches: the start of an interval is no part of what tells readings apart (50 and 7 gave 7).
    @Test func stepsOfTwoIntervalsWithOneEndAreAdded() throws {
        let run = StoredRun()
        let done = try run.run([Self.steps(50, from: "08:00:00"), Self.steps(7, from: "08:00:30")])
        #expect(done.balance?.accepted == 2, "\(done.error)")
        #expect(try Self.values(run) == [.number("57")])
    }

    /// Catches: readings of other ids that one time makes one, and readings of one id that count twice.
    @Test func idsTellReadingsOfOneTimeApart() throws {
        let run = StoredRun()
        let done = try run.run([
            Self.steps(50, from: "08:00:00", id: "a"), Self.steps(50, from: "08:00:00", id: "b"),
            Self.steps(50, from: "08:00:00", id: "b"), Self.steps(43, from: "08:00:00", id: "b"),
        ])
        let balance = try #require(done.balance)
        #expect(balance.isClosed && balance.accepted == 2 && balance.duplicate == 1, "\(done.error)")
        #expect(balance.reasons == ["superseded": 1])
        #expect(try Self.values(run) == [.number("93")])
    }

    /// Catches: a series that gives two readings of one time two times (70 71 75 at 5, 10, 15 s), or lacks one.
    @Test(arguments: [[5], [5, 10, 20]]) func aSeriesKeepsBothReadingsOfOneTime(seconds: [Int]) throws {
        let run = StoredRun()
        let lines = seconds.map { Readings.heartRate(second: $0, value: 65 + $0) }
        try run.run(lines + [Readings.heartRate(second: 5, value: 71)])
        let one = try #require(try Self.observations(run).first)
        let series = one["component"]?.elements?.compactMap { $0["valueSampledData"] }.first
        #expect(series?["data"]?.text == "70 71" + seconds.dropFirst().map { " \(65 + $0)" }.joined())
        let offsets = series?["extension"]?.elements?.compactMap { $0["valueString"]?.text }.first
        #expect(offsets == "0 0" + seconds.dropFirst().map { " \(($0 - 5) * 1_000)" }.joined())
    }

    /// Catches: a replaced reading that is gone without a letter, a span that is plainly complete with one, and letters
    /// that take the place of newer readings when they are replayed.
    @Test func whatIsReplacedIsALetterAndSaid() throws {
        let run = StoredRun()
        let done = try run.run([Self.weight(70.5), Self.weight(71.5)])
        #expect(done.balance?.isClosed == true && done.balance?.reasons == ["superseded": 1], "\(done.error)")
        #expect(try Self.values(run) == [.number("71.5")])
        func ledger(_ arguments: String...) throws -> Kymo.Finished {
            try Kymo.run(["ledger", "--data", run.data, "--device", "scale-1"] + arguments)
        }
        let plain = try ledger()
        #expect(plain.end == .exit(0) && plain.lines.last == "complete, 1 superseded", "\(plain.text)")
        #expect(try ledger("--strict").end == .exit(65))
        let json = try JSONTree(parsing: try ledger("--format", "json").output)
        #expect(json["completeness"] == .string("complete, 1 superseded") && json["superseded"]?.integer == 1)
        let verified = try run.command("ledger", "--verify")
        #expect(verified.end == .exit(0), "\(verified.error)")
        let letters = try Kymo.run(["dead", "show", "1", "--data", run.data])
        #expect(letters.text.contains("superseded") && letters.text.contains("NzAuNSJ9XSwi"), "\(letters.text)")
        let replay = try Kymo.run([
            "dead", "replay", "--all", "--data", run.data, "--out", run.output, "--format", "ndjson",
        ])
        #expect(
            replay.end == .exit(65) && replay.error.contains("letter 1: rejected again: superseded"), "\(replay.error)")
        #expect(try Self.values(run) == [.number("71.5")])
        #expect(try run.command("ledger", "--verify").end == .exit(0))
        #expect(try ledger().lines.last == "complete, 1 superseded")
        #expect(try run.command("dead", "list", "--all").lines.count == 2)
    }

    /// Catches: a rejection that is counted in the hour of its receipt, so that the span of a reading that came late is
    /// complete without it.
    @Test(arguments: ["bodyMass", "heartRate"]) func aSpanOfLongAgoNamesWhatItLacks(type: String) throws {
        let run = StoredRun()
        let lines = [
            Self.weight(70.5), Self.weight(71.5), Readings.heartRate(second: 0), Readings.heartRate(second: 1),
        ]
        let done = try run.run(
            lines.map { $0.replacing("2026-03-01", with: "2025-03-01") },
            ["--config", run.folder.write("kymo.yaml", "limits: {readingsPerWindow: 1}")])
        #expect(done.balance?.reasons == ["superseded": 1, "tooManyReadings": 1], "\(done.error)")
        func ledger(_ hour: String, _ arguments: String...) throws -> Kymo.Finished {
            try Kymo.run(
                [
                    "ledger", "--data", run.data, "--device", type == "bodyMass" ? "scale-1" : "watch-1",
                    "--from", "2025-03-01T\(hour):00:00Z", "--to", "2025-03-01T\(hour):05:00Z",
                ] + arguments)
        }
        let span = try ledger("08", "--strict")
        let last =
            type == "bodyMass"
            ? "complete, 1 superseded" : "  watch-1 heartRate: 1 reading was rejected: tooManyReadings"
        #expect(span.end == .exit(65) && span.lines.last == last, "\(span.text)")
        #expect(try ledger("08").end == .exit(type == "bodyMass" ? 0 : 65))
        // Of other hours there is nothing.
        let other = try JSONTree(parsing: try ledger("10", "--format", "json").output)
        #expect(other["superseded"]?.integer == 0 && other["series"]?.elements?.isEmpty == true, "\(other)")
    }

    /// Catches: `--strict` that is never content.
    @Test func aSpanWithoutSuchReadingsIsComplete() throws {
        let run = StoredRun()
        try run.run([Self.weight(70.5), Self.weight(70.5)])
        let done = try Kymo.run(["ledger", "--data", run.data, "--device", "scale-1", "--strict"])
        #expect(done.end == .exit(0) && done.lines.last == "complete", "\(done.text)")
    }

    /// Catches: a process that ends, and again at every start, because a summary has no reading any more.
    @Test func aReadingLeavesASummaryOfGlucose() throws {
        let folder = TemporaryFolder()
        _ = folder.write("cgm/device.json", Self.glucoseDevice)
        _ = folder.write("cgm/fhir.json", Self.glucoseSummary)
        let run = StoredRun()
        func send(_ day: Int) throws -> Kymo.Finished {
            try run.run(
                [#"{"d":"cgm-1","t":"2026-03-0\#(day)T08:00:00Z","id":"a","g":100}"#],
                ["--mapping", folder.file("cgm") + "/"])
        }
        #expect(try send(1).end == .exit(0))
        let done = try send(2)
        #expect(done.end == .exit(0) && done.balance?.isClosed == true, "\(done.error)")
        let statuses = try Self.observations(run).compactMap { $0["status"]?.text }.sorted()
        let expected = Array(repeating: "entered-in-error", count: 7) + Array(repeating: "final", count: 7)
        #expect(statuses == expected)
    }

    private static let glucoseDevice = """
        {"templateType":"CollectionContent","template":[{"templateType":"JsonPathContent","template":{
          "typeName":"day","typeMatchExpression":"$..[?(@g)]","deviceIdExpression":"$.d","timestampExpression":"$.t",
          "readingIdExpression":"$.id","values":[{"valueName":"glucose","valueExpression":"$.g","required":true}]}}]}
        """

    private static let glucoseSummary = """
        {"templateType":"CollectionFhir","template":[{"templateType":"GlucoseSummaryFhir","template":{
          "typeName":"day","period":"1d","valueName":"glucose","unit":"mg/dL","samplePeriod":"5m"}}]}
        """

    /// Catches: a reading that another run brings again at another time, and that stays in the window of the first.
    @Test func aReadingMovesAcrossRuns() throws {
        let run = StoredRun()
        try run.run([Self.steps(50, from: "08:00:00", id: "a")])
        let done = try run.run([Self.steps(50, from: "09:00:00", to: "09:01:00", id: "a")])
        #expect(done.balance?.isClosed == true, "\(done.error)")
        let observations = try Self.observations(run)
        let statuses = observations.compactMap { $0["status"]?.text }.sorted()
        #expect(statuses == ["entered-in-error", "final"], "\(statuses)")
        let empty = observations.first { $0["status"]?.text == "entered-in-error" }
        #expect(empty?["valueQuantity"] == nil && empty?["component"] == nil && empty?["code"] != nil)
        #expect(try run.command("ledger", "--verify").end == .exit(0))
        let ledger = try run.json("ledger", "--device", "watch-1", "--format", "json")
        #expect(ledger["balance"]?["accepted"]?.integer == 1)
        #expect(ledger["completeness"]?.text == "complete, 1 superseded")
        // What was superseded stays so, although nothing is at its time any more.
        let replay = try Kymo.run([
            "dead", "replay", "--all", "--data", run.data, "--out", run.output, "--format", "ndjson", "--window", "1m",
        ])
        #expect(replay.end == .exit(65), "\(replay.error)")
        #expect(try run.command("ledger", "--verify").end == .exit(0))
        // The archive shows both as they were sent.
        for command in ["query", "export"] {
            let shown = try run.command(command, "--device", "watch-1")
            #expect(Set(shown.lines) == Set(run.written.filter { !$0.contains("\"value\":50") || $0.contains("09:0") }))
        }
    }

    private static let halves = """
        {"templateType":"CollectionContent","template":[
         {"templateType":"JsonPathContent","template":{"typeName":"both","typeMatchExpression":"$..[?(@a)]",
          "deviceIdExpression":"$.d","timestampExpression":"$.t",
          "values":[{"valueName":"a","valueExpression":"$.a"}]}},
         {"templateType":"JsonPathContent","template":{"typeName":"both","typeMatchExpression":"$..[?(@b)]",
          "deviceIdExpression":"$.d","timestampExpression":"$.t",
          "values":[{"valueName":"b","valueExpression":"$.b"}]}}]}
        """

    private static func fhir(_ members: String) -> String {
        """
        {"templateType":"CollectionFhir","template":[{"templateType":"CodeValueFhir","template":{
          "typeName":"both",\(members),"codes":[{"system":"urn:example","code":"both"}],
          "components":[
            {"codes":[{"system":"urn:example","code":"a"}],"value":{"valueType":"Quantity","valueName":"a","unit":"1"}},
            {"codes":[{"system":"urn:example","code":"b"}],"value":{"valueType":"Quantity","valueName":"b","unit":"1"}}
          ]}}]}
        """
    }

    /// What two templates give of one payload is one reading. Catches: values of two payloads in one Observation, and
    /// half a payload that takes the place of the other half.
    @Test(arguments: [
        ("none", "instance"), ("iomt-fhir", "instance"), ("iomt-fhir", "1h"), ("iomt-fhir", "correlation"),
    ])
    func valuesOfTwoPayloadsAreNeverMixed(compatibility: String, period: String) throws {
        let run = StoredRun()
        let correlation = period == "correlation" ? #""correlationIdExpression":"$.d","# : ""
        run.folder.write("mine/device.json", Self.halves.replacing("\"values\"", with: "\(correlation)\"values\""))
        run.folder.write("mine/fhir.json", Self.fhir("\"period\":\"\(period)\""))
        func line(_ values: String) -> String { "{\"d\":\"x\",\"t\":\"2026-03-01T08:00:00Z\",\(values)}" }
        func components() throws -> [JSONTree?] {
            let one = try #require(try Self.observations(run).first)
            return (one["component"]?.elements ?? []).map { $0["valueQuantity"]?["value"] }
        }
        let mapping = ["--mapping", "\(run.folder.path)/mine", "--compatibility", compatibility]
        try run.run([line("\"a\":1,\"b\":2")], mapping)
        #expect(try components() == [.number("1"), .number("2")])
        let done = try run.run([line("\"a\":3,\"b\":2"), line("\"a\":4")], mapping)
        #expect(try components() == [.number("4")])
        #expect(done.balance?.reasons == ["superseded": 2], "\(done.error)")
    }

    /// Catches: a FHIR template that would give several Observations one identity.
    @Test func keepingReadingsThatNobodyCanTellApartIsRefused() throws {
        let folder = TemporaryFolder()
        folder.write("mine/device.json", Self.halves)
        folder.write("mine/fhir.json", Self.fhir("\"period\":\"instance\",\"sameInstant\":\"keep\""))
        let done = try Kymo.run(["check", "--mapping", folder.file("mine")])
        #expect(done.end == .exit(78) && done.error.contains("readingIdExpression"), "\(done.error) \(done.text)")
        folder.write("mine/fhir.json", Self.fhir("\"period\":\"1m\",\"sameInstant\":\"keep\""))
        #expect(try Kymo.run(["check", "--mapping", folder.file("mine")]).end == .exit(0))
    }
}
