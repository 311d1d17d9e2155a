import CommandSupport
import KymographTestKit
import Testing

/// `kymo decode`: rows are the readings that went in.
@Suite struct DecodeTests {
    private let folder = TemporaryFolder()

    private static let header = "observation,patient,device,code,time,dimension,value,flag,unit"

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
        #expect(rows.map { $0[6] } == ["60", "61", "62", "63"])
        #expect(rows.allSatisfy { $0[2] == "watch-1" && $0[8] == "/min" })
        let times = seconds.map { "2026-03-01T08:0\($0 / 60):\($0 % 60 < 10 ? "0" : "")\($0 % 60)Z" }
        #expect(rows.map { String($0[4]) } == times)
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
                Self.header, "\"o,1\",Patient/p,,urn:a|b,2026-03-01T07:00:00.500Z,0,10.5,,mV",
                "\"o,1\",Patient/p,,urn:a|b,2026-03-01T07:00:00.500Z,1,,belowLimit,mV",
                "\"o,1\",Patient/p,,urn:a|b,2026-03-01T07:00:00.750Z,1,,aboveLimit,mV",
            ], "\(decoded.error)")
    }

    @Test(arguments: [
        ("{\"resourceType\":\"Patient\"}\n", "standard input has no Observation with SampledData"),
        ("{\"a\":1}\n{\"a\":}\n", "standard input:2: "),
        (
            "{\"resourceType\":\"Observation\",\"valueSampledData\":{\"dimensions\":1,\"data\":\"1\",\"period\":1}}",
            "standard input:1: the Observation has no effective time"
        ),
    ])
    func mistakes(text: String, message: String) throws {
        let decoded = try Kymo.run(["decode"], input: .bytes(Array(text.utf8)))
        #expect(decoded.end == .exit(65) && decoded.error.contains(message), "\(decoded.error)")
    }
}
