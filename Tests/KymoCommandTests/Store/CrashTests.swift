import CommandSupport
import Glibc
import KymographTestKit
import Testing
import TrialSupport

/// The process is killed, again and again, while a client sends: nothing that was acknowledged is lost, and what comes
/// out in the end is what comes out of a run without crashes.
@Suite(.serialized) struct CrashTests {
    /// How often to crash; `KYMO_TORTURE` asks for more.
    static let rounds = Trials.tortureRounds ?? 20

    /// Readings of several devices, most of them in order, some twice, some late.
    static func lines(seed: UInt64, count: Int) -> [String] {
        var random = SeededBytes(seed: seed)
        var lines: [String] = []
        for index in 0..<count {
            let device = "watch-\(random.next(upTo: 6))"
            var second = index / 6
            if random.next(upTo: 20) == 0 { second = max(0, second - random.next(upTo: 400)) }
            lines.append(Readings.heartRate(second: second, value: 50 + random.next(upTo: 90), device: device))
            if random.next(upTo: 25) == 0, let last = lines.last { lines.append(last) }
        }
        return lines
    }

    static let windows = ["--window", "30s", "--lateness", "5s", "--idle", "1s"]

    @Test(arguments: [false, true]) func killedAtAnyMoment(isSealed: Bool) throws {
        try run(seed: Trials.seed(1), rounds: CrashTests.rounds, isSealed: isSealed) { round in
            var random = SeededBytes(seed: Trials.seed(UInt64(round) * 77))
            return .moment(milliseconds: 5 + random.next(upTo: 495))
        }
    }

    static let points = [
        "before-write", "before-commit", "after-commit", "before-send", "after-send", "before-receipt", "before-trim",
        "after-trim",
    ]

    @Test(arguments: [false, true]) func killedAtEveryPoint(isSealed: Bool) throws {
        let rounds = max(CrashTests.rounds, CrashTests.points.count * 2)
        let reached = try run(seed: Trials.seed(2), rounds: rounds, isSealed: isSealed) { round in
            let point = CrashTests.points[round % CrashTests.points.count]
            return .point(point, passes: 1 + round / CrashTests.points.count % 7)
        }
        #expect(reached == Set(CrashTests.points), "no process died at \(Set(CrashTests.points).subtracting(reached))")
    }

    /// When a process dies.
    enum Death {
        case moment(milliseconds: Int)
        case point(String, passes: Int)

        /// Milliseconds until the test kills it.
        var limit: Int { if case .moment(let milliseconds) = self { milliseconds } else { 3_000 } }

        var environment: [String: String] {
            if case .point(let point, let passes) = self { ["KYMO_CRASH_POINT": "\(point):\(passes)"] } else { [:] }
        }
    }

    /// Gives the points at which a process ended itself.
    @discardableResult
    private func run(
        seed: UInt64, rounds: Int, isSealed: Bool, _ death: (Int) -> Death
    ) throws -> Set<String> {
        // Enough for every round to have something to send.
        let lines = CrashTests.lines(seed: seed, count: max(3_000, rounds * 150))
        let folder = TemporaryFolder()
        if isSealed { #expect(try Kymo.run(["keys", "new", folder.file("key")]).end == .exit(0)) }
        var acknowledged = 0
        var reached: Set<String> = []
        for round in 0..<rounds {
            let death = death(round)
            let end = try crash(death, folder, lines: lines[acknowledged...], round: round)
            acknowledged += end.acknowledged
            if case .point(let point, _) = death, end.isItsOwn { reached.insert(point) }
        }
        try finish(folder, lines: lines[acknowledged...])
        let oracle = try Kymo.run(
            ["run", "--stdin", "--ephemeral"] + CrashTests.windows, input: .bytes(Readings.ndjson(lines)))
        var expected = BundleReader()
        try expected.read(ndjson: oracle.output)
        var found = BundleReader()
        // Beginnings of first lines, or of first encrypted chunks, are put aside; what was in them has come again.
        for name in Files.names(folder.file("out")) where !name.hasSuffix(".partial") {
            try found.read(ndjson: try content(name, folder))
        }
        let differences = found.differences(from: expected, ignoring: ["status"])
        #expect(differences.isEmpty, "seed \(seed), after \(rounds) crashes: \(differences.prefix(5))")
        #expect(expected.observations.count > 50)
        return reached
    }

    /// What names the key, where there is one.
    private func environment(_ folder: TemporaryFolder) -> [String: String] {
        Files.exists(folder.file("key")) ? ["KYMO_ENCRYPTION_KEY_FILE": folder.file("key")] : [:]
    }

    /// What an output file holds.
    private func content(_ name: String, _ folder: TemporaryFolder) throws -> [UInt8] {
        guard name.hasSuffix(".sealed") else { return Files.read(folder.file("out/\(name)")) }
        let done = try Kymo.run(
            ["decrypt", folder.file("out/\(name)"), "--data", folder.file("data")], environment: environment(folder))
        #expect(done.end == .exit(0), "\(done.error)")
        return done.output
    }

    private func start(_ folder: TemporaryFolder, environment: [String: String]) throws -> ChildProcess {
        try Kymo.start(
            [
                "run", "--unix", folder.file("k.sock"), "--data", folder.file("data"), "--out", folder.file("out"),
            ] + CrashTests.windows, environment: self.environment(folder).merging(environment) { $1 })
    }

    /// Starts, sends until the process dies, and gives how many of `lines` it has acknowledged, and whether it died
    /// before the test had killed it.
    private func crash(
        _ death: Death, _ folder: TemporaryFolder, lines: ArraySlice<String>, round: Int
    ) throws -> (acknowledged: Int, isItsOwn: Bool) {
        let process = try start(folder, environment: death.environment)
        _ = try? process.addresses()
        // It may be dead before anybody could connect.
        guard let client = try? AckClient(folder.file("k.sock")) else {
            #expect(try process.wait() == .signal(SIGKILL), "round \(round): \(process.errorText)")
            return (0, true)
        }
        // A part in each round, so that there is something left for the next.
        let sent = send(Array(lines.prefix(250)), to: client, milliseconds: death.limit)
        // A process that ends closes the connection.
        let isItsOwn = !client.isOpen
        process.signal(SIGKILL)
        #expect(try process.wait() == .signal(SIGKILL), "round \(round): \(process.errorText)")
        client.receive()
        #expect(client.acknowledged <= sent)
        return (client.acknowledged, isItsOwn)
    }

    /// Sends `lines` in small parts until the connection or the time ends; gives how many went out.
    private func send(_ lines: [String], to client: AckClient, milliseconds: Int) -> Int {
        let clock = ContinuousClock()
        let end = clock.now + .milliseconds(milliseconds)
        var sent = 0
        while client.isOpen, clock.now < end {
            if sent < lines.count {
                let next = min(sent + 7, lines.count)
                client.send(Readings.ndjson(Array(lines[sent..<next])))
                sent = next
            }
            client.receive()
            usleep(1_000)
        }
        return sent
    }

    private func finish(_ folder: TemporaryFolder, lines: ArraySlice<String>) throws {
        let process = try start(folder, environment: [:])
        _ = try process.addresses()
        let client = try AckClient(folder.file("k.sock"))
        client.send(Readings.ndjson(Array(lines)))
        try Waiting.until("all lines to be acknowledged: \(client.acknowledged) of \(lines.count)") {
            client.receive()
            return client.acknowledged == lines.count
        }
        let done = try process.terminate()
        #expect(done.end == .exit(0), "\(done.error)")
    }
}
