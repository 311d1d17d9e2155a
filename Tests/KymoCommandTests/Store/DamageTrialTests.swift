import CommandSupport
import Glibc
import KymographTestKit
import Testing
import TrialSupport

/// A store that a disk has changed, at the real binary: what was acknowledged and is gone is said at the start, in the
/// status and in the ledger; no count is below zero, and where nothing is lost nothing is said.
@Suite struct DamageTrialTests {
    /// `KYMO_TORTURE` asks for ten times as many.
    private static let trials = Trials.isTorture ? 120 : 12
    private static let readings = 4 * 300
    private static let pageSize = 16_384
    private static let names = ["kymo.sqlite", "kymo.sqlite-wal", "kymo.mark"]

    /// The files of a store by name, and what was done to them.
    private struct Image {
        var files: [String: [UInt8]]
        var story = "as it was"

        init(_ directory: String) {
            let there = DamageTrialTests.names.filter { Files.exists("\(directory)/\($0)") }
            files = Dictionary(uniqueKeysWithValues: there.map { ($0, Files.read("\(directory)/\($0)")) })
        }

        /// Does one of the things that a disk may do.
        mutating func damage(_ random: inout SeededGenerator) {
            let hasLog = files["kymo.sqlite-wal"]?.isEmpty == false
            let name = hasLog && Bool.random(using: &random) ? "kymo.sqlite-wal" : "kymo.sqlite"
            guard var bytes = files[name], !bytes.isEmpty else { return }
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                bytes.removeLast(Int.random(in: 1...bytes.count, using: &random))
                story = "\(name) cut to \(bytes.count)"
            case 1:
                let places = (0..<Int.random(in: 1...8, using: &random)).map { _ in
                    Int.random(in: 0..<bytes.count, using: &random)
                }
                for place in places { bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random) }
                story = "\(name) with bits flipped at \(places)"
            case 2:
                let start = Int.random(in: 0..<bytes.count, using: &random)
                let end = min(bytes.count, start + Int.random(in: 1...2 * DamageTrialTests.pageSize, using: &random))
                bytes.replaceSubrange(start..<end, with: repeatElement(0, count: end - start))
                story = "\(name) with zeros in \(start)..<\(end)"
            default:
                let last = max(1, bytes.count / DamageTrialTests.pageSize)
                let pages = (0..<2).map { _ in Int.random(in: 0..<last, using: &random) * DamageTrialTests.pageSize }
                for place in 0..<min(DamageTrialTests.pageSize, bytes.count - (pages.max() ?? 0)) {
                    bytes.swapAt(pages[0] + place, pages[1] + place)
                }
                story = "\(name) with pages swapped at \(pages)"
            }
            files[name] = bytes
        }

        func write(to directory: String) {
            for name in DamageTrialTests.names {
                if let bytes = files[name] { Files.write(bytes, to: "\(directory)/\(name)") }
            }
        }
    }

    private static let lines = (0..<4).flatMap { device in
        (0..<300).map { Readings.heartRate(second: $0 * 5, value: 60 + $0 % 40, device: "watch-\(device)") }
    }

    /// What a run leaves that ended, and one that was killed with everything acknowledged.
    private static func image(isKilled: Bool) throws -> Image {
        let run = StoredRun()
        guard isKilled else {
            let done = try run.run(lines)
            #expect(done.end == .exit(0), "\(done.error)")
            return Image(run.data)
        }
        let process = try Kymo.start(
            ["run", "--unix", run.folder.file("a.sock"), "--data", run.data, "--out", run.output, "--window", "1m"])
        _ = try process.addresses()
        let client = try AckClient(run.folder.file("a.sock"))
        client.send(Readings.ndjson(lines))
        try Waiting.until("all acknowledgements") {
            client.receive()
            return client.acknowledged == lines.count
        }
        process.signal(SIGKILL)
        _ = try process.wait()
        return Image(run.data)
    }

    @Test func whatIsLostIsSaid() throws {
        let images = [try Self.image(isKilled: false), try Self.image(isKilled: true)]
        try check(images[0], isWhole: true)
        try check(images[1], isWhole: true)
        var (tried, losses) = (0, 0)
        // The damage of a day's seeds may hit few readings: others are tried then.
        for seed in Trials.seeds(4 * Self.trials, from: 0) where tried < Self.trials || losses <= Self.trials / 6 {
            var random = SeededGenerator(seed: seed)
            var image = images[Int(seed % 2)]
            image.damage(&random)
            image.story = "seed \(seed): \(image.story)"
            tried += 1
            if try check(image, isWhole: false) { losses += 1 }
        }
        // Otherwise nothing was tried.
        #expect(losses > Self.trials / 6 && losses < tried, "\(losses) of \(tried)")
    }

    /// Checks what is said of a store with these files; whether something is lost.
    @discardableResult
    private func check(_ image: Image, isWhole: Bool) throws -> Bool {
        let run = StoredRun()
        run.folder.write("data/note", "")
        image.write(to: run.data)
        var (notes, isEnded) = try restart(run)
        #expect(isEnded, "\(image.story): \(notes)")
        let balance = try #require(try ledger(run, &notes)["balance"], "\(image.story): \(notes)")
        #expect(Self.smallest(balance) >= 0, "\(image.story): \(balance)")
        let kept = try Self.kept(balance)
        let lost = balance["lost"]?.integer ?? 0
        let isAtLeast = balance["isLostAtLeast"]?.isTrue ?? false
        let story = "\(image.story): kept \(kept), lost \(lost)\(isAtLeast ? " at least" : ""); \(notes)"
        #expect(kept + lost == Self.readings || isAtLeast, "\(story)")
        let status = try run.command("status").text
        let ledger = try run.command("ledger").text
        let verified = try run.command("ledger", "--verify")
        guard lost > 0 || isAtLeast else {
            #expect(kept == Self.readings, "\(story)")
            #expect(!notes.contains("acknowledged") && !status.contains("acknowledged"), "\(story)")
            #expect(!isWhole || verified.end == .exit(0), "\(story): \(verified.error)")
            return false
        }
        #expect(!isWhole, "\(story)")
        #expect(notes.contains("lost"), "\(story)")
        #expect(status.contains("lost") && ledger.contains("lost"), "\(story): \(status)\(ledger)")
        #expect(verified.end == .exit(65), "\(story): \(verified.error)")
        return true
    }

    /// Starts again until a run comes to its end, as a supervisor would; what it has said on standard error.
    private func restart(_ run: StoredRun) throws -> (notes: String, isEnded: Bool) {
        var notes = ""
        for _ in 0..<3 {
            let done = try run.run([])
            notes += done.error
            if done.end == .exit(0) { return (notes, true) }
        }
        return (notes, false)
    }

    /// What the ledger says. It reads more than a start does, and may be the first to come upon damage: then it says
    /// that the next start repairs that, which it does.
    private func ledger(_ run: StoredRun, _ notes: inout String) throws -> JSONTree {
        let first = try run.command("ledger", "--format", "json")
        if first.end == .exit(0) || first.end == .exit(65) { return try JSONTree(parsing: first.output) }
        #expect(first.end == .exit(74) && first.error.contains("the next start repairs it"), "\(first.error)")
        let again = try run.run([])
        #expect(again.end == .exit(0) && again.error.contains("repaired the store"), "\(again.error)")
        notes += first.error + again.error
        return try run.json("ledger", "--format", "json")
    }

    /// A start that comes upon damage says that the next one repairs it, and the next one does.
    @Test(arguments: ["source", "sqlite_autoindex_source_1", "decider"]) func whatStopsAStartIsRepaired(
        table: String
    ) throws {
        let run = StoredRun()
        #expect(try run.run(Array(Self.lines.prefix(20))).end == .exit(0))
        var image = Image(run.data)
        let page = try run.rootPage(of: table)
        var bytes = try #require(image.files["kymo.sqlite"])
        let start = (page - 1) * Self.pageSize
        bytes.replaceSubrange(start..<start + Self.pageSize, with: repeatElement(0, count: Self.pageSize))
        image.files["kymo.sqlite"] = bytes
        image.write(to: run.data)
        let (notes, isEnded) = try restart(run)
        #expect(isEnded && notes.contains("repaired the store"), "\(notes)")
        #expect(try run.json("ledger", "--format", "json")["balance"]?["accepted"]?.integer == 20, "\(notes)")
    }

    /// Readings that are somewhere.
    private static func kept(_ balance: JSONTree) throws -> Int {
        let rejected = numbers(balance["rejected"] ?? .null).reduce(0, +)
        return ["accepted", "duplicate", "conflict", "open"].reduce(rejected) { $0 + (balance[$1]?.integer ?? 0) }
    }

    private static func smallest(_ balance: JSONTree) -> Int { numbers(balance).min() ?? 0 }

    /// All numbers in a value.
    private static func numbers(_ value: JSONTree) -> [Int] {
        if case .object(let members) = value { return members.values.flatMap(numbers) }
        return value.integer.map { [$0] } ?? []
    }
}
