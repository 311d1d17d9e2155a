import CommandSupport
import KymographTestKit
import Testing

/// Readings that are taken back by the mappings of the catalogue, as docs/retraction.md shows it.
@Suite struct CatalogueRetractionTests {
    /// A mapping, its messages of two readings of one window, and what takes the second one back.
    struct Case: Sendable, CustomTestStringConvertible {
        var mapping: String
        var readings: [String]
        var deleted: String
        var testDescription: String { mapping }
    }

    static let cases = [
        Case(
            mapping: "reading",
            readings: [(1, "s-1", 60), (2, "s-2", 180)].map { second, id, value in
                """
                {"deviceId":"watch-17","type":"heartRate","timestamp":"2026-03-01T08:00:0\(second)Z","value":\(value),\
                "unit":"/min","patientId":"p-0042","id":"\(id)"}
                """
            }, deleted: #"{"deviceId":"watch-17","deleted":"heartRate","id":"s-2"}"#),
        Case(
            mapping: "healthkit-on-fhir",
            readings: [(1, "A", 60), (2, "B", 180)].map { second, id, value in
                """
                {"deviceId":"com.apple.health.p-0042","endDate":"2026-03-01T08:00:0\(second)Z","heartRate":\(value),\
                "patientId":"p-0042","startDate":"2026-03-01T08:00:0\(second)Z","unit":"beats\\/min",\
                "uuid":"\(id)BA093D9-B99B-4A3C-8C9E-98C86F49F5D8"}
                """
            },
            deleted: """
                {"deleted":"heartRate","deviceId":"com.apple.health.p-0042",\
                "uuid":"BBA093D9-B99B-4A3C-8C9E-98C86F49F5D8"}
                """),
    ]

    private func observation(_ run: StoredRun, _ mapping: [String]) throws -> JSONTree {
        let query = try Kymo.run(["query", "--data", run.data] + mapping)
        #expect(query.lines.count == 1, "\(query.text)\(query.error)")
        return try JSONTree(parsing: Array(query.lines.joined().utf8))
    }

    /// Who runs a mapping of the catalogue by the rules of the reference gets it without its retractions.
    @Test(arguments: cases) func notByTheRulesOfTheReference(of one: Case) throws {
        let flags = ["map", "--mapping", one.mapping, "--compatibility", "iomt-fhir"]
        let reading = try Kymo.run(flags, input: .bytes(Array(one.readings[0].utf8)))
        #expect(reading.end == .exit(0) && reading.text.contains("heartRate"), "\(reading.error)")
        let deleted = try Kymo.run(flags, input: .bytes(Array(one.deleted.utf8)))
        #expect(deleted.text.contains("noTemplate") && !deleted.text.contains("retractions"), "\(deleted.text)")
        let check = try Kymo.run([
            "check", "--mapping", one.mapping, "--compatibility", "iomt-fhir", "--udp", "127.0.0.1:0", "--out", "none",
        ])
        #expect(!check.text.contains("retractions") && !check.error.contains("retractions"), "\(check.error)")
    }

    /// Beside a mapping by the rules of the reference that has one of its types, the check and the start say what can
    /// be taken back no more.
    @Test func besideTheRulesOfTheReference() throws {
        let folder = TemporaryFolder()
        let device = #"""
            {"templateType":"CollectionContent","compatibility":"iomt-fhir","template":[
             {"templateType":"JsonPathContent","template":{"typeName":"heartRate",
              "typeMatchExpression":"$..[?(@pulse)]","deviceIdExpression":"$.id","timestampExpression":"$.at",
              "values":[{"valueName":"beatsPerMinute","valueExpression":"$.pulse"}]}}]}
            """#
        _ = folder.write("mine/device.json", device)
        _ = folder.write("mine/fhir.json", #"{"templateType":"CollectionFhir","template":[]}"#)
        let mappings = ["--mapping", "reading", "--mapping", folder.file("mine/")]
        let check = try Kymo.run(["check", "--udp", "127.0.0.1:0"] + mappings)
        let start = try Kymo.run(["run", "--stdin"] + mappings, input: .bytes([]))
        for done in [check, start] {
            let text = done.text + done.error
            #expect(text.ranges(of: "readings of 'heartRate' can no longer be taken back").count == 1, "\(text)")
            #expect(text.contains("warning") && done.end == .exit(0), "\(text)")
        }
    }

    /// Its window comes again without it, it stays out when the phone pushes all again, and a retraction without an id
    /// takes nothing. As lines, and as one array each time, whose elements the mapper knows by then.
    @Test(arguments: cases, [false, true]) func leavesItsWindow(of one: Case, asArray: Bool) throws {
        let run = StoredRun()
        let mapping = ["--mapping", one.mapping]
        func document(_ lines: [String]) -> [String] { asArray ? ["[\(lines.joined(separator: ","))]"] : lines }
        try run.run(document(one.readings), mapping)
        #expect(try observation(run, mapping)["valueQuantity"]?["value"] == .number("120.0"))
        let taken = try run.run([one.deleted], mapping)
        #expect(taken.error.contains("retractions 1"), "\(taken.error)")
        let amended = try observation(run, mapping)
        #expect(amended["valueQuantity"]?["value"] == .number("60") && amended["status"]?.text == "amended")
        let again = try run.run(document(one.readings), mapping)
        #expect(again.balance?.reasons == ["retracted": 1] && again.balance?.duplicate == 1, "\(again.error)")
        let withoutId = one.deleted.replacing(/,"(uuid|id)":"[^"]*"/, with: "")
        let unclear = try run.run([withoutId], mapping)
        #expect(unclear.balance?.reasons == ["ambiguousRetraction": 1], "\(unclear.error)")
        #expect(try observation(run, mapping)["valueQuantity"]?["value"] == .number("60"))
        // Of a type that there is not.
        let unknown = try run.run([one.deleted.replacing("heartRate", with: "heartrate")], mapping)
        #expect(unknown.balance?.reasons == ["noTemplate": 1], "\(unknown.error)")
        // In one document with its reading: the reading is there again.
        let renewed = try run.run(["[\(one.deleted),\(one.readings[1])]"], mapping)
        #expect(renewed.end == .exit(0) && renewed.balance?.accepted == 1, "\(renewed.error)")
        #expect(try observation(run, mapping)["valueQuantity"]?["value"] == .number("120.0"))
    }
}
