import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// `kymo run --watch-config`: what is written to the configuration is taken over without a signal.
@Suite struct ConfigurationWatchRunTests {
    private let folder = TemporaryFolder()

    private func write(_ text: String, _ name: String = "kymo.yaml") { folder.write(name, text) }

    /// As editors and deployments do.
    private func replace(_ text: String) {
        write(text, "kymo.yaml.new")
        Files.move(folder.file("kymo.yaml.new"), to: folder.file("kymo.yaml"))
    }

    private func start(_ more: [String] = []) throws -> ChildProcess {
        let run = try Kymo.start(["run", "--config", "kymo.yaml", "--ephemeral"] + more, directory: folder.path)
        _ = try run.addresses()
        return run
    }

    private let sources = "sources: [{unix: a.sock}]\n"

    @Test func changesAreTakenOver() throws {
        write("watchConfig: true\ninclude: more.yaml\n" + sources)
        write("maxFuture: 1m\n", "more.yaml")
        let run = try start()
        replace("watchConfig: true\ninclude: more.yaml\nsources: [{unix: a.sock}, {unix: b.sock}]\n")
        try run.waitForError("kymo.yaml has changed: took over sources[1] unset → unix b.sock (kymo.yaml:3:")
        #expect(Files.isSocket(folder.file("b.sock")))
        // In place, and in what is included.
        write("maxFuture: 2m\n", "more.yaml")
        try run.waitForError("more.yaml has changed: took over maxFuture 1m → 2m (more.yaml:1:12)")
        // What says the same changes nothing.
        write("# two minutes\nmaxFuture: 2m\n", "more.yaml")
        try run.waitForError("more.yaml has changed: no setting is another one")
        // From here on, signals only.
        replace("watchConfig: false\ninclude: more.yaml\n" + sources)
        try run.waitForError("took over watchConfig true → false (kymo.yaml:1:14), sources[1]")
        let done = try run.terminate()
        #expect(done.end == .exit(0) && done.error.contains("reloads 3, failed 0"), "\(done.error)")
    }

    /// With the findings of `kymo check`, everything or nothing, and once for each change.
    @Test func whatIsWrongChangesNothing() throws {
        write(sources + "maxFuture: 1m\n")
        let run = try start(["--watch-config"])
        write(sources + "maxFuture: soon\n")
        try run.waitForError(
            "kymo.yaml has changed: the configuration has errors; the former settings and mappings stay in use")
        #expect(run.errorText.contains("kymo.yaml:2:12: error: maxFuture: 'soon'"), "\(run.errorText)")
        write(sources + "maxFuture: 3m\nwindow: 1m\n")
        try run.waitForError(
            "kymo.yaml has changed: cannot change while it runs: window 5m → 1m (kymo.yaml:3:9); restart to apply it")
        #expect(!run.errorText.contains("took over"), "\(run.errorText)")
        write(sources + "maxFuture: 3m\n")
        try run.waitForError("took over maxFuture 1m → 3m (kymo.yaml:2:12)")
        let done = try run.terminate()
        #expect(done.end == .exit(0) && done.error.contains("reloads 1, failed 2"), "\(done.error)")
    }

    /// A file that is cut off where it would still be valid would end sources.
    @Test func aHalfWrittenFileIsNotTaken() throws {
        let whole = "sources:\n  - unix: a.sock\n  - unix: b.sock\n"
        write(whole)
        let run = try start(["--watch-config"])
        for (part, reason) in [
            ("", "is empty"), (String(whole.prefix(whole.count / 2)), "ends in the middle of a line"),
        ] {
            write(part)
            try run.waitForError("kymo.yaml \(reason), so that it may be half written: nothing was changed")
        }
        write(whole.replacing("b.sock", with: "c.sock"))
        try run.waitForError("has changed: took over sources[1]")
        #expect(!run.errorText.contains("took over sources[0]"), "\(run.errorText)")
        #expect(Files.isSocket(folder.file("a.sock")) && Files.isSocket(folder.file("c.sock")))
        // One that writes for long, in parts that are lines each, is waited for.
        for _ in 0..<20 {
            write("sources:\n  - unix: a.sock\n")
            usleep(60_000)
            write("sources:\n  - unix: a.sock\n# \n")
            usleep(60_000)
        }
        #expect(!run.errorText.contains("sources[1] unix c.sock → unset"), "\(run.errorText)")
        write("sources:\n  - unix: a.sock\n  - unix: c.sock\ndrain: 9s\n")
        try run.waitForError("took over drain 30s → 9s")
        let done = try run.terminate()
        #expect(done.end == .exit(0) && done.error.contains("reloads 2, failed 2"), "\(done.error)")
    }

    /// A signal takes the file as it is.
    @Test func withoutTheSettingNothingIsRead() throws {
        write(sources + "maxFuture: 1m\n")
        let run = try start()
        write(sources + "maxFuture: 2m")
        usleep(2_500_000)
        #expect(!run.errorText.contains("maxFuture"), "\(run.errorText)")
        run.signal(SIGHUP)
        try run.waitForError("SIGHUP: took over maxFuture 1m → 2m")
        #expect(try run.terminate().end == .exit(0))
    }

    @Test func itIsAuditedAsASignalIs() throws {
        write(sources + "maxFuture: 1m\nwatchConfig: true\ndata: data\n")
        let run = try Kymo.start(["run", "--config", "kymo.yaml"], directory: folder.path)
        _ = try run.addresses()
        replace(sources + "maxFuture: 2m\nwatchConfig: true\ndata: data\n")
        try run.waitForError("took over maxFuture 1m → 2m")
        #expect(try run.terminate().end == .exit(0))
        let trail = Files.names(folder.file("data/audit")).map { Files.text(folder.file("data/audit/\($0)")) }.joined()
        #expect(trail.contains("kymo.yaml has changed: took over maxFuture 1m → 2m"), "\(trail)")
    }
}
