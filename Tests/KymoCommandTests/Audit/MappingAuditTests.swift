import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// What the audit trail says of mappings, settings and lists that change.
@Suite struct MappingAuditTests {
    private let mapping = RunReloadTests.Mapping()

    private var data: String { mapping.folder.file("data") }

    private func start() throws -> ChildProcess {
        mapping.folder.write("patients.csv", "device,patient\nseeded-device,seeded-patient\n")
        let file = mapping.folder.write(
            "kymo.yaml",
            "mappings: [./mine/]\npatients: patients.csv\noutput: {to: out}\nsources: [{unix: a.sock}]\n")
        let run = try Kymo.start(["run", "--config", file, "--data", data], directory: mapping.folder.path)
        _ = try run.addresses()
        return run
    }

    private func records(_ event: String) throws -> [String] {
        try Kymo.run(["audit", "list", "--format", "ndjson", "--data", data]).lines
            .map { try JSONTree(parsing: Array($0.utf8)) }.filter { $0["event"]?.text == event }
            .compactMap { $0["text"]?.text }
    }

    /// SHA-256 of a file of the mapping, by another program.
    private func digest(_ name: String) throws -> String {
        let done = try ChildProcess("/usr/bin/sha256sum", [mapping.folder.file("mine/\(name)")]).finish()
        return String(try #require(done.text.split(separator: " ").first))
    }

    /// Which content readings were mapped by is known for each moment, over changes and restarts.
    @Test func whichMappingsWereUsed() throws {
        let (device, former) = (try digest("device.json"), try digest("fhir.json"))
        let run = try start()
        try Waiting.until("the record of the start") { try !records("mappings.begin").isEmpty }
        let begin = try records("mappings.begin").joined()
        #expect(begin.contains("device.json sha256 \(device)"), "\(begin)")
        #expect(begin.contains("fhir.json sha256 \(former)"), "\(begin)")
        // Nothing has changed.
        run.signal(SIGHUP)
        try run.waitForError("loaded the mappings")
        #expect(try records("mappings.changed").isEmpty)
        mapping.write(code: "v1")
        let next = try digest("fhir.json")
        try Waiting.until("the record of the change") { try !records("mappings.changed").isEmpty }
        let changed = try records("mappings.changed")
        #expect(changed.count == 1 && changed[0].contains("fhir.json sha256 \(former) is now \(next)"), "\(changed)")
        #expect(!changed[0].contains("device.json sha256"), "\(changed)")
        // Files with errors change nothing.
        mapping.overwrite(fhir: RunReloadTests.Mapping.broken)
        try run.waitForError("the former ones stay in use")
        #expect(try records("mappings.changed").count == 1)
        mapping.write(code: "v1")
        #expect(try run.terminate().end == .exit(0))
        #expect(try records("mappings.changed") == changed)
        let again = try start()
        try Waiting.until("the record of the next start") { try records("mappings.begin").count == 2 }
        #expect(try records("mappings.begin")[1].contains("fhir.json sha256 \(next)"))
        #expect(try again.terminate().end == .exit(0))
        #expect(try Kymo.run(["audit", "verify", "--data", data]).end == .exit(0))
    }

    /// Lists and settings by what has changed, without identifiers.
    @Test func listsAndSettings() throws {
        let run = try start()
        mapping.folder.write("patients.csv", "device,patient\nseeded-device,seeded-other\n")
        let text = Files.text(mapping.folder.file("kymo.yaml"))
        mapping.folder.write("kymo.yaml", text + "drain: 7s\n")
        run.signal(SIGHUP)
        try Waiting.until("the records: \(run.errorText)") {
            try !records("settings.changed").isEmpty && !records("patients.changed").isEmpty
        }
        let settings = try records("settings.changed").joined()
        #expect(settings.contains("drain"), "\(settings)")
        let patients = try records("patients.changed").joined()
        #expect(patients.contains("patients.csv") && !patients.contains("seeded"), "\(patients)")
        #expect(try run.terminate().end == .exit(0))
    }
}
