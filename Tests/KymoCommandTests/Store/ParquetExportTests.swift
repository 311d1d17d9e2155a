import CommandSupport
import KymographTestKit
import Testing

/// `kymo export --format parquet` and `--format bulk`, beside what the other formats say of the same store.
@Suite(.enabled(if: ParquetJudge.canRun, "KYMO_PYTHON names no Python with pyarrow and duckdb"))
struct ParquetExportTests {
    /// Types of hostile names, one value or several, numbers and texts, single readings and windows.
    static func mapping(in run: StoredRun) -> [String] {
        func device(_ type: String, _ rest: String, _ values: String...) -> String {
            """
            {"templateType":"JsonPathContent","template":{"typeName":"\(type)","typeMatchExpression":"$..[?(@k == '\(rest)')]",
            "deviceIdExpression":"$.d","patientIdExpression":"$.p","timestampExpression":"$.t",
            "values":[\(values.map { "{\"valueName\":\"\($0)\",\"valueExpression\":\"$.\($0)\",\"required\":false}" }
                .joined(separator: ","))]}}
            """
        }
        func fhir(_ type: String, _ rest: String) -> String {
            """
            {"templateType":"CodeValueFhir","template":{"typeName":"\(type)","codes":[{"system":"urn:x","code":"\(type)"}],
            \(rest)}}
            """
        }
        func value(_ name: String) -> String {
            "\"value\":{\"valueType\":\"Quantity\",\"valueName\":\"\(name)\",\"unit\":\"mm[Hg]\",\"code\":\"mm[Hg]\","
                + "\"system\":\"http://unitsofmeasure.org\"}"
        }
        func component(_ name: String, _ value: String) -> String {
            "{\"codes\":[{\"system\":\"urn:x\",\"code\":\"c-\(name)\"}],\(value)}"
        }
        let text = "\"value\":{\"valueType\":\"String\",\"valueName\":\"s\"}"
        run.folder.write(
            "m/device.json",
            "{\"templateType\":\"CollectionContent\",\"template\":["
                + [
                    device("../../v=%", "v", "v"), device("bp", "bp", "a", "b"),
                    device("ü text", "s", "s").replacing(
                        "\"values\"", with: "\"readingIdExpression\":\"$.i\",\"values\""),
                    device("series", "w", "v"),
                ].joined(separator: ",") + "]}")
        run.folder.write(
            "m/fhir.json",
            "{\"templateType\":\"CollectionFhir\",\"template\":["
                + [
                    fhir("../../v=%", value("v")),
                    fhir(
                        "bp", "\"components\":[\(component("a", value("a"))),\(component("b", value("b")))]"),
                    fhir("ü text", text),
                    fhir(
                        "series",
                        value("v").replacing("Quantity", with: "Statistics")
                            .replacing("\"value\":", with: "\"period\":\"1m\",\"value\":")),
                ].joined(separator: ",") + "]}")
        return ["--mapping", run.folder.file("m/")]
    }

    static let lines: [String] = {
        let numbers = [
            "1", "-1.50", "0", "0.000", "72.40", "-0.0000001", "123456789012345678", "1e-30", "5E30", "2.5e3", "-7e1",
            "0.123456789012345678", "1.5e-19",
        ]
        let values = numbers.enumerated().map { index, number in
            #"{"k":"v","d":"../d=\#(index % 2)/","p":"pä","t":"2026-03-01T23:59:\#(48 + index)Z","v":\#(number)}"#
                .replacing("T23:59:60Z", with: "T23:59:59.123456789+05:30")
        }
        let pairs = (10..<40).map { second in
            let low = second % 3 == 0 ? "" : ",\"b\":\(second).5"
            return #"{"k":"bp","d":"cuff","t":"2026-03-02T08:00:\#(second)+02:00","a":\#(100 + second)\#(low)}"#
        }
        let texts = ["x", "=1+1", "\\u0000", "a,b\\\"c", "zwei\\nZeilen", "🫀 ü"].enumerated().map { index, text in
            #"{"k":"s","d":"note","i":"r/\#(index)","t":"2026-03-02T09:00:0\#(index)Z","s":"\#(text)"}"#
        }
        let series = (0..<180).map { second in
            let time = "2026-03-01T23:5\(7 + second / 60):\(10 + second % 50)Z"
            return #"{"k":"w","d":"watch","p":"p","t":"\#(time)","v":\#(60 + second % 9).\#(second % 2)}"#
        }
        return values + pairs + texts + series
    }()

    private func filled() throws -> (run: StoredRun, mapping: [String]) {
        let run = StoredRun()
        let mapping = Self.mapping(in: run)
        let done = try run.run(Self.lines, mapping)
        #expect(done.balance?.accepted ?? 0 > 200, "\(done.error)")
        return (run, mapping)
    }

    /// What the judge says of the export with these options, beside CSV and NDJSON.
    private func complaints(_ run: StoredRun, _ options: [String], _ more: [String] = []) throws -> String {
        // The tables of one test are beside each other.
        let tables = Files.names(run.folder.path).filter { $0.hasPrefix("table") }.count
        let (out, all) = (run.folder.file("table-\(tables)"), options + ["--data", run.data])
        let done = try Kymo.run(["export", "--format", "parquet", "--out", out] + all + more)
        #expect(done.end == .exit(0) && done.output.isEmpty, "\(done.error)")
        let csv = try Kymo.run(["export", "--format", "csv"] + all)
        let ndjson = try Kymo.run(["export"] + all)
        #expect(csv.end == .exit(0) && ndjson.end == .exit(0), "\(ndjson.error)")
        let files = [run.folder.write("csv", csv.text), run.folder.write("ndjson", ndjson.text)]
        return try ParquetJudge.complaints(["export", out] + files)
    }

    private func expectSame(_ run: StoredRun, _ options: [String], _ more: [String] = []) throws {
        let complaints = try complaints(run, options, more)
        #expect(complaints.isEmpty, "\(options): \(complaints)")
    }

    @Test func everyRowIsWhatTheOtherFormatsSay() throws {
        let (run, mapping) = try filled()
        try expectSame(run, mapping)
        // Another scale moves digits between columns and loses none.
        try expectSame(run, mapping, ["--decimals", "0"])
        #expect(Files.names(run.folder.path).allSatisfy { !$0.hasPrefix("v=") })
    }

    @Test func filtersAreThoseOfOtherFormats() throws {
        let (run, mapping) = try filled()
        for options in [
            ["--type", "bp"], ["--patient", "p"], ["--device", "note", "--device", "cuff"], ["--source", "stdin"],
        ] {
            try expectSame(run, mapping + options)
        }
        let none = try Kymo.run(
            [
                "export", "--format", "parquet", "--data", run.data, "--out", run.folder.file("none"), "--patient",
                "nobody",
            ]
                + mapping)
        #expect(none.end == .exit(0) && none.error.contains("there are no readings: no file is written"))
        #expect(Files.names(run.folder.file("none")).isEmpty)
    }

    /// Numbers that the scale cannot express are told, and their digits are in the column of texts.
    @Test func numbersBeyondTheScale() throws {
        let (run, mapping) = try filled()
        let done = try Kymo.run(
            ["export", "--format", "parquet", "--data", run.data, "--out", run.folder.file("t"), "--type", "../../v=%"]
                + mapping)
        #expect(done.end == .exit(0), "\(done.error)")
        #expect(done.error.contains("kymo: 13 rows in 1 file in "), "\(done.error)")
        #expect(done.error.contains("3 numbers with more than 18 decimals, or more than 20 digits before the point"))
        #expect(done.error.contains("'text' has the digits"))
    }

    /// Numbers that the Observation scales have no unit: it is that of what the Observation makes of them.
    @Test(arguments: [(#","factor":0.005,"origin":-2"#, "0.005 -2 None"), (#","factor":1,"origin":0"#, "None None mV")])
    func scaledSamples(scale: String, expected: String) throws {
        let run = StoredRun()
        run.folder.write(
            "m/device.json",
            #"""
            {"templateType":"CollectionContent","template":[{"templateType":"JsonPathContent","template":{
            "typeName":"ecg","typeMatchExpression":"$..[?(@v)]","deviceIdExpression":"$.d",
            "timestampExpression":"$.t","values":[{"valueName":"v","valueExpression":"$.v"}]}}]}
            """#)
        run.folder.write(
            "m/fhir.json",
            #"""
            {"templateType":"CollectionFhir","template":[{"templateType":"CodeValueFhir","template":{
            "typeName":"ecg","period":"1m","codes":[{"code":"c"}],
            "value":{"valueType":"SampledData","valueName":"v","unit":"mV","code":"mV","defaultPeriod":1000\#(scale)}}}]}
            """#)
        let mapping = ["--mapping", run.folder.file("m/")]
        _ = try run.run((0..<5).map { #"{"d":"e","t":"2026-03-01T10:00:0\#($0)Z","v":\#(400 + $0)}"# }, mapping)
        let out = run.folder.file("table")
        let arguments = ["export", "--format", "parquet", "--data", run.data, "--out", out]
        #expect(try Kymo.run(arguments + mapping).end == .exit(0))
        let script = """
            import sys, pyarrow.dataset
            rows = pyarrow.dataset.dataset(sys.argv[1], partitioning="hive").to_table().to_pylist()
            print(*{(r["factor"], r["origin"], r["unit"]) for r in rows}.pop(), *(int(r["value"]) for r in rows))
            """
        let read = try ChildProcess(SharedMaterial.python, ["-c", script, out]).finish()
        #expect(read.text == "\(expected) 400 401 402 403 404\n", "\(read.text) \(read.error)")
    }

    /// Without the templates there are readings and units, and no codes; standard error says so.
    @Test func withoutTheMapping() throws {
        let (run, mapping) = try filled()
        let out = run.folder.file("bare")
        let done = try Kymo.run(["export", "--format", "parquet", "--data", run.data, "--out", out, "--type", "bp"])
        #expect(done.end == .exit(0) && done.error.contains("the mappings have no template for bp: their rows have no"))
        let csv = run.folder.write(
            "csv", try Kymo.run(["export", "--format", "csv", "--data", run.data, "--type", "bp"] + mapping).text)
        #expect(try ParquetJudge.complaints(["export", out, csv, run.folder.write("ndjson", "")]) == "")
    }

    /// Windows that are open, by the journal of an instance that runs.
    @Test func openWindows() throws {
        let run = StoredRun()
        let child = try Kymo.start(
            ["run", "--udp", "127.0.0.1:0", "--data", run.data, "--out", run.output, "--window", "5m"])
        defer { child.signal(9) }
        let address = try child.addresses()[0].replacing("udp ", with: "")
        let lines = run.folder.write("lines", Readings.heartRates(50).joined(separator: "\n"))
        let sent = try Kymo.run(["replay", lines, "--udp", address, "--speed", "max"])
        #expect(sent.end == .exit(0), "\(sent.error)")
        try Waiting.until("50 readings") {
            try run.command("export", "--format", "csv", "--open").lines.count == 51
        }
        try expectSame(run, ["--open"])
    }

    /// The former export stays, and nothing is beside it.
    @Test func anEarlierExport() throws {
        let (run, mapping) = try filled()
        let out = run.folder.file("t")
        let export = ["export", "--format", "parquet", "--data", run.data, "--out", out] + mapping
        #expect(try Kymo.run(export + ["--type", "bp"]).end == .exit(0))
        let again = try Kymo.run(export)
        #expect(again.end == .exit(73) && again.error.contains("type=bp has part-0.parquet of an earlier export"))
        #expect(Files.names(out) == ["day=2026-03-02"] && Files.names("\(out)/day=2026-03-02") == ["type=bp"])
        // Other days or types may come beside it.
        #expect(try Kymo.run(export + ["--type", "series"]).end == .exit(0))
        #expect(
            Files.names(out)
                == ["day=2026-03-01", "day=2026-03-02", "day=2026-03-03"].filter { Files.exists("\(out)/\($0)") })
    }

    /// A damaged window is left out and named; the others are there.
    @Test func aDamagedWindow() throws {
        let (run, mapping) = try filled()
        try run.change("UPDATE window SET body = X'00' WHERE number = (SELECT min(number) FROM window)")
        let done = try Kymo.run(
            ["export", "--format", "parquet", "--data", run.data, "--out", run.folder.file("t")] + mapping)
        #expect(done.end == .exit(0) && done.error.contains("is damaged and left out"), "\(done.error)")
        try expectSame(run, mapping)
    }

    /// The lines are those of NDJSON, by type of resource, and the manifest counts them.
    @Test func bulk() throws {
        let (run, mapping) = try filled()
        let out = run.folder.file("bulk")
        let done = try Kymo.run(
            ["export", "--format", "bulk", "--data", run.data, "--out", out, "--base-url", "https://host/files"]
                + mapping)
        let lines = try Kymo.run(["export", "--data", run.data] + mapping).lines
        #expect(done.end == .exit(0) && done.error.contains("\(lines.count) resources in 1 file"), "\(done.error)")
        #expect(Files.names(out) == ["Observation-0.ndjson", "manifest.json"])
        #expect(Files.text("\(out)/Observation-0.ndjson").split(separator: "\n").map(String.init) == lines)
        let manifest = try JSONTree(parsing: Files.read("\(out)/manifest.json"))
        #expect(manifest["requiresAccessToken"] == .bool(false) && manifest["error"]?.elements?.isEmpty == true)
        #expect(manifest["transactionTime"]?.text?.hasSuffix("Z") == true && manifest["request"]?.text != nil)
        let file = manifest["output"]?.elements?.first
        #expect(file?["type"]?.text == "Observation" && file?["count"] == .number("\(lines.count)"))
        #expect(file?["url"]?.text == "https://host/files/Observation-0.ndjson")
        let again = try Kymo.run(["export", "--format", "bulk", "--data", run.data, "--out", out] + mapping)
        #expect(again.end == .exit(73) && again.error.contains("of an earlier export; name another folder"))
    }
}
