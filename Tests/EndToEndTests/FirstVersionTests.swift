import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// `conditional-create`: a server keeps the first version that it gets, and the ledger says what it lacks since.
@Suite(.serialized, .enabled(if: SharedMaterial.canRunPython, "needs KYMO_SHARED, and KYMO_PYTHON with aiohttp"))
struct FirstVersionTests {
    private static let write = ["KYMO_OUTPUT_WRITE": "conditional-create", "KYMO_LIMITS_PRELIMINARY_EVERY": "3"]

    private func run(
        _ folder: TemporaryFolder, _ server: FHIRServer, _ lines: some Sequence<String>, write: [String: String] = write
    ) throws {
        let done = try Kymo.run(
            [
                "run", "--stdin", "--data", folder.file("data"), "--out", "none", "--server", server.base,
                "--server-identity", "create", "--window", "1m",
            ], environment: write, input: .bytes(Readings.ndjson(Array(lines))))
        #expect(done.end == .exit(0) && done.error.contains("undeliverable 0"), "\(done.error)")
        // The start says what servers will never hear of.
        #expect(done.error.contains("a reading of it was taken back") == (write == Self.write), "\(done.error)")
    }

    private func command(_ folder: TemporaryFolder, _ arguments: String...) throws -> Kymo.Finished {
        try Kymo.run(arguments + ["--data", folder.file("data")])
    }

    /// The Observations on the server: status and number of readings.
    private func observations(_ server: FHIRServer) async throws -> [String] {
        let (body, _) = try await server.get("/Observation?_count=100")
        return try (JSONTree(parsing: Array(body))["entry"]?.elements ?? []).map { entry in
            let components = entry["resource"]?["component"]?.elements ?? []
            let counts = components.compactMap { component in
                if case .number(let text)? = component["valueInteger"] { text } else { nil }
            }
            return "\(entry["resource"]?["status"]?.text ?? "") \(counts.first ?? "1")"
        }
    }

    /// A preliminary Observation would stay for good, and the final one would be passed over without a word.
    @Test func noPreliminaryStays() async throws {
        let server = try FHIRServer()
        try await server.waitUntilReady()
        let folder = TemporaryFolder()
        try run(folder, server, Readings.heartRates(5))
        #expect(try await observations(server) == ["final 5"])
        #expect(try command(folder, "ledger", "--device", "watch-1").end == .exit(0))
        let file = folder.write("kymo.yaml", "output: {write: conditional-create}\nlimits: {preliminaryEvery: 3}\n")
        let check = try Kymo.run(["check", "--config", file])
        #expect((check.text + check.error).contains("no effect with conditional-create"), "\(check.text)\(check.error)")
    }

    /// What is taken back stays on the server. The ledger ends with 65 for it, whatever it is asked about: waiting does
    /// not help.
    @Test func whatIsTakenBackStays() async throws {
        let server = try FHIRServer()
        try await server.waitUntilReady()
        let folder = TemporaryFolder()
        let reading =
            #"{"deviceId":"watch-1","type":"heartRate","timestamp":"2026-03-01T08:00:00Z","value":60,"unit":"/min","#
            + #""id":"s"}"#
        try run(folder, server, [reading])
        #expect(try command(folder, "ledger").end == .exit(0))
        try run(folder, server, [#"{"deviceId":"watch-1","deleted":"heartRate","id":"s"}"#])
        #expect(try await observations(server) == ["final 1"])
        let ledger = try command(folder, "ledger")
        #expect(ledger.end == .exit(65), "\(ledger.text)")
        #expect(ledger.text.contains("lacks the latest version of 1 resource,"), "\(ledger.text)")
    }

    /// What came late is not on the server: the receipt of the bundle was taken for its delivery. The second device's
    /// name is longer than what servers compare.
    @Test(arguments: ["watch-1", String(repeating: "w", count: 140)]) func theLedgerSaysWhatTheServerLacks(
        device: String
    ) async throws {
        let server = try FHIRServer()
        try await server.waitUntilReady()
        let folder = TemporaryFolder()
        let lines = Readings.heartRates(20, device: device)
        try run(folder, server, lines.prefix(10))
        #expect(try command(folder, "ledger", "--verify").end == .exit(0))
        try run(folder, server, lines.suffix(10))
        #expect(try await observations(server) == ["final 10"])
        let ledger = try command(folder, "ledger", "--device", device)
        #expect(ledger.end == .exit(65), "\(ledger.text)")
        #expect(ledger.text.contains("lacks the latest version of 1 resource,"), "\(ledger.text)")
        #expect(ledger.text.contains("\(server.base) waits"), "\(ledger.text)")
        #expect(ledger.text.contains("\(device).heartRate"), "\(ledger.text)")
        let verified = try command(folder, "ledger", "--verify")
        #expect(verified.end == .exit(65) && verified.error.contains("lacks the latest version"), "\(verified.error)")
        #expect(try command(folder, "status").text.contains("lacks the latest version of 1 resource:"))
        // The next version replaces what is there, and nothing is lacking any more.
        let last = Readings.heartRate(second: 30, value: 99, device: device)
        try run(folder, server, [last], write: ["KYMO_OUTPUT_WRITE": "conditional-update"])
        #expect(try await observations(server) == ["amended 21"])
        let settled = try command(folder, "ledger", "--verify")
        #expect(settled.end == .exit(0), "\(settled.error)")
    }
}
