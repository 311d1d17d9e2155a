import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// `audit.url`: the audit trail on a FHIR server.
@Suite(.enabled(if: SharedMaterial.canRunPython)) struct AuditSinkTests {
    private static let reading =
        #"{"deviceId":"seeded-device","patientId":"seeded-patient","type":"heartRate","timestamp":"2026-03-01T08:00:00Z","value":61,"unit":"/min"}"#

    /// An instance with a socket, a store and a server for its trail.
    private struct Instance {
        let folder = TemporaryFolder()
        var data: String { folder.file("data") }

        func start(_ server: String) throws -> ChildProcess {
            folder.write(
                "kymo.yaml",
                "data: data\noutput: {to: out}\nsources: [{unix: a.sock}]\nhttp: {admin: 127.0.0.1:0}\n"
                    + "audit: {url: '\(server)/'}\n")
            let process = try Kymo.start(["run", "--config", "kymo.yaml"], directory: folder.path)
            _ = try process.addresses()
            return process
        }

        /// Sends a reading, and waits until it is durable.
        func send() throws {
            let client = try AckClient(folder.file("a.sock"))
            client.send(Readings.ndjson([AuditSinkTests.reading]))
            try Waiting.until("the acknowledgement") {
                client.receive()
                return client.acknowledged == 1
            }
        }

        /// Has a command write to the trail.
        func query(_ times: Int = 1) throws {
            for _ in 0..<times { #expect(try Kymo.run(["query", "--readings", "--data", data]).end == .exit(0)) }
        }

        /// The digests of all records, but for those of starts: an instance that has just begun may be about to write it.
        func digests() throws -> [String] {
            let list = try Kymo.run(["audit", "list", "--format", "ndjson", "--data", data])
            return try list.lines.map { try JSONTree(parsing: Array($0.utf8)) }
                .filter { !($0["event"]?.text?.hasSuffix(".begin") ?? false) }.compactMap { $0["digest"]?.text }
        }

        /// Waits until `server` has an event for each record of the trail; gives them in order.
        func events(on server: FHIRServer) async throws -> [JSONTree] {
            var events: [JSONTree] = []
            for digest in try digests() {
                var found: JSONTree?
                for _ in 0..<600 where found == nil {
                    let (body, status) = try await server.get("/AuditEvent/\(digest)")
                    if status == 200 { found = try JSONTree(parsing: Array(body)) }
                    if status != 200 { try await Task.sleep(for: .milliseconds(50)) }
                }
                events.append(try #require(found, "no event of \(digest)"))
            }
            return events
        }
    }

    /// What commands and the instance note is there, once, also what was noted while no instance ran.
    @Test func allRecordsCome() async throws {
        let server = try FHIRServer()
        try await server.waitUntilReady()
        let instance = Instance()
        let first = try instance.start(server.base)
        try instance.send()
        try instance.query(3)
        let events = try await instance.events(on: server)
        #expect(events.count == 3 && events.allSatisfy { $0["type"]?["code"]?.text == "110112" })
        #expect(!events.map { "\($0)" }.joined().contains("seeded"))
        let client = try AdminClient(first)
        // With that of the start.
        try Waiting.until("four events") { try client.value("kymo_audit_events_total") == 4 }
        #expect(try client.value("kymo_audit_up") == 1)
        #expect(try first.terminate().end == .exit(0))
        try instance.query(2)
        let second = try instance.start(server.base)
        #expect(try await instance.events(on: server).count == 5)
        let other = try AdminClient(second)
        try Waiting.until("three more events") { try other.value("kymo_audit_events_total") == 3 }
        #expect(try second.terminate().end == .exit(0))
    }

    /// A server that is away gets what waits when it is back, also through a kill.
    @Test func whatWaitsComesLater() async throws {
        let instance = Instance()
        var server: FHIRServer? = try FHIRServer()
        try await server?.waitUntilReady()
        let (base, port) = (server?.base ?? "", server?.port ?? 0)
        server = nil
        let first = try instance.start(base)
        try instance.send()
        try instance.query(4)
        try first.waitForError("AuditEvents wait in the audit trail")
        first.signal(SIGKILL)
        _ = try first.wait()
        let again = try FHIRServer(port: port)
        try await again.waitUntilReady()
        let second = try instance.start(base)
        #expect(try await instance.events(on: again).count == 4)
        #expect(try second.terminate().end == .exit(0))
    }

    /// Faults of the server cost nothing and double nothing.
    @Test func faults() async throws {
        let server = try FHIRServer()
        try await server.waitUntilReady()
        try await server.makeFaults(["lost": 0.2, "500": 0.2, "429": 0.1, "bad-json": 0.1])
        let instance = Instance()
        let process = try instance.start(server.base)
        try instance.send()
        try instance.query(12)
        try await server.makeFaults([:])
        #expect(try await instance.events(on: server).count == 12)
        let (body, _) = try await server.get("/AuditEvent?_summary=count")
        #expect(try JSONTree(parsing: Array(body))["total"] == .number("13"))
        #expect(try process.terminate().end == .exit(0))
        let verified = try Kymo.run(["audit", "verify", "--data", instance.data])
        #expect(verified.end == .exit(0), "\(verified.error)")
    }

    /// A trail that was made from scratch is sent whole.
    @Test func otherTrails() async throws {
        let server = try FHIRServer()
        try await server.waitUntilReady()
        let instance = Instance()
        var process = try instance.start(server.base)
        try instance.send()
        try instance.query(3)
        _ = try await instance.events(on: server)
        #expect(try process.terminate().end == .exit(0))
        let folder = "\(instance.data)/audit"
        Files.move(folder, to: instance.folder.file("former"))
        try instance.query(2)
        process = try instance.start(server.base)
        #expect(try await instance.events(on: server).count == 2)
        #expect(try process.terminate().end == .exit(0))
    }

    /// Another version of FHIR is refused, and said; so it is by a check.
    @Test func anotherVersion() async throws {
        let server = try FHIRServer(version: "R5")
        try await server.waitUntilReady()
        let instance = Instance()
        let process = try instance.start(server.base)
        try instance.send()
        try instance.query()
        try process.waitForError("AuditEvents are of R4: take another server")
        #expect(try process.terminate().end == .exit(0))
        let check = try Kymo.run(["check", "--config", "kymo.yaml", "--connect"], directory: instance.folder.path)
        #expect(check.end == .exit(69) && check.error.contains("kymo.yaml:5:"), "\(check.error)")
    }

    @Test func mistakes() throws {
        let folder = TemporaryFolder()
        func check(_ audit: String, more: String = "data: data") throws -> Kymo.Finished {
            folder.write("kymo.yaml", "\(more)\noutput: {to: out}\nsources: [{unix: a.sock}]\naudit: {\(audit)}\n")
            return try Kymo.run(["check", "--config", "kymo.yaml"], directory: folder.path)
        }
        let alone = try check("tokenFile: t")
        #expect(alone.end == .exit(0) && alone.error.contains("it has no effect without audit.url"), "\(alone.error)")
        let file = try check("url: 'https://h/fhir', authorization: bearer, tokenFile: missing")
        #expect(file.end == .exit(78) && file.error.contains("kymo.yaml:4:"), "\(file.error)")
        #expect(file.error.contains("audit: tokenFile"), "\(file.error)")
        let bare = try check("url: 'https://h/fhir', authorization: smart")
        #expect(bare.end == .exit(78) && bare.error.contains("audit.clientId and audit.keyFile"), "\(bare.error)")
        let plain = try check("url: 'http://h.example/fhir', authorization: bearer, tokenFile: missing")
        #expect(plain.end == .exit(78) && plain.error.contains("is not encrypted"), "\(plain.error)")
        let nothing = try check("url: 'https://h/fhir'", more: "ephemeral: true")
        #expect(nothing.end == .exit(78) && nothing.error.contains("no audit trail without a data directory"))
    }
}
