import CommandSupport
import Glibc
import KymographTestKit
import Testing
import TrialSupport

/// Random sequences of pauses, flushes, restarts and kills, beside a list of what was acknowledged: all of that is
/// there in the end, each once, and what was not is sent again as its sender would.
@Suite struct PauseSequenceTests {
    /// One sequence.
    private final class Sequence {
        private let run = StoredRun()
        private var random: SeededGenerator
        private var instance: ChildProcess?
        private var client: AckClient?
        /// Lines in the present connection, in order.
        private var sent: [String] = []
        /// Lines that were not acknowledged when their connection ended.
        private var again: [String] = []
        private var second = 0
        private(set) var steps: [String] = []

        init(seed: UInt64) { random = SeededGenerator(seed: seed) }

        private var source: String { "unix \(run.folder.file("a.sock"))" }

        func start() throws {
            let instance = try Kymo.start([
                "run", "--unix", run.folder.file("a.sock"), "--data", run.data, "--out", run.output, "--format",
                "ndjson", "--window", "1m", "--idle", "0s", "--lanes", "\(Int.random(in: 1...2, using: &random))",
            ])
            _ = try instance.addresses()
            try Waiting.until("the control socket") { try run.command("status").text.contains("used by process") }
            self.instance = instance
            client = try AckClient(run.folder.file("a.sock"))
        }

        /// Forgets the connection: what was not acknowledged is to be sent again.
        private func part() {
            client?.receive()
            again += sent.dropFirst(client?.acknowledged ?? 0)
            (sent, client) = ([], nil)
        }

        private func end(_ signal: Int32) throws {
            instance?.signal(signal)
            try Waiting.until("the end") {
                client?.receive()
                return client?.isOpen != true
            }
            let done = try instance?.finish()
            #expect(signal == SIGKILL || done?.end == .exit(0), "\(done?.error ?? "")")
            part()
        }

        private func send(_ lines: [String]) {
            sent += lines
            client?.send(Readings.ndjson(lines))
        }

        private func readings() -> [String] {
            (0..<Int.random(in: 1...20, using: &random)).map { _ in
                second += 1
                let line = Readings.heartRate(second: second)
                guard Bool.random(using: &random) else { return line }
                return line.replacing("heartRate", with: "bodyMass").replacing("\"/min\"", with: "\"kg\"")
            }
        }

        /// One thing that happens.
        func step() throws {
            let name = Bool.random(using: &random) ? "heartRate" : source
            switch Int.random(in: 0..<8, using: &random) {
            case 0...2:
                steps.append("send")
                send(readings())
            case 3:
                steps.append("pause \(name)")
                #expect(try run.command("pause", name).end == .exit(0))
            case 4:
                steps.append("resume \(name)")
                #expect(try run.command("resume", name).end == .exit(0))
            case 5:
                steps.append("flush")
                #expect(try run.command("flush").end == .exit(0))
            case 6:
                steps.append("end")
                try end(SIGTERM)
                try start()
            default:
                steps.append("kill")
                try end(SIGKILL)
                try start()
            }
        }

        /// Ends all pauses, sends what no one has acknowledged, takes the letters, and compares.
        func finish() throws {
            _ = try run.command("resume", "heartRate", source)
            let rest = again
            again = []
            send(rest)
            try Waiting.until("\(sent.count) acknowledgements, not \(client?.acknowledged ?? -1): \(steps)") {
                client?.receive()
                return client?.acknowledged == sent.count
            }
            try end(SIGTERM)
            let replayed = try Kymo.run([
                "dead", "replay", "--all", "--data", run.data, "--out", run.output, "--window", "1m",
            ])
            #expect([.exit(0), .exit(65)].contains(replayed.end), "\(steps) \(replayed.error)")
            let found = try Kymo.run(["query", "--readings", "--limit", "10000", "--data", run.data]).lines
            let times = found.compactMap { try? JSONTree(parsing: Array($0.utf8))["OccurrenceTimeUtc"]?.text }
            #expect(found.count == second && Set(found).count == second, "\(steps) \(replayed.error)")
            #expect(Set(times).count == second, "\(steps) \(replayed.error)")
            let verified = try run.command("ledger", "--verify")
            #expect(verified.end == .exit(0), "\(steps) \(verified.error)")
        }
    }

    @Test(arguments: Trials.seeds(tenthOf: 40)) func nothingIsLost(seed: UInt64) throws {
        let sequence = Sequence(seed: seed)
        try sequence.start()
        for _ in 0..<14 { try sequence.step() }
        try sequence.finish()
    }
}
