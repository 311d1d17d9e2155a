import CommandSupport
import Foundation
import KymographTestKit
import Testing

/// A store that version 3 of the tables has left, or an earlier one, with bundles as text in the outbox and as dead
/// letters, and what the program that wrote it made of it. `Version3/make.py` wrote them.
struct FormerStore: Sendable, CustomTestStringConvertible {
    /// Who waits for what is in the outbox.
    enum Sinks: Sendable {
        /// Files, a server, and one that has refused what is in the letters.
        case servers(identity: String, fhirVersion: String)
        /// Two folders: a server takes no such form.
        case folders
    }

    var name: String
    var environment: [String: String]
    var sinks = Sinks.servers(identity: "create", fhirVersion: "4.0.1")
    /// The version of its tables.
    var version = 3

    var testDescription: String { name }

    /// All of them.
    static let all = [
        FormerStore(
            name: "transaction",
            environment: ["KYMO_OUTPUT_MAX_ENTRIES": "40", "KYMO_OUTPUT_GATEWAY": "FE-ED-AB-EE-DE-AD-77-C3"]),
        FormerStore(
            name: "batch",
            environment: [
                "KYMO_OUTPUT_MAX_ENTRIES": "40", "KYMO_OUTPUT_BUNDLE": "batch",
                "KYMO_OUTPUT_WRITE": "conditional-create",
            ]),
        FormerStore(
            name: "panel",
            environment: ["KYMO_OUTPUT_MAX_ENTRIES": "60", "KYMO_OUTPUT_WRITE": "conditional-update"]),
        FormerStore(
            name: "collection",
            environment: ["KYMO_OUTPUT_MAX_ENTRIES": "15", "KYMO_OUTPUT_BUNDLE": "collection"], sinks: .folders),
        FormerStore(
            name: "ndjson", environment: ["KYMO_OUTPUT_MAX_ENTRIES": "15", "KYMO_OUTPUT_FORMAT": "ndjson"],
            sinks: .folders),
        FormerStore(
            name: "stu3", environment: ["KYMO_OUTPUT_MAX_ENTRIES": "15", "KYMO_OUTPUT_FHIR_VERSION": "STU3"],
            sinks: .servers(identity: "create", fhirVersion: "3.0.2")),
        FormerStore(
            name: "lookup", environment: ["KYMO_OUTPUT_MAX_ENTRIES": "15"],
            sinks: .servers(identity: "lookup", fhirVersion: "4.0.1")),
        FormerStore(name: "first", environment: ["KYMO_OUTPUT_MAX_ENTRIES": "15"], version: 1),
    ]

    /// Compressed files in a folder beside this one: the database (`sqlite`), what files get of it, the requests of a server, and
    /// letters.
    func content(_ ending: String) throws -> [UInt8] {
        try FormerStore.content("Version\(version)/\(name).\(ending).gz")
    }

    /// The content of a compressed file in a folder beside this one.
    static func content(_ name: String) throws -> [UInt8] {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path
        let process = try ChildProcess("/bin/gzip", ["-dc", "\(folder)/\(name)"])
        guard try process.wait() == .exit(0) else { throw WaitError(description: process.errorText) }
        return process.output
    }
}

/// A run on a copy of a ``FormerStore``.
struct FormerRun {
    let run = StoredRun()
    let former: FormerStore
    /// What the server has taken, one request a line.
    let requests: String
    private let server: ChildProcess

    /// Copies the database to `data`, or else to a folder of its own.
    init(_ former: FormerStore) throws {
        self.former = former
        _ = try ChildProcess("/bin/mkdir", ["-p", run.data]).wait()
        Files.write(try former.content("sqlite"), to: "\(run.data)/kymo.sqlite")
        requests = run.folder.file("requests")
        server = try ChildProcess(
            SharedMaterial.python,
            ["-B", "\(SharedMaterial.package)/Tests/Servers/fhir_recorder.py", requests] + former.recorderOptions)
        let server = server
        try Waiting.until("the server's port") { server.output.last == 0x0A }
        let port = String(decoding: server.output.dropLast(), as: UTF8.self)
        run.folder.write("kymo.yaml", former.configuration(output: run.output, port: port))
    }

    /// Runs without input, to the end or to where `environment` has it die.
    func end(_ environment: [String: String] = [:], data: String? = nil) throws -> Kymo.Finished {
        try Kymo.run(
            [
                "run", "--stdin", "--data", data ?? run.data, "--config", run.folder.file("kymo.yaml"), "--window",
                "1m",
            ], environment: former.environment.merging(environment) { $1 }, input: .bytes([]))
    }

    /// What the first folder has.
    var files: [UInt8] { Files.names(run.output).sorted().flatMap { Files.read("\(run.output)/\($0)") } }

    /// What the server has taken.
    var taken: [String] { Files.text(requests).split(separator: "\n").map(String.init) }

    /// What the version that wrote the store sent.
    func expectedRequests() throws -> [String] {
        String(decoding: try former.content("requests"), as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Whether the server has taken what that version sent, in the same requests. Version 1 has grouped entries in
    /// another way: of it, the same resources that have an id.
    func hasTakenExpected(onlyOnce: Bool = true) throws -> Bool {
        guard former.version == 1 else {
            let isAll = Set(taken) == Set(try expectedRequests())
            return try isAll && (!onlyOnce || Files.read(requests) == former.content("requests"))
        }
        return try resources(in: taken).filter { $0["id"] != nil }
            == resources(in: expectedRequests()).filter { $0["id"] != nil }
    }

    /// The resources of requests, whatever bundles they came in.
    func resources(in requests: [String]) throws -> Set<JSONTree> {
        Set(
            try requests.flatMap { request in
                try JSONTree(parsing: Array(request.utf8))["entry"]?.elements?.compactMap { $0["resource"] } ?? []
            })
    }

    /// The version of the tables.
    func version() throws -> Int? { try run.value("PRAGMA user_version") }

    /// Has SQL say what a row holds: `text`, with the checksum that it was stored with.
    func replaceBody(_ table: String, _ number: Int, with text: String) throws {
        try run.change("UPDATE \(table) SET \(StoredRun.plainBody(Array(text.utf8))) WHERE number = \(number)")
    }
}

extension FormerStore {
    fileprivate var recorderOptions: [String] {
        guard case .servers(let identity, let fhirVersion) = sinks else { return [] }
        return ["--fhir-version", fhirVersion] + (identity == "lookup" ? ["--knows-all"] : [])
    }

    fileprivate func configuration(output: String, port: String) -> String {
        switch sinks {
        case .folders:
            """
            sinks:
              - {to: \(output), name: files}
              - {to: \(output)-more, name: more}
            """
        case .servers(let identity, _):
            """
            sinks:
              - {to: \(output), name: files}
              - {server: "http://127.0.0.1:\(port)/fhir", name: server, identity: \(identity), connections: 1}
              - {server: "http://127.0.0.1:\(port)/fhir", name: refusing, identity: create}
            """
        }
    }
}
