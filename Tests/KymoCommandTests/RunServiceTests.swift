import CommandSupport
import Glibc
import Testing

/// What `kymo run` tells a service manager.
@Suite struct RunServiceTests {
    /// Starts a pipeline that a manager listens to; `watchdog` in microseconds.
    private func start(
        _ manager: NotifyListener, _ folder: TemporaryFolder, watchdog: Int? = nil, arguments: [String] = [],
        environment: [String: String] = [:], output: ChildProcess.Output = .file
    ) throws -> ChildProcess {
        var environment = environment
        environment["NOTIFY_SOCKET"] = manager.name
        environment["WATCHDOG_USEC"] = watchdog.map { "\($0)" }
        return try Kymo.start(
            ["run", "--unix", folder.file("in.sock")] + arguments, environment: environment, directory: folder.path,
            output: output)
    }

    /// The assignments without counts.
    private func phases(_ manager: NotifyListener) -> [String] {
        manager.assignments().filter { !$0.hasPrefix("STATUS=") && !$0.hasPrefix("MONOTONIC_USEC=") }
    }

    /// Ready when it receives, loading mappings again, stopping: each told once, in this order.
    @Test(arguments: NotifyListener.Place.allCases) func aManagerHearsOfEachPhase(_ place: NotifyListener.Place) throws
    {
        let (manager, folder) = (try NotifyListener(place), TemporaryFolder())
        let run = try start(manager, folder, arguments: ["--ephemeral"])
        try manager.wait(for: "READY=1")
        // It is true what it says.
        try Sending.send(lines: Readings.heartRates(3), to: try run.addresses()[0])
        var before = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &before)
        run.signal(SIGHUP)
        try manager.wait(for: "READY=1", times: 2)
        #expect(try run.terminate().end == .exit(0))
        #expect(phases(manager) == ["READY=1", "RELOADING=1", "READY=1", "STOPPING=1"])
        let reloading = try #require(manager.datagrams().first { $0.hasPrefix("RELOADING=1\n") })
        let time = try #require(reloading.split(separator: "\n").last?.split(separator: "=").last.flatMap { Int($0) })
        #expect(time >= before.tv_sec * 1_000_000 + before.tv_nsec / 1_000)
    }

    /// A reload with errors ends, too: the former mappings are in use, and the status says it.
    @Test func aFailedReloadEnds() throws {
        let (manager, folder) = (try NotifyListener(.file), TemporaryFolder())
        let mapping = folder.file("mine")
        #expect(try Kymo.run(["mappings", "--export", "wristband", mapping]).end == .exit(0))
        let run = try start(manager, folder, arguments: ["--ephemeral", "--no-watch", "--mapping", mapping])
        try manager.wait(for: "READY=1")
        folder.write("mine/device.json", "{")
        run.signal(SIGHUP)
        try manager.wait(for: "READY=1", times: 2)
        try Waiting.until("a status in \(manager.assignments())") {
            manager.assignments().contains { $0.hasPrefix("STATUS=") && $0.hasSuffix("failed reloads 1") }
        }
        #expect(try run.terminate().end == .exit(0))
    }

    @Test func theStatusHasCountsAndRates() throws {
        let (manager, folder) = (try NotifyListener(.file), TemporaryFolder())
        let run = try start(manager, folder, arguments: ["--ephemeral"])
        let address = try run.addresses()[0]
        try manager.wait(for: "READY=1")
        try Sending.send(lines: Readings.heartRates(3) + ["{"], to: address)
        let pattern = #/STATUS=received 4 \(\d+/s\), rejected 1, Observations \d+ \(\d+/s\)/#
        try Waiting.until("a status in \(manager.assignments())") {
            manager.assignments().contains { $0.wholeMatch(of: pattern) != nil }
        }
        #expect(try run.terminate().end == .exit(0))
    }

    /// With nothing to do it lives all the same, in memory and with a store.
    @Test(arguments: [true, false]) func anIdlePipelineIsAlive(isEphemeral: Bool) throws {
        let (manager, folder) = (try NotifyListener(.file), TemporaryFolder())
        let keeping = isEphemeral ? ["--ephemeral"] : ["--data", folder.file("data")]
        let run = try start(manager, folder, watchdog: 1_000_000, arguments: keeping)
        // More of them than a thread that hangs from the start would allow: 2 s at two a second.
        try manager.wait(for: "WATCHDOG=1", times: 7)
        #expect(try run.terminate().end == .exit(0))
        #expect(!run.errorText.contains("no progress"))
    }

    @Test(arguments: [["WATCHDOG_PID": "1", "WATCHDOG_USEC": "1000"], ["WATCHDOG_USEC": "0"], [:]])
    func noSignOfLifeWhereNoneIsWanted(_ environment: [String: String]) throws {
        let (manager, folder) = (try NotifyListener(.file), TemporaryFolder())
        let run = try start(manager, folder, arguments: ["--ephemeral"], environment: environment)
        try manager.wait(for: "READY=1")
        run.signal(SIGHUP)
        try manager.wait(for: "READY=1", times: 2)
        #expect(try run.terminate().end == .exit(0))
        #expect(manager.count("WATCHDOG=1") == 0)
    }

    /// A shard that hangs, here in a write that is not read, ends the signs of life, though the thread that gives them
    /// works; when the shard goes on, they do.
    @Test func aHangingShardGivesNoSignOfLife() throws {
        let (manager, folder) = (try NotifyListener(.file), TemporaryFolder())
        let run = try start(
            manager, folder, watchdog: 1_000_000, arguments: ["--ephemeral", "--out", "stdout", "--lateness", "0s"],
            output: .pipe)
        _ = try run.addresses()
        try manager.wait(for: "WATCHDOG=1")
        // A pipe holds 64 KiB.
        let sender = try Kymo.start(
            ["simulate", "--devices", "200", "--duration", "30m", "--speed", "max", "--unix", folder.file("in.sock")])
        try run.waitForError("shard 0 made no progress for 2 s")
        // The manager goes on to hear counts, every five seconds.
        let mark = manager.assignments().count
        try Waiting.until("a status") { manager.assignments()[mark...].contains { $0.hasPrefix("STATUS=") } }
        #expect(!manager.assignments()[mark...].contains("WATCHDOG=1"))
        // Somebody has to read it to the end.
        let pipe = try #require(run.outputPipe)
        let reader = try ChildProcess("/bin/cat", [], input: .open(pipe), output: .path("/dev/null"))
        run.closeOutput()
        try run.waitForError("shard 0 makes progress again")
        let pings = manager.count("WATCHDOG=1")
        try manager.wait(for: "WATCHDOG=1", times: pings + 1)
        #expect(try sender.wait() == .exit(0))
        #expect(try run.terminate().end == .exit(0))
        #expect(try reader.wait() == .exit(0))
    }

    /// Without the manager it works all the same, and says why it is not heard.
    @Test(arguments: [
        ("vsock:2:1", "cannot use vsock:2:1"), ("/nowhere/notify", "cannot notify /nowhere/notify: No such file"),
    ])
    func aManagerThatCannotBeReachedIsNamed(_ name: String, _ message: String) throws {
        let folder = TemporaryFolder()
        let run = try Kymo.start(
            ["run", "--ephemeral", "--unix", folder.file("in.sock")], environment: ["NOTIFY_SOCKET": name])
        try Sending.send(lines: Readings.heartRates(3), to: try run.addresses()[0])
        try run.waitForError(message)
        let done = try run.terminate()
        #expect(done.end == .exit(0))
        #expect(done.balance?.received == 3)
        #expect(done.error.split(separator: message).count == 2, "told once: \(done.error)")
    }
}
