import CommandSupport
import Glibc
import KymographTestKit
import Testing
import TrialSupport

/// kymo is killed, and the database too, again and again, while a client sends: in the end the tables have what a run
/// without crashes has, and nothing twice.
@Suite(.serialized, .enabled(if: PostgresServer.isInstalled, "needs the package postgresql-15"))
struct PostgresCrashTests {
    /// How often kymo dies; the database dies every fourth time besides.
    private static let rounds = Trials.tortureRounds ?? 20

    private static let stored = """
        SELECT o.identity, o.resource - 'status', r.ordinal, r.time, r.value, r.unit
        FROM kymo.observation o LEFT JOIN kymo.reading r ON r.observation = o.number ORDER BY o.identity, r.ordinal
        """

    private func start(_ run: PostgresRun) throws -> ChildProcess? {
        let process = try Kymo.start(run.arguments() + ["--unix", run.folder.file("k.sock")] + CrashTests.windows)
        return (try? process.addresses()).map { _ in process }
    }

    @Test func bothDieAtAnyMoment() throws {
        let seed = Trials.seed(47)
        let lines = CrashTests.lines(seed: seed, count: max(3_000, Self.rounds * 150))
        var random = SeededBytes(seed: seed)
        let run = PostgresRun(server: try PostgresServer())
        var acknowledged = 0
        for round in 0..<Self.rounds {
            let process = try #require(try start(run))
            let client = try AckClient(run.folder.file("k.sock"))
            let end = ContinuousClock.now + .milliseconds(5 + random.next(upTo: 600))
            client.send(Readings.ndjson(Array(lines[acknowledged...].prefix(lines.count / Self.rounds))))
            let killsServer = round % 4 == 1
            if killsServer {
                usleep(UInt32(random.next(upTo: 300)) * 1_000)
                try run.server.kill()
                try run.server.start()
            }
            while ContinuousClock.now < end {
                client.receive()
                usleep(1_000)
            }
            process.signal(SIGKILL)
            #expect(try process.wait() == .signal(SIGKILL), "round \(round): \(process.errorText)")
            client.receive()
            acknowledged += client.acknowledged
        }
        let rest = try Kymo.run(
            run.arguments() + ["--stdin"] + CrashTests.windows,
            input: .bytes(Readings.ndjson(Array(lines[acknowledged...]))))
        #expect(rest.end == .exit(0) && rest.error.contains("undeliverable 0"), "\(rest.error)")
        let found = try run.server.query(Self.stored)
        let calm = PostgresRun(server: try PostgresServer())
        let done = try Kymo.run(
            calm.arguments() + ["--stdin"] + CrashTests.windows, input: .bytes(Readings.ndjson(lines)))
        #expect(done.end == .exit(0), "\(done.error)")
        let expected = try calm.server.query(Self.stored)
        let differences = Set(found).symmetricDifference(expected).sorted()
        #expect(differences.isEmpty, "seed \(seed): \(differences.prefix(5))")
        #expect(found.count == expected.count && expected.count > 2_000, "\(found.count) and \(expected.count) rows")
        let twice = try run.server.query("SELECT identity FROM kymo.observation GROUP BY 1 HAVING count(*) > 1")
        #expect(twice == [])
        // A process that was killed, or an answer that was lost, is no restore.
        #expect(try run.server.query("SELECT count(DISTINCT writer) FROM kymo.observation") == ["1"])
    }
}
