import CommandSupport
import Glibc
import KymographTestKit
import Testing
import TrialSupport

/// The process is killed, again and again, while a client sends messages and sends again what was not acknowledged:
/// nothing that was acknowledged is lost, and what comes out in the end is what comes out of a run without crashes.
@Suite(.serialized) struct MLLPCrashTests {
    private let folder = TemporaryFolder()

    private func start() throws -> ChildProcess {
        try Kymo.start([
            "run", "--mllp", "127.0.0.1:0", "--mapping", "pcd-01", "--data", folder.file("data"), "--out",
            folder.file("out"), "--idle", "1s",
        ])
    }

    /// Messages of some monitors, a few of which come twice, or correct one that came before.
    private func messages(seed: UInt64, count: Int) -> [String] {
        var random = SeededBytes(seed: seed)
        return (0..<count).map { index in
            let second = random.next(upTo: 12) == 0 ? max(0, index - random.next(upTo: 30)) : index
            let results = [
                MonitorMessages.heartRate("\(50 + random.next(upTo: 90))", status: second < index ? "C" : "R"),
                MonitorMessages.saturation("\(90 + random.next(upTo: 10))"),
            ]
            return MonitorMessages.message(
                id: index, second: second, results: results, device: "monitor-\(second % 5)")
        }
    }

    @Test func killedAtAnyMoment() throws {
        let seed = Trials.seed(12)
        let messages = messages(seed: seed, count: max(1_500, CrashTests.rounds * 75))
        var random = SeededBytes(seed: seed)
        var answered = 0
        for round in 0..<CrashTests.rounds {
            let share = messages.count * (round + 1) / CrashTests.rounds
            answered += try crash(messages[answered..<max(answered, share)], after: 5 + random.next(upTo: 300))
        }
        let last = try start()
        #expect(try send(messages[answered...], to: try last.addresses()[0]) == messages.count - answered)
        #expect(try last.terminate().end == .exit(0))

        let whole = TemporaryFolder()
        let oracle = try Kymo.start([
            "run", "--mllp", "127.0.0.1:0", "--mapping", "pcd-01", "--data", whole.file("data"), "--out",
            whole.file("out"), "--idle", "1s",
        ])
        #expect(try send(messages[...], to: try oracle.addresses()[0]) == messages.count)
        #expect(try oracle.terminate().end == .exit(0))
        let (expected, found) = (try read(whole), try read(folder))
        let differences = found.differences(from: expected, ignoring: ["status"])
        #expect(differences.isEmpty, "seed \(seed): \(differences.prefix(5))")
        #expect(expected.observations.count > 1_000)
    }

    private func read(_ folder: TemporaryFolder) throws -> BundleReader {
        var reader = BundleReader()
        for name in Files.names(folder.file("out")) { try reader.read(ndjson: Files.read(folder.file("out/\(name)"))) }
        return reader
    }

    /// Sends `messages` to a process that is killed `milliseconds` later, or earlier; how many were acknowledged.
    private func crash(_ messages: ArraySlice<String>, after milliseconds: Int) throws -> Int {
        let process = try start()
        let address = try process.addresses()[0]
        let end = ContinuousClock.now + .milliseconds(milliseconds)
        // While it reads, commits, or answers.
        let answered = try send(messages, to: address) { if ContinuousClock.now >= end { process.signal(SIGKILL) } }
        process.signal(SIGKILL)
        #expect(try process.wait() == .signal(SIGKILL), "\(process.errorText)")
        return answered
    }

    /// Sends `messages` in their order, a few of them ahead, until all are acknowledged or the process has gone; how
    /// many were acknowledged.
    private func send(
        _ messages: ArraySlice<String>, to address: String, meanwhile: () -> Void = {}
    ) throws -> Int {
        guard let client = try? MLLPClient(address) else { return 0 }
        var (sent, answered) = (0, 0)
        while answered < messages.count {
            while sent < min(messages.count, answered + 5) {
                client.connection.send(MLLPClient.frame(messages[messages.startIndex + sent]))
                sent += 1
            }
            try client.connection.wait("acknowledgements") { connection in
                meanwhile()
                let replies = client.acknowledgements()
                for reply in replies {
                    #expect(reply.contains("MSA|AA|\(messages.startIndex + answered)\n"), "\(reply)")
                    answered += 1
                }
                return !replies.isEmpty || connection.hasEnded
            }
            if client.connection.hasEnded { break }
        }
        return answered
    }
}
