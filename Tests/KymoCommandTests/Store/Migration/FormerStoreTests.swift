import CommandSupport
import KymographTestKit
import Testing

/// What of a store of version 3 cannot be taken as it is: the operator is told, and what to do.
@Suite(.enabled(if: SharedMaterial.canRunPython, "needs Python")) struct FormerStoreTests {
    private let transaction = FormerStore.all[0]

    /// Bundles that say the same, or something, in a text that this version would not write.
    private static let unread = [
        #"{"resourceType": "Bundle", "type": "transaction", "entry": [ ]}"# + "\n", "kymo", "",
    ]

    @Test(arguments: unread) func aBundleThatIsNotReproduced(text: String) throws {
        let copy = try FormerRun(transaction)
        try copy.replaceBody("outbox", 2, with: text)
        let done = try copy.end()
        #expect(done.end == .exit(0), "\(done.error)")
        #expect(
            done.error.contains("1 bundle that an earlier version wrote cannot be read by this one and was put into"),
            "\(done.error)")
        #expect(try copy.run.value("SELECT count(*) FROM quarantine WHERE place = 'outbox 2'") == 1)
        #expect(try copy.run.value("SELECT count(*) FROM outbox") == 0)
        let (sent, all) = (try copy.resources(in: copy.taken), try copy.resources(in: copy.expectedRequests()))
        #expect(!sent.isEmpty && sent.isStrictSubset(of: all), "\(sent.count) of \(all.count)")
        #expect(try copy.run.command("ledger").text.contains("1 bundle was damaged before all sinks had it"))
        // What is to be done gives something.
        let command = done.error.split(separator: "'").first { $0.hasPrefix("kymo export ") }
        let options = try #require(command).split(separator: " ").dropFirst(2).map(String.init)
        let mappings = ["reading", "device-registration", "insulin-pump", "device-alarms"]
        let exported = try Kymo.run(
            ["export", "--data", copy.run.data] + options + mappings.flatMap { ["--mapping", $0] })
        #expect(exported.end == .exit(0) && !exported.output.isEmpty, "\(exported.error)")
        #expect(try !copy.end().error.contains("earlier version"))
    }

    @Test func allBundlesThatAreNotReproduced() throws {
        let copy = try FormerRun(transaction)
        for number in 1...3 { try copy.replaceBody("outbox", number, with: "{}") }
        let done = try copy.end()
        #expect(done.end == .exit(0) && done.error.contains("3 bundles that an earlier version wrote"), "\(done.error)")
        #expect(copy.taken.isEmpty)
    }

    /// Sent again, it came back as another letter.
    @Test func aLetterThatIsNotReproduced() throws {
        let copy = try FormerRun(transaction)
        try copy.replaceBody("dead", 1, with: #"{"resourceType": "Bundle"}"#)
        let done = try copy.end()
        #expect(
            done.end == .exit(0) && done.error.contains("1 dead letter that an earlier version wrote cannot be sent"),
            "\(done.error)")
        let replayed = try copy.run.command("dead", "replay", "--all")
        #expect(replayed.end == .exit(65), "\(replayed.error)")
        #expect(
            replayed.error.contains("letter 1: it holds no entries that this version can send: 'kymo dead show 1"),
            "\(replayed.error)")
        #expect(try copy.end().end == .exit(0))
        let left = try copy.run.command("dead", "list").lines.dropFirst()
        #expect(left.count == 1 && left.allSatisfy { $0.hasPrefix("1 ") }, "\(left)")
        #expect(try copy.run.command("dead", "list", "--all").lines.count == 3)
        #expect(try copy.run.command("dead", "show", "1", "--bytes").text == #"{"resourceType": "Bundle"}"#)
    }

    /// Commands that only read cannot bring a store up to date, and say who does.
    @Test func whoOnlyReadsNeedsARunFirst() throws {
        let copy = try FormerRun(transaction)
        for command in [["dead", "list"], ["ledger"], ["status"], ["query"], ["export"]] {
            let done = try Kymo.run(command + ["--data", copy.run.data])
            #expect(done.end == .exit(78), "\(command): \(done.error)")
            #expect(
                done.error.contains("by an earlier kymo (tables 3")
                    && done.error.contains("start 'kymo run' once on it"),
                "\(command): \(done.error)")
        }
        #expect(try copy.version() == 3)
        #expect(try copy.end().end == .exit(0))
        #expect(try copy.run.command("ledger").end == .exit(0))
        try copy.run.change("PRAGMA user_version = 99")
        for command in [["dead", "list"], ["ledger"], ["status"]] {
            let done = try Kymo.run(command + ["--data", copy.run.data])
            #expect(done.end == .exit(78), "\(command): \(done.error)")
            #expect(
                done.error.contains("by a newer kymo (tables 99") && done.error.contains("use that version"),
                "\(command): \(done.error)")
        }
    }

    /// The log of the migration has no room: the store stays as it was, and goes on when there is.
    @Test(.enabled(if: SmallDisk.canMount, "needs the right to mount a tmpfs"))
    func theDiskIsTooSmall() throws {
        let copy = try FormerRun(transaction)
        let disk = try SmallDisk(copy.run.folder.file("disk"), megabytes: 4)
        let data = disk.file("data")
        _ = try ChildProcess("/bin/cp", ["-r", copy.run.data, data]).wait()
        disk.fill(leaving: 160 << 10)
        let refused = try copy.end(data: data)
        #expect(refused.end == .exit(73), "\(refused.error)")
        let message = try #require(refused.error.firstMatch(of: /takes (\d+) bytes .*, of which (\d+) are free/))
        let needed = try #require(Int(message.1))
        let free = try #require(Int(message.2))
        #expect(needed > free && refused.error.contains("make room for \(needed - free) more"), "\(refused.error)")
        #expect(!refused.error.contains("bringing the store") && copy.taken.isEmpty)
        disk.empty()
        let done = try copy.end(data: data)
        #expect(done.end == .exit(0) && done.error.contains("bringing the store"), "\(done.error)")
        #expect(copy.taken == (try copy.expectedRequests()))
    }
}
