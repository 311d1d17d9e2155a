import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// Runs with a server and without one take turns on a data directory.
@Suite struct SinkChangeTests {
    /// Nobody listens there.
    private static let server = ["--server", "http://127.0.0.1:9/fhir", "--server-identity", "create"]

    private func arguments(_ run: StoredRun, _ more: [String]) -> [String] {
        ["run", "--stdin", "--data", run.data, "--window", "10m"] + more
    }

    /// Bundles that are gone do not wait.
    @Test func whatIsGoneDoesNotWait() throws {
        let run = StoredRun()
        let first = try Kymo.run(
            arguments(run, Self.server + ["--out", "none"]), input: .bytes(Readings.ndjson(Readings.heartRates(20))))
        #expect(first.error.contains("1 bundles wait in"), "\(first.error)")
        try run.change("DELETE FROM outbox")
        let second = try Kymo.run(arguments(run, Self.server + ["--out", "none"]))
        #expect(second.end == .exit(0) && !second.error.contains("bundles wait in"), "\(second.error)")
    }
}
