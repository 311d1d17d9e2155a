import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// The process is killed, again and again, while a client sends: nothing that was acknowledged is lost, and what comes
/// out in the end is what comes out of a run without crashes.
@Suite(.serialized) struct CrashTests {
    /// How often to crash; `KYMO_TORTURE` asks for more.
    static let rounds = SharedMaterial.environment["KYMO_TORTURE"].flatMap(Int.init) ?? 20

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

    @Test func killedAtAnyMoment() throws {
        try run(seed: 1, rounds: CrashTests.rounds) { round in
            var random = SeededBytes(seed: UInt64(round) &* 77)
            return .moment(milliseconds: 5 + random.next(upTo: 495))
        }
    }

    static let points = [
        "before-write", "before-commit", "after-commit", "before-send", "after-send", "before-receipt", "before-trim",
        "after-trim",
    ]

    @Test func killedAtEveryPoint() throws {
        try run(seed: 2, rounds: max(CrashTests.rounds, CrashTests.points.count * 2)) { round in
            let point = CrashTests.points[round % CrashTests.points.count]
            return .point("\(point):\(1 + round / CrashTests.points.count % 7)")
        }
    }

    /// When a process dies.
    enum Death {
        case moment(milliseconds: Int)
        case point(String)
    }

    private func run(seed: UInt64, rounds: Int, _ death: (Int) -> Death) throws {
        let lines = CrashTests.lines(seed: seed, count: 3_000)
        let folder = TemporaryFolder()
        var acknowledged = 0
        for round in 0..<rounds {
            acknowledged += try crash(death(round), folder, lines: lines[acknowledged...], round: round)
        }
        try finish(folder, lines: lines[acknowledged...])
        let oracle = try Kymo.run(
            ["run", "--stdin", "--ephemeral"] + CrashTests.windows, input: .bytes(Readings.ndjson(lines)))
        var expected = BundleReader()
        try expected.read(ndjson: oracle.output)
        var found = BundleReader()
        for name in Files.names(folder.file("out")) { try found.read(ndjson: Files.read(folder.file("out/\(name)"))) }
        let differences = found.differences(from: expected, ignoring: ["status"])
        #expect(differences.isEmpty, "seed \(seed), after \(rounds) crashes: \(differences.prefix(5))")
        #expect(expected.observations.count > 50)
    }

    private func start(_ folder: TemporaryFolder, environment: [String: String]) throws -> ChildProcess {
        try Kymo.start(
            [
                "run", "--unix", folder.file("k.sock"), "--data", folder.file("data"), "--out", folder.file("out"),
            ] + CrashTests.windows, environment: environment)
    }

    /// Starts, sends until the process dies, and gives how many of `lines` it has acknowledged.
    private func crash(
        _ death: Death, _ folder: TemporaryFolder, lines: ArraySlice<String>, round: Int
    ) throws -> Int {
        var environment: [String: String] = [:]
        if case .point(let point) = death { environment["KYMO_CRASH_POINT"] = point }
        let process = try start(folder, environment: environment)
        _ = try? process.addresses()
        // It may be dead before anybody could connect.
        guard let client = try? AckClient(folder.file("k.sock")) else {
            _ = try process.wait()
            return 0
        }
        let clock = ContinuousClock()
        let end =
            clock.now
            + .milliseconds(
                { if case .moment(let milliseconds) = death { milliseconds } else { 3_000 } }())
        // A part in each round, so that there is something left for the next.
        let share = Array(lines.prefix(max(lines.count / 12, 60)))
        var sent = 0
        while client.isOpen, clock.now < end {
            if sent < share.count {
                let next = min(sent + 7, share.count)
                client.send(Readings.ndjson(Array(share[sent..<next])))
                sent = next
            }
            client.receive()
            usleep(1_000)
        }
        process.signal(SIGKILL)
        #expect(try process.wait() == .signal(SIGKILL), "round \(round): \(process.errorText)")
        client.receive()
        #expect(client.acknowledged <= sent)
        return client.acknowledged
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
