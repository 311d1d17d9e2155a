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

    /// A list of peers that is read again, and one that cannot be, is in the trail: which file, of which source and how
    /// many there are; who they are is not.
    @Test func listsOfPeersThatAreReadAgain() throws {
        func list(_ devices: [String]) {
            let peers = devices.enumerated().map {
                "  - {addresses: [127.0.0.\($0.offset + 1)], devices: [\($0.element)]}\n"
            }
            replace("peers:\n\(peers.joined())")
        }
        // At once: a list that is half written would be told of, too.
        func replace(_ text: String) {
            Files.move(mapping.folder.write("new.yaml", text), to: mapping.folder.file("peers.yaml"))
        }
        list(["seeded-device"])
        mapping.folder.write(
            "kymo.yaml",
            "mappings: [./mine/]\noutput: {to: out}\n"
                + "sources: [{tcp: \"127.0.0.1:0\", peers: peers.yaml}]\n")
        let run = try Kymo.start(["run", "--config", "kymo.yaml", "--data", data], directory: mapping.folder.path)
        let client = try RawConnection(port: PostClient.port(try run.addresses()[0]))
        // The list is looked at when something comes.
        func wait(for text: String) throws {
            try Waiting.until("\(text): \(run.errorText)") {
                client.send("{}\n")
                return run.errorText.contains(text)
            }
        }
        try wait(for: "listening on")
        #expect(try records("peers.loaded").isEmpty)
        list(["seeded-device", "seeded-other"])
        try wait(for: "were read again: there are 2")
        replace("peers: [{devices: [seeded-third]}]\n")
        try wait(for: "the former peers stay in use")
        try Waiting.until("both records") { try records("peers.loaded").count == 2 }
        let loaded = try records("peers.loaded")
        #expect(loaded.allSatisfy { $0.hasPrefix("tcp 127.0.0.1:") }, "\(loaded)")
        #expect(loaded[0].hasSuffix(": the peers of peers.yaml were read again: there are 2"), "\(loaded)")
        #expect(loaded[1].contains(": the former peers stay in use: peers.yaml:1:9: "), "\(loaded)")
        #expect(!loaded.joined().contains("seeded"), "\(loaded)")
        #expect(try run.terminate().end == .exit(0))
        #expect(try Kymo.run(["audit", "verify", "--data", data]).end == .exit(0))
    }

    private static let settings = """
        mappings: [./mine/]
        patients: patients.csv
        rules: rules.yaml
        output: {to: out}
        sources:
          - {unix: a.sock}
          - {tcp: "127.0.0.1:0", name: gate, peers: peers.yaml}

        """

    /// Which lists decide whose readings are, and who may bring them, is known from the start on, and from the reload on
    /// that names another one; and no record has what is in them.
    @Test func listsOfAStart() throws {
        mapping.folder.write("patients.csv", "device,patient\nseeded-device,seeded-patient\n")
        mapping.folder.write(
            "rules.yaml", "rules:\n  - {name: bench, then: drop, devices: [\"seeded-*\"]}\n")
        for (name, devices) in [("peers.yaml", "seeded-device"), ("more.yaml", "seeded-other")] {
            mapping.folder.write(
                name, "peers:\n  - {addresses: [10.0.0.0/8], name: ward, devices: [\(devices)]}\n")
        }
        mapping.folder.write("kymo.yaml", Self.settings)
        let begun = ["patients.begin", "rules.begin", "peers.begin"]
        let run = try Kymo.start(["run", "--config", "kymo.yaml", "--data", data], directory: mapping.folder.path)
        try run.waitForError("listening on tcp")
        try Waiting.until("the records of the start") { try begun.allSatisfy { try records($0).count == 1 } }
        let texts = try begun.flatMap { try records($0) }
        #expect(texts[0].contains("patients.csv: periods 1, devices 1, last changed 20"), "\(texts)")
        #expect(texts[1].contains("rules.yaml: there are 1, and 0 for resources, last changed 20"), "\(texts)")
        #expect(texts[2].contains("gate: begins with the peers of") && texts[2].contains("there are 1"), "\(texts)")
        // What stays is not told again; a source that comes has a list of its own.
        mapping.folder.write(
            "kymo.yaml", Self.settings + "  - {tcp: \"127.0.0.1:0\", name: late, peers: more.yaml}\n")
        run.signal(SIGHUP)
        try Waiting.until("the record of the reload: \(run.errorText)") { try records("peers.begin").count == 2 }
        let late = try records("peers.begin")[1]
        #expect(late.hasPrefix("SIGHUP: late: begins with the peers of") && late.contains("more.yaml"), "\(late)")
        #expect(try records("patients.begin").count == 1 && records("rules.begin").count == 1)
        #expect(try run.terminate().end == .exit(0))
        let all = try Kymo.run(["audit", "list", "--format", "ndjson", "--data", data]).text
        #expect(!all.contains("seeded"), "\(all)")
        #expect(try Kymo.run(["audit", "verify", "--data", data]).end == .exit(0))
    }
}
