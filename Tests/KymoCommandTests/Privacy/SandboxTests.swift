import CKymographLinux
import CommandSupport
import Glibc
import Testing

/// An instance changes files only where its configuration says.
@Suite struct SandboxTests {
    private let folder = TemporaryFolder()

    /// Writes the configuration: sinks in `folders`, the store in `data`.
    private func configure(_ folders: [String], _ more: String = "") {
        let sinks = folders.map { "{to: \($0), name: '\($0)'}" }.joined(separator: ", ")
        folder.write(
            "kymo.yaml",
            """
            sources: [{unix: "\(folder.file("sockets/a.sock"))"}]
            sinks: [\(sinks)]
            data: data
            window: 1m
            lateness: 0s
            \(more)
            """)
    }

    private func start() throws -> ChildProcess {
        for name in ["out", "more", "data", "sockets"] { unsafe mkdir(folder.file(name), 0o700) }
        let run = try Kymo.start(["run", "--config", "kymo.yaml", "--log-level", "debug"], directory: folder.path)
        _ = try run.addresses()
        return run
    }

    /// Whether all threads of a process have given up rights for good, once its lanes and shards are there.
    private func areConfined(_ run: ChildProcess) throws -> Bool {
        let tasks = "/proc/\(run.pid)/task"
        try Waiting.until("threads: \(run.errorText)") {
            Files.names(tasks).contains { Files.text("\(tasks)/\($0)/comm") == "kymo-shard-0\n" }
        }
        return Files.names(tasks).allSatisfy { Files.text("\(tasks)/\($0)/status").contains("NoNewPrivs:\t1") }
    }

    @Test func sinksElsewhereNeedARestart() throws {
        configure(["out", "more"])
        let run = try start()
        let hasLandlock = kymo_landlock_version() > 0
        #expect(try areConfined(run) == hasLandlock)
        #expect(run.errorText.contains(hasLandlock ? "the process may change files in /" : "has no Landlock"))
        let elsewhere = TemporaryFolder()
        configure(["out", "more", elsewhere.file("x")])
        run.signal(SIGHUP)
        let (refused, taken) = ("the process was started to change files in", "SIGHUP: took over")
        try run.waitForError(hasLandlock ? refused : taken)
        if hasLandlock {
            try run.waitForError("kymo.yaml:2:")
            try run.waitForError("the former settings and mappings stay in use")
            #expect(Files.names(elsewhere.path).isEmpty)
        }
        configure(["out", "more", "sockets/out"])
        run.signal(SIGHUP)
        try run.waitForError(taken)
        try Sending.send(lines: Readings.heartRates(3) + [Readings.heartRate(second: 122)], to: try run.addresses()[0])
        try Waiting.until("output: \(run.errorText)") { !Files.names(folder.file("sockets/out")).isEmpty }
        #expect(try run.terminate().end == .exit(0))
        #expect(!Files.exists(folder.file("sockets/a.sock")))
    }

    /// Letters may go to a pipe, or to a file that the shell has opened.
    @Test(arguments: ["| cat > letters", "> letters"]) func lettersToStandardOutput(redirection: String) throws {
        let input = folder.write("in", Readings.heartRate(second: 1) + "\n{\n")
        let done = try ChildProcess(
            "/bin/sh",
            [
                "-c", "\"$0\" run --stdin --out out --dead-letter /dev/stdout < \(input) \(redirection)", Kymo.path,
            ], directory: folder.path
        ).finish()
        #expect(done.error.contains("accepted 1") && done.error.contains("rejected 1"), "\(done.error)")
        #expect(Files.text(folder.file("letters")).contains("invalidJSON"), "\(done.error)")
    }

    @Test func withoutIt() throws {
        configure(["out", "more"], "sandbox: false")
        let run = try start()
        #expect(try !areConfined(run) && !run.errorText.contains("the process may change"))
        let elsewhere = TemporaryFolder()
        configure(["out", "more", elsewhere.file("x")], "sandbox: false")
        run.signal(SIGHUP)
        try run.waitForError("SIGHUP: took over")
        #expect(try run.terminate().end == .exit(0))
        #expect(Files.names(elsewhere.path) == ["x"])
    }
}
