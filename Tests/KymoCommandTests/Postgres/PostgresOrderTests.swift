import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// Which version of an Observation a database keeps, and how its tables are made.
@Suite(.serialized, .enabled(if: PostgresServer.isInstalled, "needs the package postgresql-15"))
struct PostgresOrderTests {
    private static let lines = (0..<120).map { Readings.heartRate(second: $0, device: "w-\($0 % 2)") }

    /// Rows that come again after later ones: what is newer stays, and what another store has written does not. To a
    /// store of an earlier version, which has not noted what was sent, all that it has may have been.
    @Test(arguments: [false, true]) func whatIsOlderReplacesNothing(_ hasNoted: Bool) throws {
        let run = PostgresRun(server: try PostgresServer())
        // A sink that is away keeps the rows.
        let away = ", {name: away, server: \"http://127.0.0.1:9/fhir\", identity: create}"
        let first = try Kymo.run(
            run.arguments(away) + ["--stdin"], input: .bytes(Readings.ndjson(Self.lines)))
        #expect(first.end == .exit(0) && first.error.contains("pg: delivered 4 entries"), "\(first.error)")
        let ids = try run.server.query("SELECT id FROM kymo.observation ORDER BY number")
        #expect(ids.count == 4)
        let changes = [
            "status = 'newer', sequence = (SELECT max(sequence) FROM kymo.observation)",
            "status = 'other', sequence = sequence + 1000, writer = 'x'",
            "status = 'older', sequence = sequence - 1",
        ]
        for (id, change) in zip(ids, changes) {
            try run.server.query("UPDATE kymo.observation SET \(change) WHERE id = '\(id)'")
        }
        let writer = try run.server.query("SELECT DISTINCT writer FROM kymo.observation WHERE writer <> 'x'")
        let store = StoredRun(folder: run.folder)
        try store.change("UPDATE sink SET through = 0 WHERE name = 'pg'")
        #expect(try store.value("SELECT count(*) FROM sqlite_sequence WHERE name = 'sent pg'") == 1)
        if !hasNoted { try store.change("DELETE FROM sqlite_sequence WHERE name = 'sent pg'") }
        let again = try Kymo.run(run.arguments(away) + ["--stdin"])
        #expect(again.end == .exit(0) && again.error.contains("pg: delivered 4 entries"), "\(again.error)")
        let states = try run.server.query("SELECT status, revision FROM kymo.observation ORDER BY number")
        #expect(states == ["newer\t1", "final\t2", "final\t2", "final\t1"])
        #expect(try run.server.query("SELECT count(*) FROM kymo.readings") == ["120"])
        #expect(try run.server.query("SELECT DISTINCT writer FROM kymo.observation") == writer)
    }

    /// A store that was restored from a copy numbers its rows anew: what it stores then replaces what is there.
    @Test func theStoreIsRestored() throws {
        let run = PostgresRun(server: try PostgresServer())
        #expect(try run.run(Readings.heartRates(10)).end == .exit(0))
        let copy = run.folder.file("copy")
        _ = try ChildProcess("cp", ["-a", run.data, copy]).finish()
        for second in [10, 20, 30] { #expect(try run.run([Readings.heartRate(second: second)]).end == .exit(0)) }
        #expect(try run.server.query("SELECT count(*) FROM kymo.readings") == ["13"])
        _ = try ChildProcess("rm", ["-r", run.data]).finish()
        Files.move(copy, to: run.data)
        let done = try run.run([Readings.heartRate(second: 40)])
        #expect(done.end == .exit(0) && done.error.contains("pg: delivered 1 entry"), "\(done.error)")
        #expect(try run.server.query("SELECT count(*) FROM kymo.readings") == ["11"])
        #expect(try run.server.query("SELECT count(*) FROM kymo.observation") == ["1"])
        #expect(try run.run([Readings.heartRate(second: 50)]).end == .exit(0))
        #expect(try run.server.query("SELECT count(*) FROM kymo.readings") == ["12"])
    }

    /// Both make the tables, one after the other, and both store.
    @Test func twoStartTogether() throws {
        let server = try PostgresServer()
        let runs = (0..<4).map { _ in PostgresRun(server: server) }
        let started = try runs.enumerated().map { number, run in
            let lines = Readings.heartRates(60, device: "d-\(number)")
            return try Kymo.start(run.arguments() + ["--stdin"], input: .bytes(Readings.ndjson(lines)))
        }
        for process in started {
            let done = try process.finish()
            #expect(done.end == .exit(0) && done.error.contains("pg: delivered 1 entry"), "\(done.error)")
        }
        #expect(try server.query("SELECT count(*), count(DISTINCT device) FROM kymo.readings") == ["240\t4"])
        #expect(try server.query("SELECT version FROM kymo.schema_version") == ["2"])
    }

    /// Tables of the first version get what has come since, and keep what they have.
    @Test func anOlderSchemaIsMigrated() throws {
        let run = PostgresRun(server: try PostgresServer())
        #expect(try run.run(Self.lines).end == .exit(0))
        try run.server.query("DROP TABLE kymo.resource; UPDATE kymo.schema_version SET version = 1")
        let check = try Kymo.run(["check", "--connect", "--config", run.configuration(), "--data", run.data])
        #expect(check.end == .exit(0) && check.error.contains("version 1; kymo run brings it to 2"), "\(check.error)")
        #expect(try run.run(Readings.heartRates(60, device: "later")).end == .exit(0))
        #expect(try run.server.query("SELECT version FROM kymo.schema_version ORDER BY 1") == ["1", "2"])
        #expect(try run.server.query("SELECT count(*) FROM kymo.resource") == ["0"])
        #expect(try run.server.query("SELECT count(*) FROM kymo.readings") == ["180"])
    }

    /// Tables of a later version are left alone.
    @Test func aNewerSchemaIsRefused() throws {
        let run = PostgresRun(server: try PostgresServer())
        #expect(try run.run(Self.lines).end == .exit(0))
        try run.server.query("INSERT INTO kymo.schema_version (version, kymo) VALUES (9, '9.0')")
        let check = try Kymo.run(["check", "--connect", "--config", run.configuration(), "--data", run.data])
        #expect(check.end == .exit(78), "\(check.error)")
        let text = "was made by a newer kymo (version 9, this one knows 2): use that version, or another schema"
        #expect(check.error.contains(text), "\(check.error)")
        let done = try run.run(Readings.heartRates(60, device: "later"))
        #expect(done.end == .exit(0) && done.error.contains("1 bundle waits in"), "\(done.error)")
        #expect(done.error.contains(text))
        #expect(try run.server.query("SELECT count(*) FROM kymo.readings") == ["120"])
    }

    /// A schema of another name, which two sinks of one run can have besides the usual one.
    @Test func anotherSchema() throws {
        var run = PostgresRun(server: try PostgresServer())
        run.settings = ["schema: ward_7"]
        let other = ", {name: usual, postgres: \"\(run.server.url())\", types: nothing}"
        let done = try Kymo.run(run.arguments(other) + ["--stdin"], input: .bytes(Readings.ndjson(Self.lines)))
        #expect(done.end == .exit(0), "\(done.error)")
        #expect(try run.server.query("SELECT count(*) FROM ward_7.readings") == ["120"])
        #expect(try run.server.query("SELECT count(*) FROM kymo.readings") == ["0"])
    }

    /// With the extension there, readings become its table. A stand-in shows how it is asked; what it does with that is
    /// not tested.
    @Test func timescaleIsAsked() throws {
        let run = PostgresRun(server: try PostgresServer())
        try run.server.query(
            """
            CREATE SCHEMA ts;
            CREATE TABLE ts.asked (relation oid, at text, indexes boolean);
            CREATE FUNCTION ts.create_hypertable(
                relation regclass, time_column_name name, create_default_indexes boolean) RETURNS void LANGUAGE sql AS
                $$ INSERT INTO ts.asked VALUES ($1, $2, $3) $$;
            GRANT ALL ON SCHEMA ts TO kymo; GRANT ALL ON ts.asked TO kymo;
            SET allow_system_table_mods = on;
            INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
                SELECT 99999, 'timescaledb', 10, 'ts'::regnamespace, false, '2.17.0';
            """)
        let done = try run.run(Self.lines)
        #expect(done.end == .exit(0) && done.error.contains("delivered 4 entries"), "\(done.error)")
        let asked = try run.server.query(
            "SELECT relation::regclass = 'kymo.reading'::regclass, at, indexes FROM ts.asked")
        #expect(asked == ["t\ttime\tf"])
    }
}
