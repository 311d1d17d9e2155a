import CommandSupport
import Glibc
import KymographTestKit
import Testing
import TrialSupport

/// What happens to an instance in a day, in seconds: clients that come and go, scrapes, commands and reloads.
/// Descriptors, threads and memory are level, and every reading is counted. `make soak` is the same for hours, with all
/// doors.
@Suite struct SmallSoakTests {
    private static let rounds = max(24, Trials.tortureRounds ?? 0)
    private let folder = TemporaryFolder()

    /// Every second round has a source more, and another limit.
    private func configure(_ round: Int) {
        let more = round % 2 == 1 ? ", {unix: b.sock}" : ""
        folder.write(
            "kymo.yaml",
            """
            sources: [{unix: a.sock}\(more)]
            data: data
            output: {to: out}
            window: 10s
            lateness: 0s
            drain: \(20 + round)s
            http: {admin: "127.0.0.1:0"}

            """)
    }

    private struct Level {
        var descriptors: Int
        var threads: Int
        var kibibytes: Int

        init(_ run: ChildProcess) {
            descriptors = Files.names("/proc/\(run.pid)/fd").count
            threads = Files.names("/proc/\(run.pid)/task").count
            let line = Files.text("/proc/\(run.pid)/status").split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
            kibibytes = line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
        }
    }

    /// Readings of five devices in ten seconds that are the round's own.
    private func lines(_ round: Int) -> [String] {
        (0..<10).flatMap { second in
            (0..<5).map { Readings.heartRate(second: round * 10 + second, value: 60 + second, device: "watch-\($0)") }
        }
    }

    private func send(_ round: Int, to socket: String) throws {
        let client = try AckClient(folder.file(socket))
        // The last device uses the second source while there is one.
        let part = lines(round).filter { round % 2 == 0 || $0.contains("watch-4") == (socket == "b.sock") }
        client.send(Readings.ndjson(part))
        try Waiting.until("\(part.count) acknowledged, \(client.acknowledged)") {
            client.receive()
            return client.acknowledged == part.count
        }
    }

    @Test func nothingGrows() throws {
        configure(0)
        let run = try Kymo.start(["run", "--config", "kymo.yaml"], directory: folder.path)
        _ = try run.addresses()
        let admin = try AdminClient(run)
        var levels: [Level] = []
        for round in 1...Self.rounds {
            configure(round)
            run.signal(SIGHUP)
            try run.waitForError("drain \(19 + round)s → \(20 + round)s")
            try send(round, to: "a.sock")
            if round % 2 == 1 { try send(round, to: "b.sock") }
            #expect(try admin.value("kymo_ledger_imbalance") == 0)
            if round % 4 == 0 { #expect(try Kymo.run(["status", "--data", folder.file("data")]).end == .exit(0)) }
            levels.append(Level(run))
        }
        let third = Self.rounds / 3
        func largest(_ part: ArraySlice<Level>, _ number: (Level) -> Int) -> Int { part.map(number).max() ?? 0 }
        let (middle, last) = (levels[third..<2 * third], levels[(2 * third)...])
        #expect(largest(last, \.descriptors) <= largest(middle, \.descriptors) + 1, "\(levels.map(\.descriptors))")
        #expect(largest(last, \.threads) <= largest(middle, \.threads), "\(levels.map(\.threads))")
        // What is kept of each reload and client would show, were it 512 KiB; what is less shows in `make soak`.
        #expect(largest(last, \.kibibytes) < largest(middle, \.kibibytes) + 4_096, "\(levels.map(\.kibibytes))")
        let done = try run.terminate()
        let balance = try #require(done.balance, "\(done.error)")
        #expect(done.end == .exit(0) && balance.isClosed && balance.accepted == Self.rounds * 50, "\(done.error)")
        #expect(done.error.contains("reloads \(Self.rounds), failed 0"), "\(done.error)")
        #expect(try Kymo.run(["ledger", "--verify", "--data", folder.file("data")]).end == .exit(0))
    }
}
