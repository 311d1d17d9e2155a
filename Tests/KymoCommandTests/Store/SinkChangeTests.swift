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

    /// Bundles in the outbox.
    private func waiting(_ run: StoredRun) throws -> Int? {
        try run.json("status", "--format", "json")["store"]?["outboxRows"]?.integer
    }

    /// What the files had not got when a run with a server died comes with the next run, although that has no server;
    /// what the server has not got waits for it, and that is said.
    @Test func filesGetWhatAnEarlierRunLeft() throws {
        let run = StoredRun()
        let lines = Readings.heartRates(300)
        let dead = try Kymo.run(
            arguments(run, Self.server + ["--out", run.output]), environment: ["KYMO_CRASH_POINT": "before-send:1"],
            input: .bytes(Readings.ndjson(lines)))
        #expect(dead.end == .signal(SIGKILL), "\(dead.error)")
        #expect(try waiting(run) == 1)
        let next = try Kymo.run(arguments(run, ["--out", run.output]))
        #expect(next.end == .exit(0) && next.error.contains("1 bundle in"), "\(next.error)")
        #expect(next.error.contains("waits for server http://127.0.0.1:9/fhir"), "\(next.error)")
        let oracle = try Kymo.run(
            ["run", "--stdin", "--ephemeral", "--window", "10m"], input: .bytes(Readings.ndjson(lines)))
        var (expected, found) = (BundleReader(), BundleReader())
        try expected.read(ndjson: oracle.output)
        for name in Files.names(run.output) { try found.read(ndjson: Files.read("\(run.output)/\(name)")) }
        #expect(found.differences(from: expected) == [] && expected.observations.count == 1)
        #expect(try waiting(run) == 1, "the server has not got it")
        let last = try Kymo.run(arguments(run, Self.server + ["--out", "none"]))
        #expect(last.error.contains("1 bundle waits in"), "\(last.error)")
    }

    /// Bundles that are gone do not wait.
    @Test func whatIsGoneDoesNotWait() throws {
        let run = StoredRun()
        let first = try Kymo.run(
            arguments(run, Self.server + ["--out", "none"]), input: .bytes(Readings.ndjson(Readings.heartRates(20))))
        #expect(first.error.contains("1 bundle waits in"), "\(first.error)")
        try run.change("DELETE FROM outbox")
        let second = try Kymo.run(arguments(run, Self.server + ["--out", "none"]))
        #expect(second.end == .exit(0) && !second.error.contains("for the next start"), "\(second.error)")
    }
}
