import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// What `postgres:` sinks store, beside what `kymo export` says of the same readings.
@Suite(.serialized, .enabled(if: PostgresServer.isInstalled, "needs the package postgresql-15"))
struct PostgresRowsTests {
    /// Nanoseconds since 1970 of a time as `kymo` writes it.
    private static func nanoseconds(_ column: String) -> String {
        """
        (extract(epoch FROM (left(\(column), 19) || 'Z')::timestamptz)::bigint * 1000000000
            + rpad(coalesce(substring(\(column) FROM '\\.(\\d+)Z'), ''), 9, '0')::bigint)
        """
    }

    /// Rows of `kymo decode --values`, which reads Observations with a reader of its own, and those of the tables: what
    /// only one of them has.
    private func differences(_ run: PostgresRun, _ mapping: [String]) throws -> [String] {
        let observations = run.folder.write("observations.ndjson", try run.exported(mapping))
        let decoded = try Kymo.run(["decode", "--values", observations])
        #expect(decoded.end == .exit(0), "\(decoded.error)")
        let csv = run.folder.write("decoded.csv", decoded.text)
        try run.server.query(
            """
            CREATE TABLE oracle (observation text, identifier text, patient text, device text, code text, component text,
                time text, "end" text, dimension integer, value text, flag text, unit text)
            """)
        let rows = Files.text(csv)
        #expect(rows.split(separator: "\n").count > 1)
        try run.server.copy(csv, into: "oracle")
        let oracle = """
            SELECT observation, coalesce(component, ''), \(Self.nanoseconds("time")),
                CASE WHEN "end" IS NULL THEN NULL ELSE \(Self.nanoseconds("\"end\"")) END,
                dimension, CASE WHEN value ~ '^-?[0-9.]+([eE][-+]?[0-9]+)?$' THEN value::numeric::text ELSE value END,
                flag, unit FROM oracle
            """
        let stored = """
            SELECT o.id, CASE WHEN component_code IS NULL AND component_system IS NULL THEN ''
                    ELSE coalesce(component_system, '') || '|' || coalesce(component_code, '') END,
                coalesce(r.start_ns, r.time_ns,
                    (extract(epoch FROM coalesce(r.start_time, time)) * 1000000)::bigint * 1000),
                CASE WHEN r.start_time IS NULL THEN NULL
                    ELSE coalesce(time_ns, (extract(epoch FROM time) * 1000000)::bigint * 1000) END,
                dimension, coalesce(value::text, text), flag, unit
            FROM kymo.reading r JOIN kymo.observation o ON o.number = r.observation
            """
        let lost = try run.server.query("(\(oracle)) EXCEPT ALL (\(stored))").map { "not stored: \($0)" }
        let added = try run.server.query("(\(stored)) EXCEPT ALL (\(oracle))").map { "only stored: \($0)" }
        try run.server.query("DROP TABLE oracle")
        return lost + added
    }

    /// Hostile names and numbers, texts, series and components; each Observation as it was exported.
    @Test func allOfThemAsTheyWere() throws {
        let run = PostgresRun(server: try PostgresServer())
        let mapping = ParquetExportTests.mapping(in: StoredRun(folder: run.folder))
        // What the database can have no text with is another test's.
        let lines = ParquetExportTests.lines.filter { !$0.contains("u0000") }
        let done = try run.run(lines, mapping)
        #expect(done.end == .exit(0) && done.error.contains("undeliverable 0"), "\(done.error)")
        #expect(try differences(run, mapping) == [])
        // Numbers of jsonb have no exponents, so that both are read by the database.
        let file = run.folder.write("lines", try run.exported(mapping))
        try run.server.query("CREATE TABLE lines (resource jsonb)")
        try run.server.query("\\copy lines FROM '\(file)' CSV QUOTE E'\\x01' DELIMITER E'\\x02'")
        let (exported, found) = ("SELECT resource FROM lines", "SELECT resource FROM kymo.observation")
        #expect(try run.server.query("(\(exported)) EXCEPT ALL (\(found))") == [])
        #expect(try run.server.query("(\(found)) EXCEPT ALL (\(exported))") == [])
        #expect(Int(try run.server.query("SELECT count(*) FROM lines")[0]) ?? 0 > 10)
        let types = try run.server.query("SELECT DISTINCT type COLLATE \"C\" FROM kymo.observation ORDER BY 1")
        #expect(types == ["../../v=%", "bp", "series", "ü text"])
        let devices = try run.server.query(
            "SELECT DISTINCT device, patient FROM kymo.observation WHERE type = 'series'")
        #expect(devices == ["watch\tp"])
    }

    /// A reading is a row, with the time and the digits that it came with.
    @Test func aRowForEachReading() throws {
        let run = PostgresRun(server: try PostgresServer())
        // At even distances, and at others.
        let lines = (0..<300).map { index in
            let second = index % 3 == 0 ? index : index * index % 3_000
            return Readings.heartRate(second: second, value: 50 + index % 90, device: "w-\(index % 3)")
        }
        #expect(try run.run(lines + lines).error.contains("undeliverable 0"))
        let csv = try run.exported(["--format", "csv"]).split(separator: "\n").map {
            $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        let columns = try ["time", "device", "type"].map { try #require(csv[0].firstIndex(of: $0)) }
        let value = try #require(csv[0].indices.last { csv[1][$0].allSatisfy(\.isNumber) && !csv[1][$0].isEmpty })
        let expected = csv.dropFirst().map { row in (columns.map { row[$0] } + [row[value]]).joined(separator: "\t") }
        let rows = try run.server.query(
            """
            SELECT to_char(time AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), device, type, value
            FROM kymo.readings
            """)
        #expect(rows.sorted() == expected.sorted() && rows.count > 200)
        #expect(try differences(run, []) == [])
    }

    /// The queries of docs/postgres.md, each on tables that it finds something in.
    @Test func queriesOfThePage() throws {
        let run = PostgresRun(server: try PostgresServer())
        let text = Files.text("\(SharedMaterial.package)/docs/postgres.md")
        let queries = text.matches(of: /(?s)```sql\n(SELECT .*?)```/).map { String($0.output.1) }
        #expect(queries.count == 3)
        #expect(try run.run(Readings.heartRates(90)).end == .exit(0))
        #expect(try run.run([Readings.heartRate(second: 100)]).end == .exit(0))
        #expect(try run.server.query(queries[0]).count == 1)
        #expect(try run.server.query(queries[1]).count == 1)
        #expect(try run.server.query(queries[2]).count == 1)
        #expect(try run.server.query("SELECT DISTINCT kind FROM kymo.reading ORDER BY 1") == ["sample", "summary"])
    }

    /// A late reading, one that is taken back, and a window that has none left.
    @Test func amendedAndRetracted() throws {
        let run = PostgresRun(server: try PostgresServer())
        let mapping = run.folder.file("m/")
        run.folder.write("m/device.json", Self.device)
        run.folder.write("m/fhir.json", Self.fhir)
        func reading(_ second: Int, gone: Bool = false) -> String {
            let time = "2026-03-01T08:00:\(second < 10 ? "0" : "")\(second)Z"
            return gone
                ? #"{"gone":"h","d":"b-1","t":"\#(time)"}"# : #"{"k":"h","d":"b-1","t":"\#(time)","v":\#(second)}"#
        }
        func state() throws -> String {
            try run.server.query(
                """
                SELECT status, revision, (SELECT string_agg(value::text, ' ' ORDER BY time) FROM kymo.reading r
                    WHERE r.observation = o.number) FROM kymo.observation o
                """
            ).joined(separator: "\n")
        }
        for (lines, expected) in [
            ([reading(1), reading(2)], "final\t1\t1 2"), ([reading(3)], "amended\t2\t1 2 3"),
            ([reading(2, gone: true)], "amended\t3\t1 3"),
            ([reading(1, gone: true), reading(3, gone: true)], "entered-in-error\t4\t∅"),
        ] {
            let done = try run.run(lines, ["--mapping", mapping])
            #expect(done.end == .exit(0), "\(done.error)")
            #expect(try state() == expected)
        }
        #expect(try run.server.query("SELECT count(*) FROM kymo.reading") == ["0"])
    }

    private static let device = #"""
        {"templateType":"CollectionContent","template":[
        {"templateType":"JsonPathContent","template":{"typeName":"h","typeMatchExpression":"$..[?(@k == 'h')]",
        "deviceIdExpression":"$.d","timestampExpression":"$.t",
        "values":[{"valueName":"v","valueExpression":"$.v","required":true}]}},
        {"templateType":"JsonPathContent","template":{"typeName":"h","typeMatchExpression":"$..[?(@gone == 'h')]",
        "deviceIdExpression":"$.d","timestampExpression":"$.t","retracts":true}}]}
        """#
    private static let fhir = #"""
        {"templateType":"CollectionFhir","template":[{"templateType":"CodeValueFhir","template":{"typeName":"h",
        "period":"1m","codes":[{"system":"urn:x","code":"h"}],"value":{"valueType":"SampledData","valueName":"v",
        "defaultPeriod":1000,"unit":"/min","code":"/min","system":"http://unitsofmeasure.org"}}}]}
        """#

    /// Resources besides Observations have a table of their own, and their newest version.
    @Test func otherResources() throws {
        let run = PostgresRun(server: try PostgresServer())
        func alarm(_ state: String, _ more: String = "") -> String {
            """
            {"device":"pump-1","patient":"p-1","alarm":{"code":"196940","text":"Occlusion","state":"\(state)",\
            "since":"2026-03-01T08:00:00Z"\(more)}}
            """
        }
        let message = #"{"device":"pump-1","time":"2026-03-01T08:00:00Z","message":{"text":"Battery low"}}"#
        let mapping = ["--mapping", "device-alarms"]
        #expect(try run.run([message, alarm("present")], mapping).end == .exit(0))
        let ended = try run.run([alarm("ended", ",\"until\":\"2026-03-01T08:05:00Z\"")], mapping)
        #expect(ended.error.contains("pg: delivered 1 entry"), "\(ended.error)")
        let rows = try run.server.query(
            """
            SELECT resource_type, device, patient, revision, resource ->> 'status' FROM kymo.resource
            ORDER BY resource_type COLLATE "C"
            """)
        #expect(rows == ["Communication\tpump-1\t∅\t1\tcompleted", "Flag\tpump-1\tp-1\t2\tinactive"], "\(rows)")
        #expect(try run.server.query("SELECT count(*) FROM kymo.observation") == ["0"])
    }

    /// Each entry has a receipt, as other sinks give them, and the sink is in the status.
    @Test func receiptsAndStatus() throws {
        let run = PostgresRun(server: try PostgresServer())
        let more = ["--dead-letter", run.folder.file("dead.ndjson")]
        let receipts = run.folder.file("receipts")
        let done = try Kymo.run(
            run.arguments() + ["--stdin"] + more, environment: ["KYMO_RECEIPTS": receipts],
            input: .bytes(Readings.ndjson(Readings.heartRates(90))))
        #expect(done.end == .exit(0), "\(done.error)")
        let lines = try Kymo.run(["receipts", receipts, "--format", "json"]).lines
        let sent = try lines.map { try JSONTree(parsing: Array($0.utf8)) }.filter { $0["outcome"]?.text == "sent" }
        #expect(sent.count == 2 && sent.allSatisfy { $0["device"]?.text == "watch-1" && $0["sink"]?.text == "pg" })
        let identities = Set(sent.compactMap { $0["identifier"]?["value"]?.text })
        #expect(try Set(run.server.query("SELECT identity FROM kymo.observation")) == identities)
        #expect(try Kymo.run(["status", "--data", run.data]).text.contains("sink pg: settled through"))
    }

    /// Times below a microsecond are kept beside those that the database has.
    @Test func nanoseconds() throws {
        let run = PostgresRun(server: try PostgresServer())
        let line = Readings.heartRate(second: 5).replacing("08:00:05Z", with: "08:00:05.123456789Z")
        #expect(try run.run([line]).end == .exit(0))
        let rows = try run.server.query("SELECT time AT TIME ZONE 'UTC', time_ns FROM kymo.reading")
        #expect(rows == ["2026-03-01 08:00:05.123456\t1772352005123456789"])
    }

    /// What is not text of the database is a dead letter with its reason, and the rest is stored.
    @Test func aTextWithNUL() throws {
        let run = PostgresRun(server: try PostgresServer())
        let mapping = ParquetExportTests.mapping(in: StoredRun(folder: run.folder))
        let lines = ParquetExportTests.lines.filter { $0.contains(#""k":"s""#) }
        let done = try run.run(lines, mapping)
        #expect(done.error.contains("delivered 5 entries, undeliverable 1 (serverRefused 1)"), "\(done.error)")
        let letters = try Kymo.run(["dead", "list", "--data", run.data]).text
        #expect(letters.contains("U+0000"), "\(letters)")
        #expect(try run.server.query("SELECT count(*) FROM kymo.reading") == ["5"])
    }

    /// Events that waited for a sink of the same name are no rows: they are dead letters, and hold up nothing.
    @Test func eventsThatWaited() throws {
        let run = PostgresRun(server: try PostgresServer())
        let file = run.folder.write(
            "events.yaml", "sinks: [{name: pg, kafka: \"kafka://127.0.0.1:9/readings\", format: events}]\n")
        let process = try Kymo.start([
            "run", "--config", file, "--data", run.data, "--unix", run.folder.file("k.sock"), "--window", "1m",
        ])
        _ = try process.addresses()
        try run.send(Readings.heartRates(3))
        let store = StoredRun(folder: run.folder)
        try Waiting.until("events that wait: \(process.errorText)") {
            try store.value("SELECT count(*) FROM outbox") ?? 0 > 0
        }
        process.signal(SIGKILL)
        #expect(try process.wait() == .signal(SIGKILL))
        let done = try run.run([Readings.heartRate(second: 3)])
        #expect(done.end == .exit(0) && done.error.contains("pg: delivered 1 entry"), "\(done.error)")
        #expect(done.error.contains("(malformedBundle "), "\(done.error)")
        #expect(try run.server.query("SELECT count(*) FROM kymo.readings") == ["4"])
        #expect(try run.server.query("SELECT count(*) FROM kymo.resource") == ["0"])
    }
}
