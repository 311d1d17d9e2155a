import CommandSupport
@testable import Kymograph
import KymographTestKit
import Testing

/// Records of the audit trail as FHIR's AuditEvents.
@Suite struct AuditEventTests {
    /// The validator takes each kind of them.
    @Test(.enabled(if: SharedMaterial.canRunPython)) func auditEventsAreValid() throws {
        let folder = TemporaryFolder()
        let data = folder.file("data")
        let lines = [
            #"{"deviceId":"a","type":"heartRate","timestamp":"2026-03-01T08:00:00Z","value":61,"unit":"/min"}"#, "{}",
        ]
        let made = try Kymo.run(
            ["run", "--stdin", "--data", data, "--out", folder.file("out")], input: .bytes(Readings.ndjson(lines)))
        #expect(made.end == .exit(0), "\(made.error)")
        let commands = [["query"], ["export", "--format", "csv"], ["dead", "discard", "1"]]
        for command in commands { #expect(try Kymo.run(command + ["--data", data]).end == .exit(0)) }
        let events = try Kymo.run(["audit", "events", "--data", data])
        let codes = try events.lines.map { try JSONTree(parsing: Array($0.utf8))["type"]?["code"]?.text }
        #expect(codes == ["110100", "110112", "110106", "110106", "110106", "110100"], "\(events.error)")
        let file = folder.write("events.ndjson", events.text)
        #expect(try Validator.findings(in: [file], version: "R4") == [])
    }

    /// So it does whatever was done, and what a record says that only another version knows.
    @Test(.enabled(if: SharedMaterial.canRunPython)) func eachKindIsValid() throws {
        let folder = TemporaryFolder()
        let trail = AuditTrail(dataDirectory: folder.path)
        try trail.append(DeedKind.allCases.map { AuditDeed($0, "a deed of the kind \($0.rawValue)") })
        var events: [AuditEvent] = []
        var reader = AuditReader(dataDirectory: folder.path)
        _ = try reader.check { record, _ in events.append(AuditEvent(record)) }
        try #require(events.count == DeedKind.allCases.count)
        let trees = try events.map { try JSONTree(parsing: $0.line) }
        var found: [String: String] = [:]
        for (kind, tree) in zip(DeedKind.allCases, trees) {
            let (code, outcome) = (tree["type"]?["code"]?.text, tree["outcome"]?.text)
            found[kind.rawValue] = "\(code ?? "") \(outcome ?? "")"
            #expect(tree["subtype"]?.elements?.first?["code"]?.text == kind.rawValue)
        }
        #expect(found["decrypt"] == "110106 0" && found["export"] == "110106 0", "\(found)")
        #expect(found["console.refused"] == "110114 4" && found["console.login"] == "110114 0", "\(found)")
        #expect(found["client.refused"] == "110113 4" && found["mappings.changed"] == "110100 0", "\(found)")
        #expect(found["peer.refused"] == "110113 4" && found["keys"] == "110100 0", "\(found)")
        var older = AuditRecord(AuditDeed(.query, "something else"), after: .origin)
        older.event = "reveal"
        let other = AuditEvent(older)
        #expect(try JSONTree(parsing: other.line)["type"]?["code"]?.text == "110100")
        let lines = (events + [other]).flatMap(\.line)
        Files.write(lines, to: folder.file("events.ndjson"))
        #expect(try Validator.findings(in: [folder.file("events.ndjson")], version: "R4") == [])
    }
}
