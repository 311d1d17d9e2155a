import CommandSupport
import Glibc
import KymographTestKit
import Testing
import TrialSupport

/// The disk fills up and gets room again, over and over: nothing that was acknowledged is lost, and it goes on by
/// itself.
@Suite(.serialized) struct DiskFullTests {
    static let rounds = Trials.tortureRounds ?? 50

    @Test(.enabled(if: SmallDisk.canMount, "needs the right to mount a tmpfs"))
    func aFullDiskIsWaitedFor() throws {
        let folder = TemporaryFolder()
        let disk = try SmallDisk(folder.file("disk"), megabytes: 8)
        let process = try Kymo.start(
            [
                "run", "--unix", folder.file("k.sock"), "--data", disk.file("data"), "--out", folder.file("out"),
            ] + CrashTests.windows)
        _ = try process.addresses()
        let client = try AckClient(folder.file("k.sock"))
        let lines = CrashTests.lines(seed: Trials.seed(9), count: DiskFullTests.rounds * 120)
        var sent = 0
        func send(_ count: Int) {
            let next = min(sent + count, lines.count)
            client.send(Readings.ndjson(Array(lines[sent..<next])))
            sent = next
        }
        for round in 0..<DiskFullTests.rounds {
            send(40)
            disk.fill()
            send(60)
            usleep(UInt32(20_000 + round % 7 * 10_000))
            client.receive()
            disk.empty()
            try Waiting.until("round \(round): \(client.acknowledged) of \(sent); \(process.errorText.suffix(3_000))") {
                client.receive()
                return client.acknowledged == sent
            }
        }
        send(lines.count)
        let done = try process.terminate()
        #expect(done.end == .exit(0), "\(done.error.suffix(500))")
        #expect(
            done.error.contains("make room; waiting") && done.error.contains("takes data again"),
            "\(done.error.suffix(500))")
        try compare(folder, lines, windows: CrashTests.windows)
    }

    /// A request that comes while the disk is full is answered 503, however often it comes; what was answered 200 is
    /// there, and what was not comes again as a duplicate at most.
    @Test(.enabled(if: SmallDisk.canMount, "needs the right to mount a tmpfs"))
    func requestsAreRefused() throws {
        let folder = TemporaryFolder()
        let disk = try SmallDisk(folder.file("disk"), megabytes: 8)
        let process = try Kymo.start(
            ["run", "--http", "127.0.0.1:0", "--data", disk.file("data"), "--out", folder.file("out")]
                + CrashTests.windows)
        let address = try process.addresses()[0]
        let lines = CrashTests.lines(seed: Trials.seed(12), count: 1_200)
        func post(_ range: Range<Int>) throws -> AdminClient.Answer? {
            try PostClient(address).exchange(PostClient.request(Readings.ndjson(Array(lines[range]))))
        }
        #expect(try post(0..<400)?.status == 200)
        disk.fill()
        for _ in 0..<2 {
            let answer = try post(400..<800)
            #expect(
                answer?.status == 503 && answer?.body.contains("\"error\":\"notDurable\"") == true, "\(answer as Any)")
        }
        #expect(process.errorText.contains("make room; waiting"), "\(process.errorText)")
        disk.empty()
        #expect(try post(400..<800)?.status == 200)
        #expect(try post(800..<lines.count)?.status == 200)
        process.signal(SIGKILL)
        _ = try process.wait()
        // What was answered 200 is there after the worst end.
        let again = try Kymo.run(
            ["run", "--stdin", "--data", disk.file("data"), "--out", folder.file("out")] + CrashTests.windows)
        #expect(again.end == .exit(0), "\(again.error.suffix(500))")
        try compare(folder, lines, windows: CrashTests.windows)
    }

    /// A run that must end while its disk is full says how many readings are not on it; all others are.
    @Test(.enabled(if: SmallDisk.canMount, "needs the right to mount a tmpfs"))
    func whatIsLostIsSaid() throws {
        let folder = TemporaryFolder()
        let disk = try SmallDisk(folder.file("disk"), megabytes: 8)
        let (socket, data) = (folder.file("k.sock"), disk.file("data"))
        let process = try Kymo.start(
            ["run", "--unix", socket, "--data", data, "--out", folder.file("out")] + CrashTests.windows,
            environment: ["KYMO_DRAIN": "300ms"])
        _ = try process.addresses()
        let client = try AckClient(socket)
        let lines = CrashTests.lines(seed: Trials.seed(10), count: 12_000)
        client.send(Readings.ndjson(Array(lines[..<200])))
        try Waiting.until("200 readings on the disk") {
            client.receive()
            return client.acknowledged == 200
        }
        disk.fill()
        client.send(Readings.ndjson(Array(lines[200...])))
        try process.waitForError("make room; waiting")
        let done = try process.terminate()
        #expect(done.end == .exit(74), "\(done.error.suffix(500))")
        disk.empty()
        let ledger = try Kymo.run(["ledger", "--data", data])
        let kept = try #require(ledger.text.firstMatch(of: /store: received ([0-9]+)/).flatMap { Int($0.1) })
        let received = try #require(done.balance).received
        #expect(kept >= client.acknowledged && kept < received, "\(kept) of \(received)")
        #expect(done.error.contains("\(received - kept) readings lost; send them again"), "\(done.error.suffix(500))")
        let again = try Kymo.run(
            ["run", "--stdin", "--data", data, "--out", folder.file("out")] + CrashTests.windows,
            input: .bytes(Readings.ndjson(lines)))
        #expect(again.end == .exit(0), "\(again.error.suffix(500))")
        try compare(folder, lines, windows: CrashTests.windows)
    }

    /// A source that drops what has no room is read on while the disk is full, though something that it sends is wrong:
    /// each reading is counted, and what is there when there is room again arrives.
    @Test(.enabled(if: SmallDisk.canMount, "needs the right to mount a tmpfs"))
    func aSourceThatDropsIsReadOn() throws {
        let folder = TemporaryFolder()
        let disk = try SmallDisk(folder.file("disk"), megabytes: 8)
        let (socket, data) = (folder.file("k.sock"), disk.file("data"))
        folder.write("kymo.yaml", "ringSlots: 512\nlanes: 1\nsources: [{unix: \(socket), whenFull: dropNewest}]\n")
        let process = try Kymo.start(
            ["run", "--config", folder.file("kymo.yaml"), "--data", data, "--out", folder.file("out")]
                + CrashTests.windows)
        let address = try process.addresses()[0]
        disk.fill()
        let lines = CrashTests.lines(seed: Trials.seed(11), count: 90_000)
        // Far more than fits in memory: with a source that waits, this would not end.
        var (sent, wrong) = (0, 0)
        for part in stride(from: 0, to: lines.count, by: 10_000) {
            let some = ["no JSON"] + lines[part..<min(part + 10_000, lines.count)]
            try Sending.send(lines: some, to: address)
            sent += some.count
            wrong += 1
        }
        try process.waitForError("make room; waiting")
        disk.empty()
        try process.waitForError("takes data again")
        let done = try process.terminate()
        let balance = try #require(done.balance)
        #expect(done.end == .exit(0) && balance.isClosed && balance.received == sent, "\(done.error.suffix(500))")
        let dropped = try #require(done.error.firstMatch(of: /bufferFull ([0-9]+)/).flatMap { Int($0.1) })
        #expect(dropped > 0 && done.error.contains("invalidJSON \(wrong)"), "\(done.error.suffix(500))")
        // Their bytes would have needed the room that was lacking.
        let dead = try Kymo.run(["dead", "reasons", "--data", data])
        #expect(dead.end == .exit(0) && !dead.text.contains("bufferFull"), "\(dead.text)")
        let ledger = try Kymo.run(["ledger", "--data", data]).text.prefix(300)
        #expect(ledger.contains("store: received \(sent) = accepted \(balance.accepted) "), "\(ledger)")
        #expect(ledger.contains("rejected \(dropped + wrong)"), "\(ledger)")
    }

    /// The store's own limit: sinks that take bundles again make room, old windows go, and the operator is told.
    @Test func theLimitOfTheStore() throws {
        let folder = TemporaryFolder()
        let devices = (0..<60).map { "watch-\($0)" }
        // Twice as many windows as there is room for, however quickly sinks take their bundles: large commits, as of a
        // busy machine, pack them to less than 40 bytes each.
        let lines = (0..<1_600).flatMap { second in
            devices.map { Readings.heartRate(second: second, value: 50 + (second * 37 + $0.count) % 90, device: $0) }
        }
        let done = try Kymo.run(
            [
                "run", "--stdin", "--data", folder.file("data"), "--window", "1s", "--lateness", "0s", "--out",
                folder.file("out"),
            ], environment: ["KYMO_STORE_MAX_BYTES": "\(2 << 20)"], input: .bytes(Readings.ndjson(lines)))
        #expect(done.end == .exit(0) && done.balance?.accepted == lines.count, "\(done.error.suffix(600))")
        for part in ["% of store.maxBytes", "dropping the oldest windows"] {
            #expect(done.error.contains(part), "\(part): \(done.error.suffix(900))")
        }
        try compare(folder, lines, windows: ["--window", "1s", "--lateness", "0s"])
    }

    /// The same content as without any trouble.
    private func compare(_ folder: TemporaryFolder, _ lines: [String], windows: [String]) throws {
        let oracle = try Kymo.run(["run", "--stdin", "--ephemeral"] + windows, input: .bytes(Readings.ndjson(lines)))
        var (expected, found) = (BundleReader(), BundleReader())
        try expected.read(ndjson: oracle.output)
        for name in Files.names(folder.file("out")) { try found.read(ndjson: Files.read(folder.file("out/\(name)"))) }
        #expect(found.differences(from: expected, ignoring: ["status"]).prefix(5) == [])
    }
}

/// A tmpfs of a few megabytes, gone with its last reference.
final class SmallDisk {
    private let path: String

    /// Whether this process may mount one.
    static let canMount: Bool = {
        let folder = TemporaryFolder()
        return (try? SmallDisk(folder.file("disk"), megabytes: 1)) != nil
    }()

    init(_ path: String, megabytes: Int) throws {
        self.path = path
        unsafe mkdir(path, 0o700)
        let mounted = try ChildProcess("mount", ["-t", "tmpfs", "-o", "size=\(megabytes)m", "tmpfs", path]).wait()
        guard mounted == .exit(0) else { throw WaitError(description: "cannot mount a tmpfs at \(path)") }
    }

    deinit { _ = try? ChildProcess("umount", ["-l", path]).wait() }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Takes all the room there is, but for `rest` bytes.
    func fill(leaving rest: Int = 0) {
        guard let file = try? OpenFile(creating: file("filler")) else { return }
        let block = [UInt8](repeating: 7, count: 4_096)
        var size = 0
        while file.write(block) { size += 4_096 }
        if rest > 0 { ftruncate(file.descriptor, max(0, size - rest)) }
    }

    /// Gives it back.
    func empty() { unsafe unlink(file("filler")) }
}
