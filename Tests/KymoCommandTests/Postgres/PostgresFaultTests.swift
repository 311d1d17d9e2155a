import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// What may be in the way between `kymo` and a database: it is said, nothing is lost, and it goes on by itself.
@Suite(.serialized, .enabled(if: PostgresServer.isInstalled, "needs the package postgresql-15"))
struct PostgresFaultTests {
    private static let lines = (0..<180).map { Readings.heartRate(second: $0, device: "w-\($0 % 3)") }

    private func count(_ run: PostgresRun) -> String? {
        try? run.server.query("SELECT count(*) FROM kymo.readings").first
    }

    /// Ends windows: later readings of the same devices.
    private static let later = (0..<3).map { Readings.heartRate(second: 900, device: "w-\($0)") }

    /// A password that is wrong at first: the file is read again.
    @Test func aWrongPassword() throws {
        var run = PostgresRun(server: try PostgresServer())
        run.url = run.server.networkURL
        run.settings = ["passwordFile: \(run.passwordFile("falsch"))"]
        let check = try Kymo.run(["check", "--connect", "--config", run.configuration(), "--data", run.data])
        #expect(check.end == .exit(77) && check.error.contains("(SQLSTATE 28P01)"), "\(check.error)")
        let process = try run.start()
        try run.send(Self.lines + Self.later)
        try Waiting.until("trouble") { try run.trouble() == "credentialsRefused" }
        try process.waitForError("SQLSTATE 28P01")
        _ = run.passwordFile("geheim\n")
        try Waiting.until("readings: \(process.errorText)") { Int(count(run) ?? "") ?? 0 >= 180 }
        let done = try process.terminate()
        #expect(done.end == .exit(0) && !done.error.contains("falsch") && !done.error.contains("geheim"))
    }

    /// Another password, by a reload while nothing waits: the trouble is over as soon as it is connected.
    @Test func aPasswordIsMendedByAReload() throws {
        var run = PostgresRun(server: try PostgresServer())
        run.url = run.server.networkURL
        run.settings = ["passwordFile: \(run.passwordFile("falsch"))"]
        let process = try run.start()
        try Waiting.until("trouble") { try run.trouble() == "credentialsRefused" }
        // So that it is over for who reads the log.
        try process.waitForError("SQLSTATE 28P01")
        run.settings = ["passwordFile: \(run.passwordFile("geheim", name: "other"))"]
        _ = run.configuration()
        process.signal(SIGHUP)
        try Waiting.until("a connection: \(process.errorText)") {
            try run.delivery()?["circuit"]?.text == "closed"
        }
        #expect(try run.trouble() == nil)
        try process.waitForError("pg: recovered")
        #expect(try process.terminate().end == .exit(0))
    }

    /// A user that may not write; then it may.
    @Test func noPermission() throws {
        let run = PostgresRun(server: try PostgresServer())
        #expect(try run.run(Readings.heartRates(30, device: "first")).end == .exit(0))
        try run.server.query("REASSIGN OWNED BY kymo TO postgres; GRANT USAGE ON SCHEMA kymo TO kymo;")
        try run.server.query("GRANT SELECT ON ALL TABLES IN SCHEMA kymo TO kymo")
        let check = try Kymo.run(["check", "--connect", "--config", run.configuration(), "--data", run.data])
        #expect(check.end == .exit(77), "\(check.error)")
        #expect(check.error.contains("the user may not INSERT on \"kymo\".observation: grant it"), "\(check.error)")
        let process = try run.start()
        try run.send(Self.lines + Self.later)
        try Waiting.until("trouble") { try run.trouble() == "credentialsRefused" }
        try run.server.query("GRANT ALL ON ALL TABLES IN SCHEMA kymo TO kymo")
        try Waiting.until("readings: \(process.errorText)") { Int(count(run) ?? "") ?? 0 >= 210 }
        #expect(try process.terminate().end == .exit(0))
    }

    /// What the server says for a while, by its SQLSTATE: a full disk, a deadlock, a statement that took too long, a
    /// function that is wrong. Words of a function, which may be of readings, are told nowhere.
    @Test(arguments: ["53100", "40001", "40P01", "57014", "42883"]) func forAWhile(_ state: String) throws {
        let run = PostgresRun(server: try PostgresServer())
        #expect(try run.run(Readings.heartRates(30, device: "first")).end == .exit(0))
        try refuse(run, "true", state)
        let process = try run.start()
        try run.send(Self.lines + Self.later)
        try process.waitForError("SQLSTATE \(state)")
        #expect(count(run) == "30")
        let status = try Kymo.run(["status", "--data", run.data]).text
        #expect(status.contains("SQLSTATE \(state)") && !status.contains("not now"), "\(status)")
        try run.server.query("DROP FUNCTION refuse CASCADE")
        try Waiting.until("readings: \(process.errorText)") { Int(count(run) ?? "") ?? 0 >= 210 }
        let done = try process.terminate()
        #expect(done.end == .exit(0) && done.error.contains("undeliverable 0"), "\(done.error)")
        #expect(!done.error.contains("not now"), "\(done.error)")
    }

    /// Has the database refuse Observations of which `condition` holds.
    private func refuse(_ run: PostgresRun, _ condition: String, _ state: String) throws {
        try run.server.query(
            """
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF \(condition) THEN RAISE EXCEPTION 'not now: %', NEW.device USING ERRCODE = '\(state)'; END IF;
                RETURN NEW; END $$;
            CREATE TRIGGER refuse BEFORE INSERT ON kymo.observation FOR EACH ROW EXECUTE FUNCTION refuse();
            """)
    }

    /// One of many is refused for what it is, by a constraint, a trigger or a view: it alone is a dead letter, says
    /// nothing of the reading, and is stored when it is sent again.
    @Test(arguments: ["23514", "P0001", "44000", "21000", "KY001"]) func oneOfManyIsRefused(_ state: String) throws {
        let run = PostgresRun(server: try PostgresServer())
        #expect(try run.run(Readings.heartRates(30, device: "first")).end == .exit(0))
        try refuse(run, "NEW.device = 'd-17'", state)
        let lines = (0..<40).map { Readings.heartRate(second: 7, device: "d-\($0)") }
        let done = try run.run(lines)
        #expect(done.error.contains("delivered 39 entries, undeliverable 1 (serverRefused 1)"), "\(done.error)")
        #expect(count(run) == "69" && !done.error.contains("not now"), "\(done.error)")
        let letters = try Kymo.run(["dead", "list", "--data", run.data]).text
        #expect(letters.contains("(SQLSTATE \(state))") && !letters.contains("not now"), "\(letters)")
        #expect(letters.contains("it breaks a constraint") == (state == "23514"), "\(letters)")
        try run.server.query("DROP FUNCTION refuse CASCADE")
        let replay = try Kymo.run(["dead", "replay", "--all", "--config", run.configuration(), "--data", run.data])
        #expect(replay.end == .exit(0), "\(replay.error)")
        #expect(try run.run([]).end == .exit(0))
        #expect(try run.server.query("SELECT count(*) FROM kymo.readings WHERE device = 'd-17'") == ["1"])
    }

    /// A server that is slow takes less at a time, and all in the end.
    @Test func aSlowServer() throws {
        var run = PostgresRun(server: try PostgresServer())
        #expect(try run.run(Readings.heartRates(30, device: "first")).end == .exit(0))
        try refuse(run, "pg_sleep(0.1)::text <> ''", "23514")
        run.settings = ["timeout: 1s"]
        let done = try run.run((0..<40).map { Readings.heartRate(second: 7, device: "d-\($0)") })
        #expect(done.error.contains("delivered 40 entries, undeliverable 0"), "\(done.error)")
        #expect(count(run) == "70")
    }

    /// A server that is not there, then is, and is started again.
    @Test func theServerComesAndGoes() throws {
        let run = PostgresRun(server: try PostgresServer())
        try run.server.stop()
        let check = try Kymo.run(["check", "--connect", "--config", run.configuration(), "--data", run.data])
        #expect(check.end == .exit(69), "\(check.error)")
        let process = try run.start()
        try run.send(Self.lines)
        try Waiting.until("trouble") { try run.trouble() == "unreachable" }
        try run.server.start()
        try Waiting.until("tables: \(process.errorText)") { count(run) != nil }
        try run.server.stop()
        try run.server.start()
        try run.send(Self.later)
        // A server that was away for long is not waited for at the end.
        try Waiting.until("a connection: \(process.errorText)") { try run.delivery()?["circuit"]?.text == "closed" }
        let done = try process.terminate()
        #expect(done.end == .exit(0) && done.error.contains("undeliverable 0"), "\(done.error)")
        #expect(count(run) == "183")
    }

    /// A server that does not answer does not hold up the end, and what it has not got is there for the next run.
    @Test func theEndDoesNotWaitForIt() throws {
        let run = PostgresRun(server: try PostgresServer())
        #expect(try run.run(Readings.heartRates(30, device: "first")).end == .exit(0))
        let process = try run.start("", ["--lateness", "1s", "--idle", "1s"], ["KYMO_DRAIN": "3s"])
        try Waiting.until("a connection") {
            try run.server.query("SELECT count(*) FROM pg_stat_activity WHERE usename = 'kymo'") == ["1"]
        }
        // The process of the connection, and the one that would make another.
        let own = try run.server.query("SELECT pid FROM pg_stat_activity WHERE usename = 'kymo'").compactMap {
            Int32($0)
        }
        run.server.pause()
        own.forEach { kill($0, SIGSTOP) }
        try run.send(Self.lines)
        let done = try process.terminate(seconds: 25)
        own.forEach { kill($0, SIGCONT) }
        run.server.goOn()
        // That not everything was delivered is said by the status.
        #expect(done.end == .exit(75) && done.error.contains("for the next start"), "\(done.error)")
        #expect(try run.run([]).end == .exit(0))
        #expect(count(run) == "210")
    }

    /// By TLS: the authority that is named is asked for, and no other server is spoken to.
    @Test func verifiedByTLS() throws {
        let authority = try TestAuthority()
        let certificate = try authority.issue("localhost")
        var run = PostgresRun(server: try PostgresServer(certificate: certificate))
        run.url = run.server.networkURL
        let password = "passwordFile: \(run.passwordFile("geheim"))"
        run.settings = [password, "caFile: \(authority.certificate)"]
        let process = try run.start()
        try run.send(Self.lines)
        try Waiting.until("a connection: \(process.errorText)") {
            try run.server.query("SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'kymo'")
                == ["t"]
        }
        #expect(try process.terminate().end == .exit(0))
        #expect(count(run) == "180")
        let stranger = try TestAuthority("another")
        run.settings = [password, "caFile: \(stranger.certificate)"]
        let check = try Kymo.run(["check", "--connect", "--config", run.configuration(), "--data", run.data])
        #expect(check.end == .exit(78) && check.error.contains("certificate verify failed"), "\(check.error)")
        let other = try PostgresServer()
        run.url = other.networkURL
        let plain = try Kymo.run(["check", "--connect", "--config", run.configuration(), "--data", run.data])
        #expect(plain.end == .exit(78) && plain.error.contains("does not support SSL"), "\(plain.error)")
    }

    /// SIGHUP adds the sink, and takes it away.
    @Test func comesAndGoesByReload() throws {
        let run = PostgresRun(server: try PostgresServer())
        let file = run.folder.write(
            "kymo.yaml", "sinks: [{to: \(run.folder.file("out"))}, {name: x, to: \(run.folder.file("x"))}]\n")
        let process = try Kymo.start([
            "run", "--config", file, "--data", run.data, "--unix", run.folder.file("k.sock"), "--window", "1m",
            "--lateness", "1s", "--idle", "1s",
        ])
        _ = try process.addresses()
        let out = "sinks: [{to: \(run.folder.file("out"))}"
        run.folder.write("kymo.yaml", "\(out), {name: pg, postgres: \"\(run.server.url())\"}]\n")
        process.signal(SIGHUP)
        try Waiting.until("the sink: \(process.errorText)") { count(run) == "0" }
        try run.send(Self.lines)
        try Waiting.until("readings: \(process.errorText)") { count(run) == "180" }
        run.folder.write("kymo.yaml", "\(out)}, {name: x, to: \(run.folder.file("x"))}]\n".replacing("}}", with: "}"))
        process.signal(SIGHUP)
        try Waiting.until("no connection: \(process.errorText)") {
            try run.server.query("SELECT count(*) FROM pg_stat_activity WHERE usename = 'kymo'") == ["0"]
        }
        #expect(try process.terminate().end == .exit(0))
    }
}
