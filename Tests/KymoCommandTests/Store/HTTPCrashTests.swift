import CommandSupport
import Glibc
import KymographTestKit
import Testing
import TrialSupport

/// The process is killed, again and again, while a client posts readings and sends again what was not answered: nothing
/// that was answered is lost, and what comes out in the end is what comes out of a run without crashes.
@Suite(.serialized) struct HTTPCrashTests {
    private let folder = TemporaryFolder()

    private func start() throws -> ChildProcess {
        try Kymo.start(
            [
                "run", "--http", "127.0.0.1:0", "--data", folder.file("data"), "--out", folder.file("out"),
            ] + CrashTests.windows)
    }

    @Test func killedAtAnyMoment() throws {
        let seed = Trials.seed(11)
        let lines = CrashTests.lines(seed: seed, count: max(3_000, CrashTests.rounds * 150))
        var random = SeededBytes(seed: seed)
        var answered = 0
        for round in 0..<CrashTests.rounds {
            let share = lines.count * (round + 1) / CrashTests.rounds
            answered += try crash(lines[answered..<max(answered, share)], after: 5 + random.next(upTo: 300))
        }
        let last = try start()
        #expect(try post(lines[answered...], to: try last.addresses()[0]) == lines.count - answered)
        #expect(try last.terminate().end == .exit(0))

        let oracle = try Kymo.run(
            ["run", "--stdin", "--ephemeral"] + CrashTests.windows, input: .bytes(Readings.ndjson(lines)))
        var (expected, found) = (BundleReader(), BundleReader())
        try expected.read(ndjson: oracle.output)
        for name in Files.names(folder.file("out")) { try found.read(ndjson: Files.read(folder.file("out/\(name)"))) }
        let differences = found.differences(from: expected, ignoring: ["status"])
        #expect(differences.isEmpty, "seed \(seed): \(differences.prefix(5))")
        #expect(expected.observations.count > 50)
    }

    /// Posts `lines` to a process that is killed `milliseconds` later, or earlier; how many were answered.
    private func crash(_ lines: ArraySlice<String>, after milliseconds: Int) throws -> Int {
        let process = try start()
        let address = try process.addresses()[0]
        let end = ContinuousClock.now + .milliseconds(milliseconds)
        // While it reads, commits, or answers.
        let answered = try post(lines, to: address) { if ContinuousClock.now >= end { process.signal(SIGKILL) } }
        process.signal(SIGKILL)
        #expect(try process.wait() == .signal(SIGKILL), "\(process.errorText)")
        return answered
    }

    /// Posts `lines`, a few at a time, until all are answered or the process has gone; how many were answered.
    private func post(
        _ lines: ArraySlice<String>, to address: String, meanwhile: () -> Void = {}
    ) throws -> Int {
        let client = PostClient(address)
        var rest = lines
        while !rest.isEmpty {
            let batch = rest.prefix(7)
            let answer = try? client.exchange(PostClient.request(Readings.ndjson(Array(batch))), meanwhile: meanwhile)
            guard let answer else { break }
            #expect(answer.status == 200, "\(answer.body)")
            guard answer.status == 200 else { break }
            rest = rest.dropFirst(batch.count)
        }
        return lines.count - rest.count
    }
}
