import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// How `kymo run` ends: nothing that was handed over is lost, and nothing makes it hang.
@Suite struct RunEndingTests {
    @Test func endOfInput() throws {
        let lines = Readings.heartRates(50)
        let run = try Kymo.start(["run", "--stdin"], input: .pipe)
        run.write(Readings.ndjson(Array(lines.dropLast())))
        // The last line has no end.
        run.write(Array((lines.last ?? "").utf8))
        run.closeInput()
        let done = try run.finish()
        #expect(done.end == .exit(0))
        #expect(try #require(done.balance).accepted == 50)
    }

    @Test func emptyInput() throws {
        let done = try Kymo.run(["run", "--stdin"])
        #expect(done.end == .exit(0) && done.output.isEmpty)
        #expect(try #require(done.balance).received == 0)
    }

    /// What a client's write accepted is in the socket; it must come out though the signal comes right behind it.
    @Test(arguments: [SIGTERM, SIGINT])
    func drainUnderLoad(signal: Int32) throws {
        let folder = TemporaryFolder()
        let run = try Kymo.start(
            ["run", "--udp", "127.0.0.1:0", "--unix", folder.file("a.sock"), "--unixgram", folder.file("b.sock")])
        let addresses = try run.addresses(3)
        let connection = try OpenConnection(addresses[1])
        let lines = Readings.heartRates(3_000)
        try connection.send(lines.map { $0 + "\n" }.joined())
        try Sending.send(lines: Readings.heartRates(300, device: "watch-2"), to: addresses[0])
        try Sending.send(lines: Readings.heartRates(2_000, device: "watch-3"), to: addresses[2])
        run.signal(signal)
        let done = try run.finish()
        #expect(done.end == .exit(0), "\(done.error)")
        let balance = try #require(done.balance)
        #expect(balance.received + balance.kernelDropped == 5_300 && balance.isClosed, "\(done.error)")
        #expect(balance.accepted == balance.received)
        var reader = BundleReader()
        try reader.read(ndjson: done.output)
        #expect(counts(reader) == balance.accepted, "the Observations count as many readings")
    }

    /// Clients that never pause: the end comes all the same, and what was taken is accounted for.
    @Test func drainWhileClientsGoOn() throws {
        let folder = TemporaryFolder()
        let run = try Kymo.start([
            "run", "--unix", folder.file("a.sock"), "--unixgram", folder.file("b.sock"), "--window", "1s",
            "--lateness", "0s", "--dead-letter", folder.file("dead.ndjson"),
        ])
        _ = try run.addresses(2)
        let clients = try [("--unix", "a.sock"), ("--unixgram", "b.sock")].map { flag, name in
            try Kymo.start([
                "simulate", flag, folder.file(name), "--duration", "10000h", "--start", "2020-01-01T00:00:00Z",
                "--speed", "max",
            ])
        }
        try Waiting.until("output") { run.output.count > 500_000 }
        let done = try run.terminate()
        #expect(done.end == .exit(0), "\(done.error)")
        let balance = try #require(done.balance)
        #expect(balance.isClosed && balance.accepted > 0, "\(done.error)")
        #expect(try DeadLetter.read(folder.file("dead.ndjson")).count == balance.rejected)
        #expect(Set(balance.reasons.keys).isSubset(of: ["shutdown"]) && balance.rejected <= 1)
        var reader = BundleReader()
        try reader.read(ndjson: done.output)
        #expect(reader.versions.values.reduce(0, +) == balance.observations)
        for client in clients { #expect(try client.wait() == .exit(69)) }
    }

    /// Input that never ends does not keep the run from ending.
    @Test func endlessInput() throws {
        let run = try Kymo.start(["run", "--stdin"], input: .pipe)
        _ = try run.addresses()
        run.write(Readings.ndjson(Readings.heartRates(5)))
        let done = try run.terminate()
        #expect(done.end == .exit(0))
        #expect(try #require(done.balance).isClosed)
    }

    /// The part of a line that came before the signal is counted and kept.
    @Test func anUnfinishedLineIsRejected() throws {
        let folder = TemporaryFolder()
        let run = try Kymo.start(
            ["run", "--unix", folder.file("a.sock"), "--dead-letter", folder.file("dead.ndjson")])
        let connection = try OpenConnection(try run.addresses()[0])
        try connection.send(Readings.heartRate(second: 1) + "\n{\"deviceId\":\"wat")
        let balance = try #require(try run.terminate().balance)
        #expect(balance.accepted == 1 && balance.reasons == ["shutdown": 1])
        #expect(try DeadLetter.read(folder.file("dead.ndjson")).map(\.text) == ["{\"deviceId\":\"wat"])
    }

    /// Standard input that ends ends its source only.
    @Test func otherSourcesGoOn() throws {
        let folder = TemporaryFolder()
        let run = try Kymo.start(
            ["run", "--stdin", "--unix", folder.file("a.sock"), "--window", "1s", "--lateness", "0s"],
            input: .bytes(Readings.ndjson(Readings.heartRates(2))))
        let address = try #require(try run.addresses(2).first { $0.hasPrefix("unix") })
        try Waiting.until("output") { !run.output.isEmpty }
        try Sending.send(lines: Readings.heartRates(3, device: "watch-2"), to: address)
        #expect(try #require(try run.terminate().balance).accepted == 5)
    }

    @Test func hangupIsNoEnd() throws {
        let run = try Kymo.start(["run", "--stdin"], input: .pipe)
        _ = try run.addresses()
        run.signal(SIGHUP)
        try run.waitForError("SIGHUP")
        run.write(Readings.ndjson(Readings.heartRates(2)))
        run.closeInput()
        let done = try run.finish()
        #expect(done.end == .exit(0))
        #expect(try #require(done.balance).accepted == 2)
    }

    /// Nobody reads the output, so draining cannot end: the second signal must.
    @Test(
        arguments: [(SIGTERM, SIGTERM, 143), (SIGINT, SIGINT, 130), (SIGINT, SIGTERM, 143)] as [(Int32, Int32, Int32)])
    func secondSignal(first: Int32, second: Int32, code: Int32) throws {
        let run = try blocked(["--stdin"])
        run.signal(first)
        run.signal(second)
        // Both may be one signal to the process when they come at once.
        let end = try endOf(run, repeating: second)
        #expect(end == .exit(code))
        #expect(run.errorText.contains("ended by a second signal") && run.errorText.contains("kymo: received"))
    }

    @Test func drainLimit() throws {
        let folder = TemporaryFolder()
        let file = folder.write("kymo.yaml", "drain: 300ms\nsources: [{stdin: true}]\n")
        let run = try blocked(["--config", file])
        run.signal(SIGTERM)
        let done = try run.finish(seconds: 20)
        #expect(done.end == .exit(75))
        #expect(done.error.contains("draining took longer than its limit") && done.error.contains("kymo: received"))
    }

    /// Draining is cut at its limit though the machine's clock was set back by a day meanwhile.
    @Test(.enabled(if: PreloadedLibrary.hasCompiler, "needs a C compiler called cc"))
    func theDrainLimitFollowsNoClockThatIsSet() throws {
        let (machine, manager) = (try FaultyMachine(root: "/nowhere"), try NotifyListener(.file))
        let environment = machine.environment.merging(["KYMO_DRAIN": "2s", "NOTIFY_SOCKET": manager.name]) { $1 }
        let run = try blocked(["--stdin"], environment: environment)
        run.signal(SIGTERM)
        try manager.wait(for: "STOPPING=1")
        machine.step(seconds: -86_400)
        let done = try run.finish(seconds: 20)
        #expect(done.end == .exit(75) && done.error.contains("draining took longer than its limit"), "\(done.error)")
    }

    @Test func readerGone() throws {
        let run = try Kymo.start(
            ["run", "--stdin", "--window", "1s", "--lateness", "0s"], input: .pipe, output: .pipe)
        _ = try run.addresses()
        run.closeOutput()
        run.write(Readings.ndjson(Readings.heartRates(2_000)))
        let done = try run.finish(seconds: 20)
        #expect(done.end == .exit(74))
        #expect(done.error.contains("standard output"), "\(done.error)")
    }

    @Test func readerThatLeavesWhileBlocked() throws {
        let run = try blocked(["--stdin"])
        run.closeOutput()
        let done = try run.finish(seconds: 20)
        #expect(done.end == .exit(74), "\(done.error)")
    }

    /// A full disk is waited for; a signal ends the wait within the limit, and what is missing is said.
    @Test func diskFull() throws {
        let folder = TemporaryFolder()
        let file = folder.write("kymo.yaml", "drain: 300ms\nsources: [{stdin: true}]\n")
        let run = try Kymo.start(["run", "--config", file], input: .pipe, output: .path("/dev/full"))
        run.write(Readings.ndjson(Readings.heartRates(10)))
        run.closeInput()
        try run.waitForError("No space left on device")
        run.signal(SIGTERM)
        let done = try run.finish(seconds: 20)
        #expect(done.end == .exit(74), "\(done.error)")
        let last = done.error.split(separator: "\n").last ?? ""
        #expect(last.contains("cannot write to standard output") && done.error.contains("trying again"))
        #expect(last.contains("up to 10 readings lost") && !last.contains("nothing is lost"), "\(last)")
    }

    /// Dead letters that cannot be written are no reason to stop, and none to be silent.
    @Test func deadLettersOnAFullDisk() throws {
        let done = try Kymo.run(
            ["run", "--stdin", "--dead-letter", "/dev/full"],
            input: .bytes(Readings.ndjson(["nonsense"] + Readings.heartRates(3))))
        #expect(done.end == .exit(74), "\(done.error)")
        #expect(done.error.contains("dead-letter") && done.error.contains("No space left"), "\(done.error)")
        #expect(try #require(done.balance).accepted == 3 && !done.output.isEmpty)
    }

    @Test func closedStandardInput() throws {
        let done = try ChildProcess("sh", ["-c", "exec \"$0\" run --stdin <&-", Kymo.path]).finish(seconds: 20)
        #expect(done.end == .exit(66), "\(done.end)")
        #expect(done.error.contains("standard input cannot be read: it is closed"), "\(done.error)")
    }

    @Test func closedStandardOutput() throws {
        let done = try ChildProcess(
            "sh", ["-c", "exec \"$0\" run --stdin >&-", Kymo.path],
            input: .bytes(Readings.ndjson(Readings.heartRates(3)))
        ).finish(seconds: 20)
        #expect(done.end == .exit(74), "\(done.end)")
        #expect(done.error.contains("cannot write to standard output"), "\(done.error)")
    }

    /// A run whose output nobody reads, with more of it than the pipe holds.
    private func blocked(_ arguments: [String], environment: [String: String] = [:]) throws -> ChildProcess {
        let run = try Kymo.start(
            ["run", "--window", "1s", "--lateness", "0s"] + arguments, environment: environment, input: .pipe,
            output: .pipe)
        _ = try run.addresses()
        run.write(Readings.ndjson(Readings.heartRates(600)))
        try Waiting.until("a full pipe") { Pipes.isFull(run.outputPipe) }
        return run
    }

    private func endOf(_ run: ChildProcess, repeating signal: Int32) throws -> ChildProcess.End {
        for _ in 0..<40 {
            if let end = try? run.wait(seconds: 0.25) { return end }
            run.signal(signal)
        }
        return try run.wait(seconds: 1)
    }

    private func counts(_ reader: BundleReader) -> Int {
        reader.observations.values.reduce(0) { $0 + Observations.count($1) }
    }
}

/// Looks into pipes.
enum Pipes {
    /// Whether a pipe holds as much as pipes do: 64 KiB less a page.
    static func isFull(_ file: OpenFile?) -> Bool {
        var waiting: Int32 = 0
        guard let file, unsafe ioctl(file.descriptor, UInt(FIONREAD), &waiting) == 0 else { return false }
        return waiting >= 61_440
    }
}

/// Looks into Observations.
enum Observations {
    /// The value of the component that counts readings; 1 when there is none.
    static func count(_ observation: JSONTree) -> Int {
        for component in observation["component"]?.elements ?? [] {
            let codes = component["code"]?["coding"]?.elements?.compactMap { $0["code"]?.text } ?? []
            if codes == ["count"], case .number(let digits)? = component["valueInteger"] { return Int(digits) ?? 0 }
        }
        return 1
    }
}
