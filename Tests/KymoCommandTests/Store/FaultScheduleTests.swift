import CommandSupport
import Glibc
import KymographTestKit
import Testing
import TrialSupport

/// The whole pipeline under a schedule of faults that a seed decides, in two phases as TigerBeetle's simulator has
/// them. While faults come, nothing that was acknowledged is lost. Once they stop, a fresh reading goes through, and
/// what has come out is what comes out of a run without faults.
@Suite(.enabled(if: PreloadedLibrary.hasCompiler, "needs a C compiler called cc"))
struct FaultScheduleTests {
    /// What happens next.
    private enum Fault: CaseIterable {
        case none, kill, end, fullDisk, room, clock, sync, reload, wrongReload
    }

    /// The instance, which comes and goes, and its only client.
    private final class Scene {
        let folder = TemporaryFolder()
        let machine: FaultyMachine
        let lines: [String]
        private(set) var acknowledged = 0
        private(set) var happened: [Fault] = []
        private var process: ChildProcess?
        private var client: AckClient?
        /// What the client of now has sent of the lines that were not acknowledged when it came.
        private var (begin, sent) = (0, 0)
        private var reloads = 0

        init(_ lines: [String]) throws {
            self.lines = lines
            machine = try FaultyMachine(root: folder.file("disk"))
            #expect(unsafe mkdir(folder.file("disk"), 0o700) == 0)
            configure("30s")
        }

        var errorText: String { process?.errorText ?? "" }

        private func configure(_ drain: String) {
            folder.write(
                "kymo.yaml",
                """
                sources: [{unix: k.sock}]
                data: disk/data
                output: {to: disk/out}
                window: 30s
                lateness: 5s
                idle: 1s
                drain: \(drain)

                """)
        }

        /// Has an instance and a client be there; false when it cannot start, for what is wrong with the machine.
        func start() throws -> Bool {
            if process != nil, client?.isOpen == true { return true }
            try finish()
            let process = try Kymo.start(
                ["run", "--config", "kymo.yaml"], environment: machine.environment, directory: folder.path)
            self.process = process
            var end: ChildProcess.End?
            try Waiting.until("a start: \(process.errorText)") {
                end = try? process.wait(seconds: 0.001)
                return end != nil || process.errorText.contains("listening on ")
            }
            guard end == nil, let client = try? AckClient(folder.file("k.sock")) else {
                try finish()
                return false
            }
            (self.client, begin, sent) = (client, acknowledged, acknowledged)
            return true
        }

        func send(_ count: Int) {
            guard let client else { return }
            let next = min(lines.count, sent + count)
            client.send(Readings.ndjson(Array(lines[sent..<next])))
            sent = next
            receive()
        }

        func receive() {
            client?.receive()
            if let client { acknowledged = max(acknowledged, begin + client.acknowledged) }
        }

        /// Waits for an instance that is ending, and forgets it.
        func finish() throws {
            receive()
            client = nil
            guard let process else { return }
            self.process = nil
            let end = try process.wait()
            // Killed, ended, or without a disk that it can rely on.
            #expect([.signal(SIGKILL), .exit(0), .exit(74)].contains(end), "\(end): \(process.errorText)")
        }

        func happen(_ fault: Fault, _ random: inout SeededBytes) throws {
            happened.append(fault)
            switch fault {
            case .none: break
            case .kill:
                process?.signal(SIGKILL)
                try finish()
            case .end:
                // It would wait for room until its limit.
                machine.fill(false)
                process?.signal(SIGTERM)
                try finish()
            case .fullDisk: machine.fill(true)
            case .room: machine.heal()
            case .clock: machine.step(seconds: Double(random.next(upTo: 7_200) - 3_600))
            case .sync: machine.failNextSync()
            case .reload, .wrongReload:
                reloads += 1
                configure(fault == .reload ? "\(20 + reloads)s" : "soon")
                if client != nil { process?.signal(SIGHUP) }
                usleep(20_000)
                // A start would refuse it.
                configure("\(20 + reloads)s")
            }
        }

        /// Sends the rest and `fresh`, until all is acknowledged, and ends.
        func heal(_ fresh: [String]) throws -> Kymo.Finished {
            machine.heal()
            var isThere = false
            try Waiting.until("an instance: \(errorText)") {
                isThere = try start()
                if isThere { send(lines.count) }
                receive()
                return isThere && client?.isOpen == true && acknowledged == lines.count
            }
            client?.send(Readings.ndjson(fresh))
            try Waiting.until("what is fresh: \(errorText)") {
                client?.receive()
                return begin + (client?.acknowledged ?? 0) == lines.count + fresh.count
            }
            let process = try #require(self.process)
            self.process = nil
            return try process.terminate()
        }

        var observations: BundleReader {
            get throws {
                var reader = BundleReader()
                for name in Files.names(folder.file("disk/out")) where !name.hasSuffix(".partial") {
                    try reader.read(ndjson: Files.read(folder.file("disk/out/\(name)")))
                }
                return reader
            }
        }
    }

    @Test(arguments: Trials.seeds(Trials.tortureRounds ?? 3)) func readingsFlowAgain(seed: UInt64) throws {
        var random = SeededBytes(seed: seed)
        let scene = try Scene(CrashTests.lines(seed: seed, count: 900))
        for _ in 0..<18 {
            let isThere = try scene.start()
            if isThere { scene.send(10 + random.next(upTo: 60)) }
            usleep(UInt32(random.next(upTo: 30_000)))
            try scene.happen(Fault.allCases[random.next(upTo: Fault.allCases.count)], &random)
            scene.receive()
            // A disk that stays full lets nothing start.
            if !isThere { scene.machine.heal() }
        }
        let fresh = (0..<40).map { Readings.heartRate(second: 7_200 + $0, device: "fresh") }
        let done = try scene.heal(fresh)
        let name = "seed \(seed), \(scene.happened)"
        #expect(done.end == .exit(0), "\(name): \(done.error)")
        let verified = try Kymo.run(["ledger", "--verify", "--data", scene.folder.file("disk/data")])
        #expect(verified.end == .exit(0), "\(name): \(verified.text) \(verified.error)")
        let oracle = try Kymo.run(
            ["run", "--stdin", "--ephemeral"] + CrashTests.windows,
            input: .bytes(Readings.ndjson(scene.lines + fresh)))
        var expected = BundleReader()
        try expected.read(ndjson: oracle.output)
        let differences = try scene.observations.differences(from: expected, ignoring: ["status"])
        #expect(differences.isEmpty, "\(name): \(differences.prefix(5)), \(done.error)")
    }
}
