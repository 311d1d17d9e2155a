import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// `--server-identity lookup`: every reading is filed under the patient that it is of, or under none.
@Suite(.serialized, .enabled(if: SharedMaterial.canRunPython, "needs KYMO_SHARED, and KYMO_PYTHON with aiohttp"))
struct LookupTests {
    private static let composed = "Bj\u{F6}rn-1"
    private static let decomposed = "Bjo\u{308}rn-1"

    private func weight(_ device: String, _ second: Int, _ value: Int, patient: String? = nil) -> String {
        let person = patient.map { #","patientId":"\#($0)""# } ?? ""
        return #"{"deviceId":"\#(device)","type":"bodyMass","timestamp":"2026-03-01T08:00:0\#(second)Z","#
            + #""value":\#(value),"unit":"kg"\#(person)}"#
    }

    private func register(_ server: FHIRServer, patients: [String]) async throws {
        for id in patients {
            try await server.put(
                "/Patient/\(id)",
                #"{"resourceType":"Patient","id":"\#(id)","#
                    + #""identifier":[{"system":"urn:kymograph:patient","value":"patient-\#(id)"}]}"#)
        }
    }

    private func register(_ server: FHIRServer, device: String, _ id: String, of patient: String) async throws {
        try await server.put(
            "/Device/\(id)",
            #"{"resourceType":"Device","id":"\#(id)","patient":{"reference":"Patient/\#(patient)"},"#
                + #""identifier":[{"system":"urn:kymograph:device","value":"\#(device)"}]}"#)
    }

    /// Values of the Observations of each patient on the server.
    private func values(_ server: FHIRServer) async throws -> [String: Set<String>] {
        let (body, _) = try await server.get("/Observation?_count=100")
        var values: [String: Set<String>] = [:]
        for entry in try JSONTree(parsing: Array(body))["entry"]?.elements ?? [] {
            let resource = entry["resource"]
            guard case .number(let value)? = resource?["valueQuantity"]?["value"] else { continue }
            values[resource?["subject"]?["reference"]?.text ?? "", default: []].insert("\(value)")
        }
        return values
    }

    private func run(_ folder: TemporaryFolder, _ server: FHIRServer, _ maxAge: String) throws -> ChildProcess {
        let run = try Kymo.start(
            [
                "run", "--unix", folder.file("a.sock"), "--data", folder.file("data"), "--out", "none", "--server",
                server.base, "--server-identity", "lookup", "--idle", "200ms",
            ], environment: ["KYMO_SERVER_IDENTITY_MAX_AGE": maxAge])
        _ = try run.addresses()
        return run
    }

    private func waitFor(_ count: Int, _ server: FHIRServer) async throws {
        for _ in 0..<400 {
            if try await values(server).values.reduce(0, { $0 + $1.count }) >= count { return }
            try await Task.sleep(for: .milliseconds(25))
        }
        Issue.record("\(count) Observations were not delivered")
    }

    /// Two devices whose names look the same, and a reading that names the patient of another device.
    @Test func nothingIsFiledUnderSomebodyElse() async throws {
        let server = try FHIRServer()
        try await server.waitUntilReady()
        try await register(server, patients: ["A", "B"])
        try await register(server, device: Self.composed, "d1", of: "A")
        try await register(server, device: Self.decomposed, "d2", of: "B")
        try await register(server, device: "monitor-7", "mon", of: "A")
        let folder = TemporaryFolder()
        let lines = [
            weight(Self.composed, 1, 50), weight(Self.decomposed, 2, 60),
            weight("monitor-7", 3, 70, patient: "patient-A"),
            weight("monitor-7", 4, 80, patient: "patient-B"),
        ]
        let done = try Kymo.run(
            [
                "run", "--stdin", "--data", folder.file("data"), "--out", "none", "--server", server.base,
                "--server-identity", "lookup",
            ], input: .bytes(Readings.ndjson(lines)))
        #expect(
            done.error.contains("delivered 3 entries, undeliverable 1 (patientDeviceMismatch 1)"), "\(done.error)")
        #expect(try await values(server) == ["Patient/A": ["50", "70"], "Patient/B": ["60"]])
        let letters = try Kymo.run(["dead", "list", "--data", folder.file("data")])
        #expect(letters.text.contains("patientDeviceMismatch"), "\(letters.text)")
        let ledger = try Kymo.run(["ledger", "--device", "monitor-7", "--data", folder.file("data")])
        #expect(ledger.end == .exit(65), "\(ledger.text)")
        #expect(
            ledger.text.contains("1 entry was put aside for a server (patientDeviceMismatch 1)"), "\(ledger.text)")
    }

    /// A device whose name is longer than what servers compare is registered under what stands for it.
    @Test func aLongNameIsLookedUpByItsDigest() async throws {
        let server = try FHIRServer()
        try await server.waitUntilReady()
        try await register(server, patients: ["A"])
        // The SHA-256 of 140 times x.
        let digest = "sha256:f5e19a4ccf0b42e0480ba5139ed6eec8d802e53e0bb4055e7f321fcba2d2f178"
        try await register(server, device: digest, "long", of: "A")
        let folder = TemporaryFolder()
        let lines = [
            weight(String(repeating: "x", count: 140), 1, 50), weight(String(repeating: "x", count: 139), 2, 60),
        ]
        let done = try Kymo.run(
            [
                "run", "--stdin", "--data", folder.file("data"), "--out", "none", "--server", server.base,
                "--server-identity", "lookup",
            ], input: .bytes(Readings.ndjson(lines)))
        #expect(done.error.contains("delivered 1 entry, undeliverable 1 (identityNotFound 1)"), "\(done.error)")
        #expect(try await values(server) == ["Patient/A": ["50"]])
    }

    /// A device that sends all the time is seen to be another patient's.
    @Test func aChangeOnTheServerIsSeenInTime() async throws {
        let server = try FHIRServer()
        try await server.waitUntilReady()
        try await register(server, patients: ["A", "B"])
        try await register(server, device: "monitor-7", "mon", of: "A")
        let folder = TemporaryFolder()
        let run = try run(folder, server, "1s")
        let client = try AckClient(folder.file("a.sock"))
        client.send(Readings.ndjson([weight("monitor-7", 1, 50)]))
        try await waitFor(1, server)
        try await register(server, device: "monitor-7", "mon", of: "B")
        try await Task.sleep(for: .milliseconds(1_100))
        client.send(Readings.ndjson([weight("monitor-7", 2, 60)]))
        try await waitFor(2, server)
        #expect(try await values(server) == ["Patient/A": ["50"], "Patient/B": ["60"]])
        #expect(try run.terminate().end == .exit(0))
    }

    /// Who does not want to wait says so, by a signal or a command; the status says what is remembered.
    @Test(arguments: [true, false]) func lookupsAreForgottenOnDemand(bySignal: Bool) async throws {
        let server = try FHIRServer()
        try await server.waitUntilReady()
        try await register(server, patients: ["A", "B"])
        try await register(server, device: "monitor-7", "mon", of: "A")
        let folder = TemporaryFolder()
        let run = try run(folder, server, "1h")
        let client = try AckClient(folder.file("a.sock"))
        client.send(Readings.ndjson([weight("monitor-7", 1, 50)]))
        try await waitFor(1, server)
        try await register(server, device: "monitor-7", "mon", of: "B")
        client.send(Readings.ndjson([weight("monitor-7", 2, 60), weight("nobody", 2, 60)]))
        try await waitFor(2, server)
        try Waiting.until("a lookup and the reason of a failed one") {
            let status = try Kymo.run(["status", "--data", folder.file("data")])
            return status.text.contains("lookups 2, the oldest ")
                && status.text.contains("undeliverable 1 (identityNotFound 1)")
        }
        if bySignal {
            run.signal(SIGHUP)
            try run.waitForError("SIGHUP")
        } else {
            let done = try Kymo.run(["forget-lookups", "--data", folder.file("data")])
            #expect(done.end == .exit(0), "\(done.error)")
        }
        client.send(Readings.ndjson([weight("monitor-7", 3, 70)]))
        try await waitFor(3, server)
        #expect(try await values(server) == ["Patient/A": ["50", "60"], "Patient/B": ["70"]])
        #expect(try run.terminate().end == .exit(0))
        let late = try Kymo.run(["forget-lookups", "--data", folder.file("data")])
        #expect(late.end == .exit(66) && late.error.contains("no instance runs in"), "\(late.error)")
    }
}
