import CommandSupport
import Glibc
import KymographTestKit
import Testing
import TrialSupport

/// Power is cut: what was not made durable is lost, torn or in another order than it was written. Nothing that was
/// acknowledged is lost then, no step is left to an operator, and what comes out in the end is what comes out of a run
/// without a cut.
@Suite(.serialized, .enabled(if: PreloadedLibrary.hasCompiler, "needs a C compiler called cc"))
struct PowerLossTests {
    /// Cuts of each run; `KYMO_TORTURE` asks for more.
    private static let cuts = Trials.tortureRounds ?? 12

    private let folder = TemporaryFolder()

    private func arguments(_ root: String) -> [String] {
        ["run", "--data", "\(root)/data", "--out", "\(root)/out"] + CrashTests.windows
    }

    /// A run under load that is recorded from its first call to its last. At most `ahead` lines are not acknowledged.
    private func record(_ lines: [String], isCalm: Bool, ahead: Int = 200) throws -> RecordedDisk {
        let (root, journal) = (folder.file("disk"), folder.file("journal"))
        #expect(unsafe mkdir(root, 0o700) == 0)
        let library = try RecordedDisk.library()
        // It takes its file with it.
        defer { withExtendedLifetime(library) {} }
        let process = try Kymo.start(
            arguments(root) + ["--unix", folder.file("k.sock")],
            environment: library.environment(RecordedDisk.environment(journal: journal, root: root)))
        _ = try process.addresses()
        let client = try AckClient(folder.file("k.sock"))
        for start in stride(from: 0, to: lines.count, by: 11) {
            client.send(Readings.ndjson(Array(lines[start..<min(start + 11, lines.count)])))
            // Commits of few readings each, or of as many as come while the disk is busy; several at any speed,
            // since a client goes on when what it sent long ago was acknowledged.
            if isCalm { usleep(8_000) }
            try Waiting.until("\(start) acknowledged but for \(ahead): \(client.acknowledged)") {
                client.receive()
                return client.acknowledged >= start - ahead
            }
        }
        try Waiting.until("\(lines.count) acknowledged: \(client.acknowledged), \(process.errorText)") {
            client.receive()
            return client.acknowledged == lines.count
        }
        let done = try process.terminate()
        #expect(done.end == .exit(0), "\(done.error)")
        return RecordedDisk(journal: journal)
    }

    /// How many lines clients were told to be durable.
    private static func acknowledged(_ told: String) -> Int {
        told.split(separator: "\n").last.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }

    private func observations(_ root: String) throws -> BundleReader {
        var reader = BundleReader()
        for name in Files.names("\(root)/out") where !name.hasSuffix(".partial") {
            try reader.read(ndjson: Files.read("\(root)/out/\(name)"))
        }
        return reader
    }

    /// The calls before one of which the power is cut: the end of the run, anywhere, and one part after the other of
    /// the calls where readings come; half of the calls are of the start.
    private static func calls(for cut: Int, of disk: RecordedDisk) -> ClosedRange<Int> {
        if cut == 0 { return disk.count...disk.count }
        if cut % 4 == 1 { return 0...disk.count }
        let length = disk.count - disk.firstTold
        return disk.firstTold + length * cut / cuts...disk.firstTold + length * (cut + 1) / cuts
    }

    @Test(arguments: [true, false]) func nothingThatWasAcknowledgedIsLost(isCalm: Bool) throws {
        let lines = CrashTests.lines(seed: Trials.seed(3), count: 700)
        let disk = try record(lines, isCalm: isCalm)
        let oracle = try Kymo.run(
            ["run", "--stdin", "--ephemeral"] + CrashTests.windows, input: .bytes(Readings.ndjson(lines)))
        var expected = BundleReader()
        try expected.read(ndjson: oracle.output)
        #expect(expected.observations.count > 10 && disk.count > 50, "\(disk.count) calls")
        var random = SeededGenerator(seed: Trials.seed(isCalm ? 4 : 5))
        var told: Set<Int> = []
        for cut in 0..<Self.cuts {
            let end = Int.random(in: Self.calls(for: cut, of: disk), using: &random)
            let acknowledged = Self.acknowledged(disk.told(before: end))
            told.insert(acknowledged)
            let root = folder.file("cut-\(cut)")
            #expect(unsafe mkdir(root, 0o700) == 0)
            for (path, content) in disk.files(before: end, using: &random) {
                let file = "\(root)/\(path)"
                _ = unsafe mkdir(String(file[..<file.lastIndex(of: "/")!]), 0o700)
                Files.write(content, to: file)
            }
            let name = "seed \(Trials.seed(isCalm ? 4 : 5)), cut \(cut) before call \(end) of \(disk.count)"
            // All comes again, as from a client that has not heard the last answers.
            let done = try Kymo.run(arguments(root) + ["--stdin"], input: .bytes(Readings.ndjson(lines)))
            #expect(done.end == .exit(0), "\(name): \(done.error)")
            #expect(!done.error.contains("repaired"), "\(name): \(done.error)")
            let balance = try #require(done.balance, "\(name): \(done.error)")
            #expect(balance.isClosed && balance.accepted <= lines.count - acknowledged, "\(name): \(done.error)")
            let differences = try observations(root).differences(from: expected, ignoring: ["status"])
            #expect(differences.isEmpty, "\(name): \(differences.prefix(5)), \(done.error)")
            Files.removeAll(root)
        }
        #expect(told.count >= 3, "cuts at \(told.sorted()) acknowledged readings")
    }

    /// File systems may lose the name of a new file though its content was made durable: the store, which forgets then
    /// what the file has, waits for both.
    @Test func outputIsMadeDurableWithItsName() throws {
        let disk = try record(CrashTests.lines(seed: Trials.seed(3), count: 300), isCalm: true, ahead: 0)
        let syncs = disk.furtherSyncs(in: "out")
        #expect(syncs.all > 0)
        #expect(syncs.nameless == 0)
    }
}
