import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// The ledger after dead letters were replayed: what came of them is counted, and is missing no more.
@Suite struct ReplayLedgerTests {
    /// A run whose mapping does not know the payloads, until it is mended.
    private struct Misfit {
        let run = StoredRun()
        var mapping: String { run.folder.file("mine") }
        var arguments: [String] {
            [
                "--data", run.data, "--out", run.output, "--format", "ndjson", "--window", "1m", "--mapping", mapping,
            ]
        }

        init() { write(MappingText.device.replacing("(@pulse)", with: "(@nothing)")) }

        func write(_ device: String) {
            run.folder.write("mine/device.json", device)
            run.folder.write("mine/fhir.json", MappingText.fhir)
        }

        func mend() { write(MappingText.device) }

        /// Readings of as many devices, at hours of their own, none of which is that of receipt.
        static func lines(_ count: Int) -> [String] {
            (1...count).map { MappingText.reading.replacing("p-1", with: "p-\($0)").replacing("T08", with: "T0\($0)") }
        }

        /// Leaves a letter of each line.
        func fill(_ lines: [String]) throws {
            let done = try run.run(lines, ["--mapping", mapping])
            #expect(done.balance?.reasons == ["noTemplate": lines.count], "\(done.error)")
        }

        func start(_ environment: [String: String] = [:], waits: Bool = true) throws -> ChildProcess {
            let instance = try Kymo.start(
                ["run", "--unix", run.folder.file("a.sock"), "--no-watch", "--admin", "127.0.0.1:0", "--console"]
                    + arguments, environment: environment)
            _ = try instance.addresses()
            guard waits else { return instance }
            try Waiting.until("the instance to answer") { try run.command("status").text.contains("used by process") }
            return instance
        }

        func replay(_ letters: String..., environment: [String: String] = [:]) throws -> Kymo.Finished {
            try Kymo.run(["dead", "replay"] + letters + arguments, environment: environment)
        }

        /// What the console of `instance` answers to a request that changes something.
        func console(_ instance: ChildProcess, _ path: String, _ body: String) throws -> String {
            let told = instance.errorText.firstMatch(of: /console on (http:\/\/[^\/ ]+)\/console\//)
            let address = try #require(told).output.1
            let login = try run.json("console", "login", "--role", "operate", "--format", "json")
            let code = try #require(login["code"]?.text)
            func post(_ path: String, _ body: String) throws -> String {
                let cookies = ["-b", run.folder.file("cookies"), "-c", run.folder.file("cookies")]
                let headers = ["-H", "Origin: \(address)", "-H", "Content-Type: application/json"]
                return try ChildProcess(
                    "/usr/bin/curl",
                    ["-sS", "--max-time", "30", "-d", body] + cookies + headers + ["\(address)/console/api/\(path)"]
                ).finish().text
            }
            _ = try post("login", "{\"code\":\"\(code)\"}")
            return try post(path, body)
        }

        /// How many rejections of a reason the ledger misses, how many were replayed, and the readings of windows.
        func check(
            missing: Int, replayed: Int, readings: Int, reason: String = "noTemplate", isKilled: Bool = false,
            sourceLocation: SourceLocation = #_sourceLocation
        ) throws {
            let ledger = try run.json("ledger", "--format", "json")
            let sources = ledger["sources"]?.elements ?? []
            let rejected = sources.reduce(0) { $0 + ($1["rejected"]?[reason]?.integer ?? 0) }
            #expect(rejected == missing, "\(ledger)", sourceLocation: sourceLocation)
            #expect(ledger["replayed"]?[reason]?.integer ?? 0 == replayed, "\(ledger)", sourceLocation: sourceLocation)
            #expect(ledger["balance"]?["accepted"]?.integer == readings, "\(ledger)", sourceLocation: sourceLocation)
            let isComplete = try run.command("ledger", "--strict").end == .exit(0)
            // Of what was on its way when a run was killed, it is not known whether it was stored: that is said too.
            let onTheWay = ledger["balance"]?["onTheWay"]?.integer ?? 0
            #expect(isKilled || onTheWay == 0, "\(ledger)", sourceLocation: sourceLocation)
            #expect(isComplete == (missing + onTheWay == 0), "\(ledger)", sourceLocation: sourceLocation)
            #expect(try run.command("ledger", "--verify").end == .exit(0), sourceLocation: sourceLocation)
            #expect(try run.value(StoredRun.strayContexts) == 0, sourceLocation: sourceLocation)
        }

        /// Waits until the store has as many readings from a running instance.
        func wait(accepted: Int, duplicate: Int = 0) throws {
            try Waiting.until("\(accepted) readings") {
                let balance = try run.json("ledger", "--format", "json")["balance"]
                let sum = (balance?["accepted"]?.integer ?? 0) + (balance?["open"]?.integer ?? 0)
                return sum == accepted && balance?["duplicate"]?.integer == duplicate
            }
        }
    }

    /// A letter that is replayed again and again counts once, and another one is missing until it was replayed itself.
    /// Catches: counts by batch or by what is expected, which made two of one.
    @Test func eachLetterCountsOnce() throws {
        let misfit = Misfit()
        try misfit.fill(Misfit.lines(2))
        try misfit.check(missing: 2, replayed: 0, readings: 0)
        misfit.mend()
        for _ in 0..<2 {
            #expect(try misfit.replay("1").end == .exit(0))
            try misfit.check(missing: 1, replayed: 1, readings: 1)
        }
        #expect(try misfit.replay("2").end == .exit(0))
        try misfit.check(missing: 0, replayed: 2, readings: 2)
        #expect(try misfit.run.command("dead", "discard", "1", "2").end == .exit(0))
        try misfit.check(missing: 0, replayed: 2, readings: 2)
        let text = try misfit.run.command("ledger").text
        #expect(text.contains("  rejected: noTemplate 2\n  replayed: noTemplate 2\n") && text.hasSuffix("complete\n"))
        for hour in 1...2 {
            let span = try misfit.run.command(
                "ledger", "--device", "p-\(hour)", "--from", "2026-03-01T0\(hour):00:00Z", "--to",
                "2026-03-01T0\(hour + 1):00:00Z")
            #expect(span.end == .exit(0), "\(span.text)")
        }
    }

    /// Who asks a running instance for it.
    enum Asker: CaseIterable { case command, console }

    /// The same by an instance that runs.
    @Test(arguments: Asker.allCases) func byARunningInstance(asker: Asker) throws {
        let misfit = Misfit()
        func replay(_ letter: Int, _ instance: ChildProcess) throws {
            switch asker {
            case .command: #expect(try misfit.replay("\(letter)").end == .exit(0))
            case .console:
                let answer = try misfit.console(instance, "letters/replay", "{\"letters\":[\(letter)]}")
                #expect(answer.contains("replayed 1 payload"), "\(answer)")
            }
        }
        let first = try misfit.start()
        try Sending.send(lines: Misfit.lines(2), to: "unix \(misfit.run.folder.file("a.sock"))")
        try Waiting.until("2 letters") { try misfit.run.command("dead", "list").lines.count == 3 }
        misfit.mend()
        first.signal(SIGHUP)
        try first.waitForError("again")
        try replay(1, first)
        try misfit.wait(accepted: 1)
        try replay(1, first)
        try misfit.wait(accepted: 1, duplicate: 1)
        #expect(try first.terminate().end == .exit(0))
        try misfit.check(missing: 1, replayed: 1, readings: 1)
        let second = try misfit.start()
        try replay(2, second)
        try misfit.wait(accepted: 2, duplicate: 1)
        #expect(try second.terminate().end == .exit(0))
        try misfit.check(missing: 0, replayed: 2, readings: 2)
    }

    /// What the device has sent again itself is there: the letter adds nothing, and its rejection is missing no more.
    @Test func theReadingIsThereAlready() throws {
        let misfit = Misfit()
        try misfit.fill(Misfit.lines(1))
        misfit.mend()
        try misfit.run.run(Misfit.lines(1), ["--mapping", misfit.mapping])
        try misfit.check(missing: 1, replayed: 0, readings: 1)
        #expect(try misfit.replay("1").end == .exit(0))
        try misfit.check(missing: 0, replayed: 1, readings: 1)
    }

    /// A replay that is killed at any commit says nothing too early, and the next one makes it complete.
    @Test(arguments: ["before-commit", "after-commit"]) func killed(point: String) throws {
        let misfit = Misfit()
        try misfit.fill(Misfit.lines(2))
        misfit.mend()
        var kills = 0
        for number in 1...30 {
            let replay = try misfit.replay("1", "2", environment: ["KYMO_CRASH_POINT": "\(point):\(number)"])
            let ledger = try misfit.run.json("ledger", "--format", "json")
            let balance = ledger["balance"]
            let there = (balance?["accepted"]?.integer ?? 0) + (balance?["open"]?.integer ?? 0)
            let replayed = ledger["replayed"]?["noTemplate"]?.integer ?? 0
            #expect(replayed <= there, "\(point) \(number): \(ledger)")
            guard replay.end == .signal(SIGKILL) else { break }
            kills += 1
        }
        #expect((1..<30).contains(kills), "\(kills)")
        #expect(try misfit.replay("1", "2").end == .exit(0))
        // That readings were on their way when a run was killed is said besides.
        let ledger = try misfit.run.json("ledger", "--format", "json")
        #expect(ledger["replayed"]?["noTemplate"]?.integer == 2, "\(ledger)")
        #expect(ledger["balance"]?["accepted"]?.integer == 2, "\(ledger)")
        #expect(try misfit.run.command("ledger", "--verify").end == .exit(0))
    }

    /// So does an instance that is killed at any commit of what it was sent.
    @Test(arguments: 1...4) func anInstanceIsKilled(commits: Int) throws {
        let misfit = Misfit()
        let name = "unix \(misfit.run.folder.file("a.sock"))"
        let first = try misfit.start()
        try Sending.send(lines: Misfit.lines(1), to: name)
        try Waiting.until("a letter") { try misfit.run.command("dead", "list").lines.count == 2 }
        #expect(try first.terminate().end == .exit(0))
        misfit.mend()
        // It commits once a second, and may be killed before it is asked: then the command maps the letter itself.
        let second = try misfit.start(["KYMO_CRASH_POINT": "before-commit:\(commits)"], waits: false)
        _ = try misfit.replay("1")
        #expect(try second.wait() == .signal(SIGKILL))
        let ledger = try misfit.run.json("ledger", "--format", "json")
        let there = (ledger["balance"]?["accepted"]?.integer ?? 0) + (ledger["balance"]?["open"]?.integer ?? 0)
        #expect(ledger["replayed"]?["noTemplate"]?.integer ?? 0 <= there, "\(ledger)")
        let third = try misfit.start()
        #expect(try misfit.replay("1").end == .exit(0))
        try Waiting.until("the rejection to be settled") {
            try misfit.run.json("ledger", "--format", "json")["replayed"]?["noTemplate"]?.integer == 1
        }
        #expect(try third.terminate().end == .exit(0))
        try misfit.check(missing: 0, replayed: 1, readings: 1, isKilled: true)
    }

    /// One reading is taken, and the other rejected once more: that one is missing, as a new letter. It stays so when the
    /// payload gives two of its type: that both are there says nothing of which one was rejected.
    @Test func aLetterOfSeveralReadings() throws {
        let misfit = Misfit()
        let lines = Misfit.lines(2)
        try misfit.fill(["{\"all\":[\(lines[0]),\(lines[1].replacing("p-2", with: ""))]}"])
        misfit.mend()
        let replay = try misfit.replay("1")
        #expect(replay.end == .exit(65) && replay.error.contains("letter 2: it is new"), "\(replay.error)")
        try misfit.check(missing: 1, replayed: 0, readings: 1, reason: "noDevice")
        #expect(try misfit.run.json("ledger", "--format", "json")["replayed"]?["noTemplate"]?.integer == 1)
        misfit.write(MappingText.device.replacing("$.id", with: "$.at"))
        #expect(try misfit.replay("2").end == .exit(0))
        // The letter has the whole payload, and the mapping calls the device of the first reading otherwise by now.
        try misfit.check(missing: 1, replayed: 0, readings: 3, reason: "noDevice")
    }

    /// A replayed reading that finds no room is a new letter: the old one is missing no more, and the new one is, until
    /// it was replayed, too.
    @Test func aLetterOfALetter() throws {
        let misfit = Misfit()
        try misfit.fill(Misfit.lines(2))
        misfit.mend()
        let limits = ["KYMO_LIMITS_DEVICES": "1", "KYMO_SHARDS": "1"]
        let replay = try misfit.replay("1", "2", environment: limits)
        #expect(replay.end == .exit(65) && replay.error.contains("letter 3: it is new"), "\(replay.error)")
        try misfit.check(missing: 1, replayed: 0, readings: 1, reason: "tooManyDevices")
        #expect(try misfit.run.json("ledger", "--format", "json")["replayed"]?["noTemplate"]?.integer == 2)
        // It finds no room again, and stays what it is: missing, and counted once.
        let again = try misfit.replay("1", "3", environment: limits)
        #expect(again.end == .exit(65), "\(again.error)")
        #expect(again.error.contains("letter 3: rejected again: tooManyDevices"), "\(again.error)")
        try misfit.check(missing: 1, replayed: 0, readings: 1, reason: "tooManyDevices")
        let last = try misfit.replay("3")
        #expect(last.end == .exit(0), "\(last.error)")
        try misfit.check(missing: 0, replayed: 1, readings: 2, reason: "tooManyDevices")
    }

    /// Takes only a part of each write to a file of letters, as a disk does that is nearly full.
    private static let partialWrites = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <stdio.h>
        #include <string.h>
        #include <unistd.h>
        ssize_t write(int fd, const void *bytes, size_t count) {
            char link[64], name[4096];
            snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
            ssize_t size = readlink(link, name, sizeof name - 1);
            name[size < 0 ? 0 : size] = 0;
            // The second is what Foundation calls a file at first.
            if ((strstr(name, "/replay-") || strstr(name, "/.dat.nosync")) && count > 1) {
                dprintf(2, "test: a part is written\\n");
                count /= 2;
            }
            return ((ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write"))(fd, bytes, count);
        }
        """

    @Test(.enabled(if: PreloadedLibrary.hasCompiler, "needs a C compiler called cc"))
    func lettersComeWholeWhereTheDiskTakesParts() throws {
        let misfit = Misfit()
        try misfit.fill(Misfit.lines(5))
        misfit.mend()
        let library = try PreloadedLibrary(Self.partialWrites)
        defer { withExtendedLifetime(library) {} }
        let replay = try Kymo.run(
            ["dead", "replay", "--all"] + misfit.arguments, environment: library.environment())
        #expect(replay.error.contains("a part is written"), "\(replay.error)")
        #expect(replay.end == .exit(0) && replay.balance?.accepted == 5, "\(replay.error)")
    }
}
