import CommandSupport
import Foundation
import Glibc
import KymographTestKit
import Testing

/// Stores that version 3 of the tables has left, with bundles as text in the outbox and as dead letters: what waits
/// there leaves once, as that version would have sent it.
@Suite(.enabled(if: SharedMaterial.canRunPython, "needs Python")) struct MigrationTests {
    /// A store, and what the version that wrote it makes of it.
    struct Former: Sendable, CustomTestStringConvertible {
        var name: String
        var environment: [String: String]

        var testDescription: String { name }

        /// Compressed files beside this one: the database, what files get of it, what a server gets, letters.
        func content(_ ending: String) throws -> [UInt8] {
            let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path
            let process = try ChildProcess("/bin/gzip", ["-dc", "\(folder)/Version3/\(name).\(ending).gz"])
            guard try process.wait() == .exit(0) else { throw WaitError(description: process.errorText) }
            return process.output
        }
    }

    private static let all = [
        Former(
            name: "transaction",
            environment: [
                "KYMO_OUTPUT_MAX_ENTRIES": "40", "KYMO_OUTPUT_GATEWAY": "FE-ED-AB-EE-DE-AD-77-C3",
            ]),
        Former(
            name: "batch",
            environment: [
                "KYMO_OUTPUT_MAX_ENTRIES": "40", "KYMO_OUTPUT_BUNDLE": "batch",
                "KYMO_OUTPUT_WRITE": "conditional-create",
            ]),
        Former(
            name: "panel",
            environment: ["KYMO_OUTPUT_MAX_ENTRIES": "60", "KYMO_OUTPUT_WRITE": "conditional-update"]),
    ]

    /// Where a process dies, and how often it comes there before.
    private static let deaths = [
        "before-migration", "during-migration", "during-migration:2", "during-migration:5", "after-migration",
        "migrated", "before-write", "before-commit", "after-commit",
    ]

    /// A run on a copy of the store.
    private struct Copy {
        let run = StoredRun()
        let requests: String
        private let server: ChildProcess
        private let former: Former

        init(_ former: Former) throws {
            self.former = former
            _ = try ChildProcess("/bin/mkdir", ["-p", run.data]).wait()
            Files.write(try former.content("sqlite"), to: "\(run.data)/kymo.sqlite")
            requests = run.folder.file("requests")
            let tests = (0..<4).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }
            let script = "\(tests.path)/Servers/fhir_recorder.py"
            let server = try ChildProcess(SharedMaterial.python, ["-B", script, requests])
            self.server = server
            try Waiting.until("the server's port") { server.output.last == 0x0A }
            let port = String(decoding: server.output.dropLast(), as: UTF8.self)
            run.folder.write(
                "kymo.yaml",
                """
                sinks:
                  - {to: \(run.output), name: files}
                  - {server: "http://127.0.0.1:\(port)/fhir", name: server, identity: create, connections: 1}
                  - {server: "http://127.0.0.1:\(port)/fhir", name: refusing, identity: create}
                """)
        }

        /// Runs without input, to the end or to where `environment` has it die.
        func end(_ environment: [String: String] = [:]) throws -> Kymo.Finished {
            try Kymo.run(
                ["run", "--stdin", "--data", run.data, "--config", run.folder.file("kymo.yaml"), "--window", "1m"],
                environment: former.environment.merging(environment) { $1 }, input: .bytes([]))
        }

        /// What the folder of files has.
        var files: [UInt8] { Files.names(run.output).sorted().flatMap { Files.read("\(run.output)/\($0)") } }
    }

    @Test(arguments: all) func whatWaitsLeavesAsItWould(former: Former) throws {
        let copy = try Copy(former)
        // The letters tell what they did, and the file sink begins anew.
        let done = try copy.end()
        #expect(done.end == .exit(0) && done.error.contains("undeliverable 0"), "\(done.error)")
        #expect(Files.read(copy.requests) == (try former.content("requests")))
        try check(copy, former)
    }

    @Test(arguments: all) func filesGetWhatTheyWouldHaveGot(former: Former) throws {
        let copy = try Copy(former)
        _ = try copy.end(["KYMO_CRASH_POINT": "migrated"])
        try copy.run.change("UPDATE sink SET through = 0 WHERE name = 'files'")
        #expect(try copy.end().end == .exit(0))
        #expect(copy.files == (try former.content("files")))
    }

    /// Killed at every step, the migration begins again, and nothing leaves twice that a server has answered.
    @Test(arguments: all) func killedAtEveryStep(former: Former) throws {
        let copy = try Copy(former)
        for death in Self.deaths {
            let killed = try copy.end(["KYMO_CRASH_POINT": death])
            #expect(killed.end == .signal(SIGKILL) || death.contains("migrat"), "\(death): \(killed.error)")
            if death.hasPrefix("migrated") { #expect(try copy.run.value("PRAGMA user_version") == 4) }
            if ["before-migration", "after-migration"].contains(death) {
                #expect(try copy.run.value("PRAGMA user_version") == 3, "\(death)")
            }
        }
        #expect(try copy.end().end == .exit(0))
        // What was under way when a process died may come again.
        let sent = Set(Files.read(copy.requests).split(separator: 0x0A))
        #expect(sent == Set(try former.content("requests").split(separator: 0x0A)))
        try check(copy, former)
    }

    private func check(_ copy: Copy, _ former: Former) throws {
        #expect(try copy.run.value("SELECT count(*) FROM outbox") == 0)
        #expect(try copy.run.value("SELECT count(*) FROM quarantine") == 0)
        var letters: [UInt8] = []
        for letter in try copy.run.command("dead", "list", "--format", "ndjson").lines {
            let number = try JSONTree(parsing: Array(letter.utf8))["number"]?.integer ?? 0
            letters += try copy.run.command("dead", "show", "\(number)", "--bytes").output
        }
        #expect(letters == (try former.content("letters")))
        guard !letters.isEmpty else { return }
        // They go to the server that refused them, as they were.
        let replayed = try copy.run.command("dead", "replay", "--all")
        #expect(replayed.end == .exit(0), "\(replayed.error)")
        let before = Files.read(copy.requests).count
        #expect(try copy.end().end == .exit(0))
        let more = String(decoding: Files.read(copy.requests).dropFirst(before), as: UTF8.self)
        #expect(more.components(separatedBy: "Battery low").count == 3, "\(more)")
    }
}
