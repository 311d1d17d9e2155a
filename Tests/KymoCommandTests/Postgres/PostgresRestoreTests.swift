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
            try Waiting.until("a server that is asked: \(process.errorText)") {
                let status = try Kymo.run(["status", "--data", run.data]).text
                return status.contains("the store cannot say which one it is")
                    || status.contains("the store was restored from a copy")
            }
            let former = try count(run)
            #expect(former == "13")
        }
        try Waiting.until("the reading: \(process.errorText)") { try count(run) == "11" }
        let done = try process.terminate()
        #expect(done.end == .exit(0) && done.error.contains("pg: delivered 1 entry"), "\(done.error)")
    }

    /// What waits while the database is away reaches the numbers of what was lost, in one run or in several.
    @Test(arguments: [false, true]) func muchWaitsBefore(_ isKilledBetween: Bool) throws {
        let run = try restored()
        try run.server.stop()
        let store = StoredRun(folder: run.folder)
        let others = (1...5).map { Readings.heartRate(second: $0, device: "later-\($0)") }
        var process = try start(run)
        for (number, line) in ([Readings.heartRate(second: 40)] + others).enumerated() {
            try run.send([line])
            try Waiting.until("\(number + 1) rows: \(process.errorText)") {
                try store.value("SELECT count(*) FROM outbox") == number + 1
            }
            guard isKilledBetween else { continue }
            process.signal(SIGKILL)
            #expect(try process.wait() == .signal(SIGKILL))
            process = try start(run)
        }
        try run.server.start()
        try Waiting.until("readings: \(process.errorText)") { try count(run) == "16" }
        #expect(try process.terminate().end == .exit(0))
        #expect(try run.server.query("SELECT count(DISTINCT writer) FROM kymo.observation") == ["1"])
    }

    /// The new version has the very number of the one that was lost.
    @Test func theSameNumberAgain() throws {
        let run = try restored(after: [10])
        let done = try run.run([Readings.heartRate(second: 40)])
        #expect(done.end == .exit(0) && done.error.contains("pg: delivered 1 entry"), "\(done.error)")
        let seconds = "SELECT extract(second FROM time)::integer FROM kymo.readings ORDER BY time DESC LIMIT 2"
        #expect(try run.server.query(seconds) == ["40", "9"])
    }
}
