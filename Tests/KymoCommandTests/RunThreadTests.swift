import CommandSupport
import Glibc
import Testing

/// Threads and the processors that they are bound to.
@Suite struct RunThreadTests {
    /// Processors on which a thread may run, by its name.
    private func threads(of pid: Int32) -> [String: String] {
        var found: [String: String] = [:]
        for thread in Files.names("/proc/\(pid)/task") {
            let lines = Files.text("/proc/\(pid)/task/\(thread)/status").split(separator: "\n")
            let fields = lines.map { $0.split(separator: "\t", maxSplits: 1).map(String.init) }
            let name = fields.first { $0.first == "Name:" }?.last ?? ""
            found[name] = fields.first { $0.first == "Cpus_allowed_list:" }?.last
        }
        return found
    }

    @Test func lanesAndShardsAreBoundInTurn() throws {
        let folder = TemporaryFolder()
        // This process's own: what it is allowed, the other is.
        let allowed = try #require(threads(of: getpid()).values.first)
        let processor = String(allowed.prefix { $0.isNumber })
        let run = try Kymo.start(
            [
                "run", "--ephemeral", "--unix", folder.file("a.sock"), "--unix", folder.file("b.sock"), "--lanes", "2",
                "--shards", "2", "--processors", processor,
            ])
        _ = try run.addresses(2)
        var names: [String: String] = [:]
        try Waiting.until("the threads of \(run.pid): \(names)") {
            names = threads(of: run.pid)
            return ["kymo-lane-0", "kymo-lane-1", "kymo-shard-0", "kymo-shard-1"].allSatisfy { names[$0] == processor }
        }
        #expect(names["kymo"] == allowed)
        #expect(try run.terminate().end == .exit(0))
    }

    /// Compressing is not done by a shard: with nothing kept there is a thread for it, and only where it is wanted.
    @Test(arguments: [true, false]) func compressedFilesHaveAThread(isCompressed: Bool) throws {
        let folder = TemporaryFolder()
        let file = folder.write("kymo.yaml", "output: {to: out, compression: \(isCompressed ? "zstd" : "none")}\n")
        let run = try Kymo.start(
            ["run", "--ephemeral", "--config", file, "--unix", folder.file("a.sock")], directory: folder.path)
        try Sending.send(lines: Readings.heartRates(50), to: try run.addresses()[0])
        // A thread bears the name of the process until it has told its own.
        let started = isCompressed ? ["kymo-shard-0", "kymo-output-0"] : ["kymo-shard-0"]
        try Waiting.until("the threads of \(run.pid)") { started.allSatisfy { threads(of: run.pid)[$0] != nil } }
        #expect((threads(of: run.pid)["kymo-output-0"] != nil) == isCompressed)
        #expect(try run.terminate().end == .exit(0))
        let names = Files.names(folder.file("out")).filter { !$0.hasSuffix(".open") }
        #expect(names.count == 1 && names[0].hasSuffix(isCompressed ? ".zst" : ".ndjson"), "\(names)")
    }

    @Test(arguments: ["sleep", "yield", "spin"]) func everyWayOfWaitingTakesAllReadings(_ wait: String) throws {
        let folder = TemporaryFolder()
        let run = try Kymo.start(
            ["run", "--ephemeral", "--unix", folder.file("a.sock")],
            environment: ["KYMO_WAIT": wait, "KYMO_RING_SLOTS": "512"])
        let address = try run.addresses()[0]
        // Twice, so that threads wait in between, and more than the ring holds.
        for part in ["a", "b"] {
            let lines = (0..<40).flatMap { Readings.heartRates(50, device: "\(part)-\($0)") }
            try Sending.send(lines: lines, to: address)
        }
        let done = try run.terminate()
        let balance = try #require(done.balance)
        #expect(done.end == .exit(0) && balance.accepted == 4_000 && balance.observations == 80 && balance.isClosed)
    }

    @Test func aProcessorThatIsNotThereIsAnError() throws {
        let done = try Kymo.run(["run", "--stdin", "--processors", "1000"])
        #expect(done.end == .exit(78))
        #expect(done.error.contains("this process may not run on processor 1000: name others"), "\(done.error)")
    }
}
