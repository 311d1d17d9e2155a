import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// What `postgres:` may say, and what is needed of the machine. Without a database.
@Suite struct PostgresSettingsTests {
    private func check(_ sink: String, _ environment: [String: String] = [:]) throws -> Kymo.Finished {
        let folder = TemporaryFolder()
        let file = folder.write("kymo.yaml", "sinks: [{\(sink)}]\n")
        return try Kymo.run(["check", "--config", file, "--data", folder.file("data")], environment: environment)
    }

    @Test(arguments: [
        ("postgres://kymo:geheim@db/readings", "it has a password, which others can read there; remove it"),
        ("postgres://kymo@db/readings?password=geheim", "it has a password, which others can read there; remove it"),
        ("postgres://kymo@db/readings?sslmode=disable", "behind the question mark it has more than host and port"),
        ("postgres://kymo@db", "it names no database"), ("postgres:///readings", "it names no host, or several"),
        ("postgres://a,b/readings", "it names no host, or several"),
        ("postgres://db:x/readings", "its port is no number"),
        ("mysql://db/readings", "it is no URL of a database"),
    ]) func urls(_ url: String, _ message: String) throws {
        let done = try check("postgres: \"\(url)\"")
        #expect(done.end == .exit(78) && done.error.contains("kymo.yaml:1:"), "\(done.error)")
        #expect(done.error.contains(message) && !done.error.contains("geheim"), "\(done.error)")
    }

    @Test(arguments: [
        ("schema: pg_x", "'pg_x' is no name of a schema"), ("schema: \"a;b\"", "'a;b' is no name of a schema"),
        ("insecure: true", "it has no effect on a Unix socket"),
        ("certificateKeyFile: k", "it has no effect alone"),
        ("passwordFile: /nowhere", "passwordFile: /nowhere cannot be read"),
        ("format: events", "a postgres takes no events"), ("identity: create", "it has no effect without a server"),
    ]) func settings(_ setting: String, _ message: String) throws {
        let done = try check("postgres: \"postgres:///readings?host=/run/postgresql\", \(setting)")
        #expect(done.error.contains(message), "\(done.error)")
    }

    /// Each would take what the other has stored for what was lost by a restore: they are refused, at a start and by a
    /// reload, too.
    @Test func twoSinksOfOneSchema() throws {
        let (one, other) = ("postgres://kymo@localhost/readings", "postgresql://other@127.0.0.1:5432/readings")
        func sinks(_ schema: String) -> String {
            "{name: a, postgres: '\(one)', types: [heartRate]}, {name: b, postgres: '\(other)', schema: \(schema)}"
        }
        let folder = TemporaryFolder()
        let arguments = ["--config", "kymo.yaml", "--data", folder.file("data")]
        let refusal = "two sinks write to one place; give one of them a schema of its own, or make one of them"
        folder.write("kymo.yaml", "sinks: [\(sinks("kymo"))]\n")
        for command in [["check"], ["run", "--stdin"]] {
            let done = try Kymo.run(command + arguments, directory: folder.path)
            #expect(done.end == .exit(78), "\(done.error)")
            #expect(done.error.contains("kymo.yaml:1:") && done.error.contains(refusal), "\(done.error)")
        }
        let files = "{to: \(folder.file("x"))}, {to: \(folder.file("y"))}"
        folder.write("kymo.yaml", "sinks: [\(files)]\n")
        let run = try Kymo.start(
            ["run", "--unix", folder.file("k.sock")] + arguments, directory: folder.path)
        _ = try run.addresses()
        folder.write("kymo.yaml", "sinks: [\(files), \(sinks("kymo"))]\n")
        run.signal(SIGHUP)
        try run.waitForError(refusal)
        try run.waitForError("the former settings and mappings stay in use")
        #expect(try run.terminate().end == .exit(0))
        folder.write("kymo.yaml", "sinks: [\(sinks("ward_7"))]\n")
        let apart = try Kymo.run(["check"] + arguments, directory: folder.path)
        #expect(!apart.error.contains("two sinks"), "\(apart.error)")
    }

    /// Its URL is no directory, wherever a directory may stand.
    @Test func whereItMayStand() throws {
        let done = try check("to: \"postgres://kymo@db/readings\"")
        #expect(done.end == .exit(78) && done.error.contains("a postgres has a key of its own; write postgres for it"))
        let out = try Kymo.run(["check", "--out", "postgres://kymo:geheim@db/readings", "--no-environment"])
        #expect(out.end == .exit(78) && out.error.contains("passwordFile") && !out.error.contains("geheim"))
    }

    /// Without libpq: what to install, and the status of other things that are wrong with the machine.
    @Test func withoutTheLibrary() throws {
        let folder = TemporaryFolder()
        folder.write("lib/libpq.so.5", "this is no library")
        let environment = ["LD_LIBRARY_PATH": folder.file("lib")]
        let url = "postgres:///readings?host=/run/postgresql"
        let done = try check("postgres: \"\(url)\"", environment)
        #expect(done.end == .exit(78) && done.error.contains("install it (on Debian: libpq5)"), "\(done.error)")
        let run = try Kymo.run(
            ["run", "--stdin", "--data", folder.file("data"), "--out", url], environment: environment)
        #expect(run.end == .exit(78) && run.error.contains("install it (on Debian: libpq5)"), "\(run.error)")
        let other = try Kymo.run(["run", "--stdin", "--data", folder.file("data")], environment: environment)
        #expect(other.end == .exit(0), "\(other.error)")
    }
}
