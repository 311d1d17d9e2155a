import CommandSupport
import KymographTestKit
import Testing
import TrialSupport

/// `kymo decode`: rows are the readings that went in.
@Suite struct DecodeTests {
    private let folder = TemporaryFolder()

    private static let header =
        "observation,identifier,patient,device,code,component,time,end,dimension,value,flag,unit"

    /// Heart rates of a series, on a grid and off it.
    @Test(arguments: [[0, 5, 10, 20], [0, 1, 50, 251]])
    func rowsAreTheReadings(seconds: [Int]) throws {
        let lines = seconds.enumerated().map { Readings.heartRate(second: $1, value: 60 + $0) }
        let run = try Kymo.run(["run", "--stdin"], input: .bytes(Readings.ndjson(lines)))
        let file = folder.file("bundles.ndjson")
        Files.write(run.output, to: file)
        let decoded = try Kymo.run(["decode", file])
        #expect(decoded.end == .exit(0) && decoded.lines.first == Self.header, "\(decoded.error)")
        let rows = decoded.lines.dropFirst().map { $0.split(separator: ",", omittingEmptySubsequences: false) }
        #expect(rows.map { $0[9] } == ["60", "61", "62", "63"])
        #expect(rows.allSatisfy { $0[3] == "watch-1" && $0[11] == "/min" })
        let times = seconds.map { "2026-03-01T08:0\($0 / 60):\($0 % 60 < 10 ? "0" : "")\($0 % 60)Z" }
        #expect(rows.map { String($0[6]) } == times)
        #expect(rows.allSatisfy { $0[4] == "http://loinc.org|8867-4" && $0[5].hasSuffix("|149530") })
        // The same from standard input.
        #expect(try Kymo.run(["decode"], input: .bytes(run.output)).text == decoded.text)
    }

    /// A document over several lines, of another server: R5, two dimensions, factor, limits, and what is no series.
    @Test func ofAnotherServer() throws {
        let text = """
            {"resourceType": "Bundle", "entry": [{"resource": {"resourceType": "Patient", "id": "p"}},
             {"resource": {"resourceType": "Observation", "id": "o,1", "subject": {"reference": "Patient/p"},
              "code": {"coding": [{"system": "urn:a", "code": "b"}]}, "effectiveInstant": "2026-03-01T08:00:00.5+01:00",
              "valueSampledData": {"origin": {"value": 10, "unit": "mV"}, "factor": 0.5, "interval": 250,
               "intervalUnit": "ms", "dimensions": 2, "data": "1 L E U"}}}]}
            """
        let decoded = try Kymo.run(["decode"], input: .bytes(Array(text.utf8)))
        #expect(
            decoded.lines == [
                Self.header, "\"o,1\",,Patient/p,,urn:a|b,,2026-03-01T07:00:00.500Z,,0,10.5,,mV",
                "\"o,1\",,Patient/p,,urn:a|b,,2026-03-01T07:00:00.500Z,,1,,belowLimit,mV",
                "\"o,1\",,Patient/p,,urn:a|b,,2026-03-01T07:00:00.750Z,,1,,aboveLimit,mV",
            ], "\(decoded.error)")
        let all = try Kymo.run(["decode", "--missing"], input: .bytes(Array(text.utf8)))
        #expect(all.lines.count == 5 && all.lines[3].contains(",2026-03-01T07:00:00.750Z,,0,,missing,mV"))
    }

    @Test(arguments: [
        ("{\"resourceType\":\"Patient\"}\n", "standard input has no Observation with SampledData"),
        ("{\"a\":1}\n{\"a\":}\n", "standard input:2: "),
        (
            "{\"resourceType\":\"Observation\",\"valueSampledData\":{\"dimensions\":1,\"data\":\"1\",\"period\":1}}",
            "standard input:1: the Observation has no effective time"
        ),
        (
            "{\"resourceType\":\"Observation\",\"effectiveInstant\":\"2026-03-01T08:00:00Z\",\"valueSampledData\":"
                + "{\"dimensions\":1,\"period\":1},\"derivedFrom\":[{\"type\":\"DocumentReference\"}]}",
            "standard input:1: the series has no data here; a document that derivedFrom names may have them"
        ),
    ])
    func mistakes(text: String, message: String) throws {
        let decoded = try Kymo.run(["decode"], input: .bytes(Array(text.utf8)))
        #expect(decoded.end == .exit(65) && decoded.error.contains(message), "\(decoded.error)")
    }

    /// Values that are no series, each in its form.
    @Test func otherValues() throws {
        let values = [
            (
                "\"valueQuantity\":{\"value\":72.50,\"comparator\":\"<\",\"unit\":\"kilogram\",\"code\":\"kg\"}",
                "72.50,<,kg"
            ),
            ("\"valueInteger\":3", "3,,"), ("\"valueBoolean\":true", "true,,"),
            ("\"valueString\":\"a,b\"", "\"a,b\",,"),
            (
                "\"valueCodeableConcept\":{\"coding\":[{\"system\":\"urn:s\",\"code\":\"c\"}],\"text\":\"t\"}",
                "urn:s|c,,"
            ),
            ("\"valueCodeableConcept\":{\"text\":\"t\"}", "t,,"), ("\"valueTime\":\"08:00:00\"", "08:00:00,,"),
            ("\"dataAbsentReason\":{\"coding\":[{\"code\":\"unknown\"}]}", ",unknown,"),
            (
                "\"valueQuantity\":{\"unit\":\"kg\"},\"dataAbsentReason\":{\"coding\":[{\"code\":\"error\"}]}",
                ",error,kg"
            ),
        ]
        for (member, cells) in values {
            let head =
                "{\"resourceType\":\"Observation\",\"id\":\"o\",\"identifier\":[{\"system\":\"urn:i\",\"value\":\"1\"}]"
            let period =
                "\"effectivePeriod\":{\"start\":\"2026-03-01T08:00:00Z\",\"end\":\"2026-03-01T09:00:00+01:00\"}"
            let later = period.replacing("09:00:00+01:00", with: "09:05:00+01:00")
            for (effective, end) in [(period, ""), (later, "2026-03-01T08:05:00Z")] {
                let text = "\(head),\(effective),\"component\":[{\"code\":{\"coding\":[{\"code\":\"x\"}]},\(member)}]}"
                let decoded = try Kymo.run(["decode", "--values"], input: .bytes(Array(text.utf8)))
                #expect(
                    decoded.lines.last == "o,urn:i|1,,,,|x,2026-03-01T08:00:00Z,\(end),,\(cells)", "\(decoded.error)")
                #expect(try Kymo.run(["decode"], input: .bytes(Array(text.utf8))).end == .exit(65))
            }
        }
    }

    /// Numbers keep their digits in JSON, and are numbers there.
    @Test func objects() throws {
        let text =
            "{\"resourceType\":\"Observation\",\"id\":\"o\",\"effectiveDateTime\":\"2026-03-01T08:00:00Z\","
            + "\"valueQuantity\":{\"value\":72.50,\"code\":\"kg\"},\"component\":[{\"valueString\":\"72.50\"}]}"
        let decoded = try Kymo.run(["decode", "--values", "--format", "ndjson"], input: .bytes(Array(text.utf8)))
        #expect(
            decoded.lines == [
                "{\"observation\":\"o\",\"time\":\"2026-03-01T08:00:00Z\",\"value\":72.50,\"unit\":\"kg\"}",
                "{\"observation\":\"o\",\"component\":\"\",\"time\":\"2026-03-01T08:00:00Z\",\"value\":\"72.50\"}",
            ], "\(decoded.text)")
    }

    /// What goes in comes back: times to the millisecond and digits, on a grid and off it, in R4 and R5.
    @Test(arguments: Trials.seeds(tenthOf: 60)) func isTheInverse(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let step = [1, 7, 250, 1_000].randomElement(using: &generator) ?? 1
        let isGrid = Bool.random(using: &generator)
        var (millisecond, sent): (Int, [Int: String]) = (0, [:])
        for _ in 0..<Int.random(in: 1...80, using: &generator) {
            millisecond +=
                isGrid ? step * Int.random(in: 1...3, using: &generator) : .random(in: 1...900, using: &generator)
            let value = "\(Int.random(in: 30...220, using: &generator)).\(Int.random(in: 0...9, using: &generator))"
            sent[millisecond] = value
        }
        let ordered = sent.sorted { $0.key < $1.key }
        let lines = ordered.shuffled(using: &generator).map { millisecond, value in
            Readings.heartRate(second: 0).replacing("2026-03-01T08:00:00Z", with: Self.time(millisecond))
                .replacing(":72,", with: ":\(value),")
        }
        let version = ["R4", "R5"].randomElement(using: &generator) ?? "R4"
        let run = try Kymo.run(
            ["run", "--stdin", "--window", "1h", "--fhir-version", version, "--lateness", "2m"],
            input: .bytes(Readings.ndjson(lines)))
        let decoded = try Kymo.run(["decode"], input: .bytes(run.output))
        let rows = decoded.lines.dropFirst().map { $0.split(separator: ",", omittingEmptySubsequences: false) }
        let found = rows.map { "\($0[6]) \($0[9])" }
        let expected = ordered.map { "\(Self.time($0)) \($1)" }
        #expect(found == expected, "seed \(seed): \(decoded.error)")
    }

    private static func time(_ millisecond: Int) -> String {
        let (second, rest) = (millisecond / 1_000, "\(1_000 + millisecond % 1_000)".dropFirst())
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "2026-03-01T08:\(two(second / 60)):\(two(second % 60))\(rest == "000" ? "" : ".\(rest)")Z"
    }
}
