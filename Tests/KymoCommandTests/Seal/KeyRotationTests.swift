import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// Keys change, and a plain store becomes an encrypted one: whenever the process dies, the command is given again, or
/// the store simply used.
@Suite(.serialized) struct KeyRotationTests {
    private static let steps = [
        "keys-written", "keys-replaced", "sealing-begun", "sealing-copied", "sealing-durable", "sealing-keyed",
        "sealing-placed",
    ]

    private func answers(_ run: SealedRun, _ flags: [String]) throws -> [String] {
        let done = try Kymo.run(["query", "--readings", "--data", run.data] + flags)
        #expect(done.end == .exit(0), "\(done.error)")
        return done.lines
    }

    @Test func aPlainStoreIsEncrypted() throws {
        for step in Self.steps {
            let run = try SealedRun(isSealed: false)
            #expect(try run.run(SealedRun.lines(300)).end == .exit(0))
            let before = try answers(run, [])
            let (flags, command) = (["--key-file", run.key], ["keys", "encrypt", "--data", run.data])
            let killed = try Kymo.run(command + flags, environment: ["KYMO_CRASH_POINT": step])
            #expect(killed.end == .signal(SIGKILL), "\(step): \(killed.error)")
            // Until its keys are in place, the store is as it was.
            if !Files.exists("\(run.data)/kymo.keys") { #expect(try answers(run, []) == before, "\(step)") }
            let done = try Kymo.run(command + flags)
            #expect(done.end == .exit(0), "\(step): \(done.error)")
            #expect(try answers(run, flags) == before && before.count > 100, "\(step)")
            let left = SealedRun.files(in: run.data).filter { file in
                SealedRun.needles.contains { file.bytes.contains(Array($0.utf8)) }
            }
            #expect(left.isEmpty && !Files.exists("\(run.data)/kymo.sealing"), "\(step): \(left.map(\.name))")
            let more = try Kymo.run(
                ["run", "--stdin", "--data", run.data, "--out", run.output] + flags,
                input: .bytes(Readings.ndjson(SealedRun.lines(600))))
            #expect(more.end == .exit(0), "\(step): \(more.error)")
        }
    }

    /// The database anew with a new data key, and the data keys by a new key: killed at each step, then given again, or
    /// (`starts`) a run comes first.
    @Test(arguments: [false, true]) func allIsWrittenAnew(starts: Bool) throws {
        for step in Self.steps {
            let run = try SealedRun(isSealed: true)
            #expect(try run.run(SealedRun.lines(300)).end == .exit(0))
            let before = try answers(run, run.keyFlag)
            let written = try run.written()
            let new = run.folder.file("new")
            #expect(try Kymo.run(["keys", "new", new]).end == .exit(0))
            let command = ["keys", "rotate", "--all", "--data", run.data, "--new-key-file", new] + run.keyFlag
            let killed = try Kymo.run(command, environment: ["KYMO_CRASH_POINT": step])
            #expect(killed.end == .signal(SIGKILL), "\(step): \(killed.error)")
            if starts {
                let keys = [run.key, new].filter { key in
                    (try? Kymo.run(
                        ["run", "--stdin", "--data", run.data, "--out", run.output, "--key-file", key],
                        input: .bytes([])
                    ).end) == .exit(0)
                }
                #expect(keys.count == 1, "\(step): \(keys)")
                #expect(try answers(run, ["--key-file", keys[0]]) == before, "\(step)")
            }
            let done = try Kymo.run(command)
            #expect(done.end == .exit(0), "\(step): \(done.error)")
            #expect(try answers(run, ["--key-file", new]) == before && before.count > 100, "\(step)")
            #expect(try Kymo.run(["query", "--data", run.data] + run.keyFlag).end == .exit(78), "\(step)")
            // Files of before are still read.
            let file = Files.names(run.output)[0]
            let shown = try Kymo.run(["decrypt", "\(run.output)/\(file)", "--data", run.data, "--key-file", new])
            #expect(shown.end == .exit(0) && written.contains(shown.lines[0]), "\(step): \(shown.error)")
            #expect(!Files.exists("\(run.data)/kymo.sealing"))
        }
    }

    @Test func dataKeysAreWrappedByANewKey() throws {
        for step in ["keys-written", "keys-replaced"] {
            let run = try SealedRun(isSealed: true)
            #expect(try run.run(SealedRun.lines(300)).end == .exit(0))
            let before = try answers(run, run.keyFlag)
            let new = run.folder.file("new")
            #expect(try Kymo.run(["keys", "new", new]).end == .exit(0))
            let command = ["keys", "rotate", "--data", run.data, "--new-key-file", new] + run.keyFlag
            #expect(try Kymo.run(command, environment: ["KYMO_CRASH_POINT": step]).end == .signal(SIGKILL))
            let done = try Kymo.run(command)
            #expect(done.end == .exit(0), "\(step): \(done.error)")
            #expect(try answers(run, ["--key-file", new]) == before)
            let former = try Kymo.run(["query", "--data", run.data] + run.keyFlag)
            #expect(former.end == .exit(78) && former.error.contains("is not the key"), "\(former.error)")
        }
    }

    /// A copy whose keys are gone is no copy whose keys are in place; and whoever reads meanwhile asks for no repair.
    @Test func aCopyWithoutItsKeysIsNotTaken() throws {
        let run = try SealedRun(isSealed: true)
        #expect(try run.run(SealedRun.lines(300)).end == .exit(0))
        let before = try answers(run, run.keyFlag)
        let command = ["keys", "rotate", "--all", "--data", run.data] + run.keyFlag
        let killed = try Kymo.run(command, environment: ["KYMO_CRASH_POINT": "sealing-copied"])
        #expect(killed.end == .signal(SIGKILL), "\(killed.error)")
        #expect(try answers(run, run.keyFlag) == before)
        Files.move("\(run.data)/kymo.sealing/kymo.keys", to: run.folder.file("kymo.keys"))
        let early = try Kymo.run(["query", "--data", run.data] + run.keyFlag)
        #expect(early.end == .exit(78) && early.error.contains("give the same 'kymo keys' command"), "\(early.error)")
        #expect(try run.run([]).end == .exit(0))
        #expect(try answers(run, run.keyFlag) == before && before.count > 100)
        #expect(!Files.exists("\(run.data)/kymo.sealing") && !Files.exists("\(run.data)/kymo.damaged"))
    }

    /// What an interrupted command with other arguments has left is finished, and what is asked for now done as well.
    @Test func theNewKeyIsTakenAfterAnInterruption() throws {
        let run = try SealedRun(isSealed: true)
        #expect(try run.run(SealedRun.lines(300)).end == .exit(0))
        let before = try answers(run, run.keyFlag)
        let new = run.folder.file("new")
        #expect(try Kymo.run(["keys", "new", new]).end == .exit(0))
        let command = ["keys", "rotate", "--all", "--data", run.data] + run.keyFlag
        let killed = try Kymo.run(command, environment: ["KYMO_CRASH_POINT": "sealing-keyed"])
        #expect(killed.end == .signal(SIGKILL), "\(killed.error)")
        let done = try Kymo.run(command + ["--new-key-file", new])
        #expect(done.end == .exit(0), "\(done.error)")
        #expect(try answers(run, ["--key-file", new]) == before && before.count > 100)
        #expect(try Kymo.run(["query", "--data", run.data] + run.keyFlag).end == .exit(78))
    }

    /// An older copy of the list lacks a data key: that is no damage, and nothing is repaired.
    @Test func anOlderListIsRefused() throws {
        let run = try SealedRun(isSealed: true)
        #expect(try run.run(SealedRun.lines(300)).end == .exit(0))
        let before = try answers(run, run.keyFlag)
        let (list, older) = ("\(run.data)/kymo.keys", Files.read("\(run.data)/kymo.keys"))
        let rotated = try Kymo.run(["keys", "rotate", "--all", "--data", run.data] + run.keyFlag)
        #expect(rotated.end == .exit(0), "\(rotated.error)")
        let newest = Files.read(list)
        Files.write(older, to: list)
        let database = Files.read("\(run.data)/kymo.sqlite")
        let started = try run.run(SealedRun.lines(10))
        #expect(started.end == .exit(78) && started.error.contains("put back the newest copy"), "\(started.error)")
        let asked = try Kymo.run(["query", "--data", run.data] + run.keyFlag)
        #expect(asked.end == .exit(78) && asked.error.contains("put back the newest copy"), "\(asked.error)")
        #expect(Files.read("\(run.data)/kymo.sqlite") == database && Files.read(list) == older)
        #expect(!Files.exists("\(run.data)/kymo.damaged") && !Files.exists("\(run.data)/kymo.sqlite.damaged"))
        Files.write(newest, to: list)
        #expect(try answers(run, run.keyFlag) == before && before.count > 100)
        #expect(try run.run(SealedRun.lines(10)).end == .exit(0))
    }

    /// A start uses little of what a data key may encrypt; a list with all the data keys that there may be is read, and
    /// takes no more.
    @Test func dataKeysAreNotUsedUp() throws {
        let run = try SealedRun(isSealed: true)
        for _ in 0..<3 { #expect(try run.run(SealedRun.lines(30)).end == .exit(0)) }
        func lines() -> [Substring] { Files.text("\(run.data)/kymo.keys").split(separator: "\n") }
        let used = try #require(Int(lines()[1].split(separator: " ")[2]))
        #expect(lines().count == 3 && used < 1 << 18, "\(used)")
        let command = ["keys", "rotate", "--all", "--data", run.data] + run.keyFlag
        for number in 2...112 {
            let done = try Kymo.run(command)
            #expect(done.end == .exit(0), "\(number): \(done.error)")
        }
        let before = try answers(run, run.keyFlag)
        let full = lines()
        let refused = try Kymo.run(command)
        #expect(refused.end == .exit(78) && refused.error.contains("there can be no more"), "\(refused.error)")
        #expect(lines() == full && full.count == 114)
        #expect(try answers(run, run.keyFlag) == before && !before.isEmpty)
        #expect(try run.run([]).end == .exit(0))
    }

    @Test func whatIsMissing() throws {
        let run = try SealedRun(isSealed: false)
        let none = try Kymo.run(["keys", "encrypt", "--data", run.data, "--key-file", run.key])
        #expect(none.end == .exit(66) && none.error.contains("there is no store"), "\(none.error)")
        #expect(try run.run(SealedRun.lines(20)).end == .exit(0))
        let plain = try Kymo.run(["keys", "rotate", "--all", "--data", run.data])
        #expect(plain.end == .exit(78) && plain.error.contains("kymo keys encrypt"), "\(plain.error)")
        let keyless = try Kymo.run(["keys", "encrypt", "--data", run.data])
        #expect(keyless.end == .exit(78) && keyless.error.contains("--key-file"), "\(keyless.error)")
        Files.write([1], to: "\(run.data)/kymo.sqlite.damaged")
        let left = try Kymo.run(["keys", "encrypt", "--data", run.data, "--key-file", run.key])
        #expect(left.end == .exit(78) && left.error.contains("is not encrypted: look at it"), "\(left.error)")
        // A database that a repair has renamed is one that is there.
        Files.move("\(run.data)/kymo.sqlite", to: "\(run.data)/kymo.sqlite.damaged")
        let sealing = try Kymo.run(["run", "--stdin", "--data", run.data, "--key-file", run.key], input: .bytes([]))
        #expect(sealing.end == .exit(78) && sealing.error.contains("is not encrypted"), "\(sealing.error)")
        #expect(!Files.exists("\(run.data)/kymo.keys"))
    }
}
