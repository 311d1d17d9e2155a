import CommandSupport
import KymographTestKit
import Testing
import TrialSupport

/// Blood pressures of MyDataHelps, whose two numbers are two points, with the real binary.
@Suite struct MyDataHelpsTests {
    private let folder = TemporaryFolder()

    /// A measurement of the cuff, and its points.
    private struct Pressure {
        var index: Int
        var systolic: Int
        var diastolic: Int

        private var time: String { "2026-03-01T\(10 + index / 60):\(index % 60 < 10 ? "0" : "")\(index % 60):00-05:00" }
        /// Every other one has a context; some contexts are of several measurements.
        private var hasContext: Bool { index.isMultiple(of: 2) }

        /// What it becomes: one Observation, or two where nothing says that its points belong together.
        var results: [String] {
            hasContext ? ["\(time) \(systolic)/\(diastolic)"] : ["\(time) \(systolic)/", "\(time) /\(diastolic)"]
        }

        /// Points of some measurements share their identifier.
        func point(_ isSystolic: Bool) -> String {
            let context = hasContext ? "\"context-\(index / 8)\"" : "null"
            let identifier = index % 4 < 2 ? "\(index)" : "\(index)-\(isSystolic)"
            return
                #"{"namespace":"AppleHealth","deviceDataContextID":\#(context),"#
                + #""identifier":"\#(identifier)","#
                + #""type":"BloodPressure\#(isSystolic ? "Systolic" : "Diastolic")","#
                + #""value":"\#(isSystolic ? systolic : diastolic)","units":"mmHg","properties":{},"#
                + #""source":{"identifier":"cuff-9","properties":{}},"observationDate":"\#(time)"}"#
        }
    }

    private func page(_ points: some Sequence<String>) -> String {
        "{\"deviceDataPoints\":[\(points.joined(separator: ","))],\"nextPageID\":null}"
    }

    /// What a run makes of these pages: status, time and both numbers of each Observation, as it was written last.
    private func run(
        _ pages: [String], to name: String, mapping: String = "mydatahelps"
    ) throws -> [(status: String, result: String)] {
        let arguments = ["--mapping", mapping, "--data", folder.file("data"), "--out", folder.file(name)]
        let done = try Kymo.run(
            ["run", "--stdin", "--format", "ndjson"] + arguments,
            input: .bytes(Array(pages.joined(separator: "\n").utf8)))
        #expect(done.end == .exit(0) && done.balance?.isClosed == true, "\(done.error)")
        var observations: [String: JSONTree] = [:]
        for file in Files.names(folder.file(name)).sorted() {
            for line in Files.text(folder.file("\(name)/\(file)")).split(separator: "\n") {
                let observation = try JSONTree(parsing: Array(line.utf8))
                observations[observation["id"]?.text ?? ""] = observation
            }
        }
        return observations.values.map { ($0["status"]?.text ?? "", result(of: $0)) }
    }

    private func result(of observation: JSONTree) -> String {
        let numbers = (observation["component"]?.elements ?? []).map { component -> String in
            if case .number(let text)? = component["valueQuantity"]?["value"] { return text }
            let reason = component["dataAbsentReason"]?["coding"]?.elements?.first?["code"]?.text
            return reason == "error" ? "error" : ""
        }
        return "\(observation["effectiveDateTime"]?.text ?? "") \(numbers.joined(separator: "/"))"
    }

    /// In whatever order points come, however pages cut and repeat them: each measurement is one Observation with its own
    /// numbers, and one without context is two.
    @Test(arguments: Trials.seeds(4, from: 170)) func pairsInAnyOrder(seed: UInt64) throws {
        var random = SeededBytes(seed: seed)
        let pressures = (0..<60).map { index in
            Pressure(index: index, systolic: 100 + random.next(upTo: 60), diastolic: 50 + random.next(upTo: 40))
        }
        var points = pressures.flatMap { [$0.point(true), $0.point(false)] }
        for index in points.indices.reversed() { points.swapAt(index, random.next(upTo: index + 1)) }
        var pages: [String] = []
        var start = 0
        while start < points.count {
            let end = min(points.count, start + 1 + random.next(upTo: 20))
            // Pages overlap, as they do when points come in while they are fetched.
            pages.append(page(points[max(0, start - random.next(upTo: 3))..<end]))
            start = end
        }
        let observations = try run(pages, to: "out")
        #expect(observations.map(\.result).sorted() == pressures.flatMap(\.results).sorted())
    }

    /// A pressure alone says that the other is unknown; the other one amends it, also in a later run.
    @Test func theOtherOneComesLater() throws {
        let pressure = Pressure(index: 2, systolic: 122, diastolic: 78)
        let first = try run([page([pressure.point(true)])], to: "first")
        #expect(first.map(\.status) == ["final"] && first.map(\.result) == ["2026-03-01T10:02:00-05:00 122/"])
        let second = try run([page([pressure.point(false)])], to: "second")
        #expect(second.map(\.status) == ["amended"] && second.map(\.result) == pressure.results)
    }

    /// A point of a context and date that can have several measurements.
    private func point(_ identifier: String, _ value: String, minute: Int = 10) -> String {
        let type = identifier.hasPrefix("s") ? "BloodPressureSystolic" : "BloodPressureDiastolic"
        return
            #"{"namespace":"AppleHealth","deviceDataContextID":"context-\#(minute)","identifier":"\#(identifier)","#
            + #""type":"\#(type)","value":"\#(value)","units":"mmHg","properties":{},"#
            + #""source":{"identifier":"cuff-9","properties":{}},"observationDate":"2026-03-01T08:\#(minute):00Z"}"#
    }

    /// Catches: 180/80 of 120/80 and of another systolic pressure of the same context and date, which was never
    /// measured. In each order, with a page for each point, or with one that repeats what came before.
    @Test func twoMeasurementsAreNotMixed() throws {
        let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
        var pages: [String] = []
        for (index, order) in (orders + orders).enumerated() {
            let points = [("s1", "120"), ("d1", "80"), ("s2", "180")].map { point($0, $1, minute: 10 + index) }
            let ordered = order.map { points[$0] }
            pages += index < orders.count ? ordered.map { page([$0]) } : [page([ordered[0]]), page(ordered)]
        }
        let observations = try run(pages, to: "out")
        #expect(observations.count == 12)
        for found in observations { #expect(found.result.hasSuffix("Z error/80") && found.status == "final") }
    }

    /// `kymo map --explain` says which value is absent since points contradict each other, and why; not where they agree.
    @Test func explainedIsWhatIsWithheld() throws {
        func map(_ last: String, _ format: [String]) throws -> Kymo.Finished {
            let text = page([point("s1", "120"), point("d1", "80"), point("s2", last)])
            return try Kymo.run(
                ["map", "--mapping", "mydatahelps", "--explain"] + format, input: .bytes(Array(text.utf8)))
        }
        let why = "readings of one correlation and time state it differently, and which of them"
        let said = try map("180", [])
        #expect(said.end == .exit(0), "\(said.error)")
        let lines = said.error.split(separator: "\n").filter { $0.contains(why) }
        let start = "Observation of pairedBloodPressure: 'systolic"
        #expect(lines.count == 1 && lines.first?.hasPrefix(start) == true, "\(said.error)")
        let json = try JSONTree(parsing: try map("180", ["--format", "json"]).output)
        let withheld = try #require(json["withheld"]?.elements)
        #expect(withheld.count == 1 && withheld[0]["type"]?.text == "pairedBloodPressure")
        #expect(withheld[0]["value"]?.text?.hasPrefix("systolic") == true)
        #expect(withheld[0]["explanation"]?.text?.hasPrefix(why) == true)
        #expect(try !map("120", []).error.contains(why))
        #expect(try JSONTree(parsing: try map("120", ["--format", "json"]).output)["withheld"] == nil)
    }

    /// In later runs: what was sent as one pressure is amended, and is one again when the sender has corrected a point
    /// or taken it back.
    @Test func whatWasSentIsAmended() throws {
        folder.write(
            "mine/device.json",
            #"{"templateType":"CollectionContent","extends":"mydatahelps","template":[{"#
                + #""templateType":"JsonPathContent","#
                + #""template":{"typeName":"pairedBloodPressure","retracts":true,"#
                + #""typeMatchExpression":"$..[?(@deleted)]","deviceIdExpression":"$.device","#
                + #""readingIdExpression":"$.deleted"}}]}"#)
        folder.write("mine/fhir.json", #"{"templateType":"CollectionFhir","extends":"mydatahelps","template":[]}"#)
        let steps = [
            ([point("s1", "120"), point("d1", "80")], "final 120/80"), ([point("s2", "180")], "amended error/80"),
            ([point("d2", "95")], "amended error/error"), ([point("s2", "120")], "amended 120/error"),
            ([#"{"device":"cuff-9","deleted":"BloodPressureDiastolic|d2"}"#], "amended 120/80"),
            ([point("s3", "170")], "amended error/80"),
            ([#"{"device":"cuff-9","deleted":"BloodPressureSystolic|s3"}"#], "amended 120/80"),
        ]
        for (index, step) in steps.enumerated() {
            let found = try run(step.0.map { page([$0]) }, to: "out-\(index)", mapping: folder.file("mine") + "/")
            let texts = found.map { "\($0.status) \($0.result.split(separator: " ").last ?? "")" }
            #expect(texts == [step.1], "step \(index)")
        }
        let kept = try Kymo.run(["query", "--readings", "--data", folder.file("data")]).lines
        #expect(kept.count == 3)
    }

    /// What is withheld is counted, and no reading is lost.
    @Test func whatIsWithheldIsCounted() throws {
        let points = [point("s1", "120"), point("d1", "80"), point("s2", "180")]
        let done = try Kymo.run(
            ["run", "--stdin", "--format", "ndjson", "--mapping", "mydatahelps"],
            input: .bytes(Array(points.map { page([$0]) }.joined(separator: "\n").utf8)))
        #expect(done.end == .exit(0) && done.balance?.accepted == 3 && done.balance?.rejected == 0, "\(done.error)")
        #expect(done.error.contains("unwritten 1: ") && done.error.contains("(contradiction 1)"), "\(done.error)")
    }

    /// Why a value is absent is told while the instance runs: by status, ledger and the archive of support.
    @Test func theReasonIsToldByCommands() throws {
        let folder = TemporaryFolder()
        let data = folder.file("data")
        let run = try Kymo.start(
            [
                "run", "--stdin", "--format", "ndjson", "--mapping", "mydatahelps", "--data", data, "--out",
                folder.file("out"), "--idle", "100ms", "--lateness", "0s",
            ], input: .pipe)
        let points = [point("s1", "120"), point("d1", "80"), point("s2", "180")]
        run.write(Array(points.map { page([$0]) + "\n" }.joined().utf8))
        try Waiting.until("a value that is withheld") {
            try Kymo.run(["status", "--data", data]).text.contains("values not written 1 (contradiction 1)")
        }
        let ledger = try Kymo.run(["ledger", "--data", data]).text
        #expect(ledger.contains("values not written since the instance started: contradiction 1"), "\(ledger)")
        let json = try JSONTree(parsing: try Kymo.run(["ledger", "--data", data, "--format", "json"]).output)
        #expect(json["unwrittenValues"]?["contradiction"] == .number("1"))
        let metrics = try Kymo.run(["status", "--data", data, "--format", "prometheus"]).text
        #expect(metrics.contains("kymo_values_unwritten_total{reason=\"contradiction\"} 1\n"), "\(metrics)")
        let archive = folder.file("support.tar.gz")
        #expect(try Kymo.run(["support", "--data", data, "--out", archive]).end == .exit(0))
        let tar = try ChildProcess("/bin/tar", ["-xzf", archive, "-C", folder.path])
        #expect(try tar.wait() == .exit(0), "\(tar.errorText)")
        #expect(Files.text(folder.file("kymo-support/ledger.json")).contains("\"contradiction\" : 1"))
        run.closeInput()
        #expect(try run.finish().end == .exit(0))
    }
}
