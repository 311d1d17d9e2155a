import CommandSupport
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
        #expect(codes == ["110112", "110106", "110106", "110100"], "\(events.error)")
        let file = folder.write("events.ndjson", events.text)
        #expect(try Validator.findings(in: [file], version: "R4") == [])
    }
}
