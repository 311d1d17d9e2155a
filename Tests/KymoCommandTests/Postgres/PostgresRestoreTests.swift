import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// A store that was restored from a copy numbers its rows anew: whatever it stores from then on replaces what a
/// database has of the time that was lost.
@Suite(.serialized, .enabled(if: PostgresServer.isInstalled, "needs the package postgresql-15"))
struct PostgresRestoreTests {
    /// A run whose data directory was put back after a version of the window was stored for each of `seconds`.
    private func restored(after seconds: [Int] = [10, 20, 30]) throws -> PostgresRun {
        let run = PostgresRun(server: try PostgresServer())
        #expect(try run.run(Readings.heartRates(10)).end == .exit(0))
        let copy = run.folder.file("copy")
        _ = try ChildProcess("cp", ["-a", run.data, copy]).finish()
        for second in seconds { #expect(try run.run([Readings.heartRate(second: second)]).end == .exit(0)) }
        #expect(try count(run) == "\(10 + seconds.count)")
        _ = try ChildProcess("rm", ["-r", run.data]).finish()
        Files.move(copy, to: run.data)
        return run
    }

    private func count(_ run: PostgresRun) throws -> String? {
        try run.server.query("SELECT count(*) FROM kymo.readings").first
    }

    private func start(_ run: PostgresRun) throws -> ChildProcess {
        try run.start("", ["--lateness", "1s", "--idle", "1s"])
    }

    /// While the store cannot be written, it cannot become another one: until then nothing counts as delivered.
    @Test func theStoreIsLockedMeanwhile() throws {
        let run = try restored()
        try run.server.stop()
        let process = try start(run)
        try run.send([Readings.heartRate(second: 40)])
        let store = StoredRun(folder: run.folder)
        try Waiting.until("a version that waits: \(process.errorText)") {
            try store.value("SELECT count(*) FROM outbox") == 1
        }
        try store.locked {
            try run.server.start()
            try Waiting.until("a restore that is seen: \(process.errorText)") {
                try Kymo.run(["status", "--data", run.data]).text.contains("the store was restored from a copy")
            }
        }
        try Waiting.until("the reading: \(process.errorText)") { try count(run) == "11" }
        let done = try process.terminate()
        #expect(done.end == .exit(0) && done.error.contains("pg: delivered 1 entries"), "\(done.error)")
    }
}
