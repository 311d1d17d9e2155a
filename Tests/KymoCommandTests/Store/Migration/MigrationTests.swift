import CommandSupport
import Foundation
import Glibc
import KymographTestKit
import Testing

/// What waits in stores of versions 1 and 3 leaves once, as that version would have sent it.
@Suite(.enabled(if: SharedMaterial.canRunPython, "needs Python")) struct MigrationTests {
    @Test(arguments: FormerStore.all) func whatWaitsLeavesAsItWould(former: FormerStore) throws {
        let copy = try FormerRun(former)
        // The letters tell what they did, and the file sink begins anew.
        let rows = try #require(try copy.run.value(Self.rows))
        let done = try copy.end()
        #expect(done.end == .exit(0) && !done.error.contains("put into quarantine"), "\(done.error)")
        #expect(done.error.contains("up to date: \(rows) rows of its outbox"), "\(done.error)")
        // Some stores wait for files only.
        let hasRequests = try !copy.expectedRequests().isEmpty
        #expect(!hasRequests || done.error.contains("undeliverable 0"), "\(done.error)")
        #expect(try copy.hasTakenExpected())
        try check(copy)
        #expect(try !copy.end().error.contains("up to date"))
    }

    @Test(arguments: FormerStore.all) func filesGetWhatTheyWouldHaveGot(former: FormerStore) throws {
        let copy = try FormerRun(former)
        _ = try copy.end(["KYMO_CRASH_POINT": "migrated"])
        try copy.run.change("UPDATE sink SET through = 0 WHERE name = 'files'")
        #expect(try copy.end().end == .exit(0))
        #expect(copy.files == (try former.content("files")))
    }

    /// Rows that the migration rewrites.
    private static let rows = "SELECT (SELECT count(*) FROM outbox) + (SELECT count(*) FROM dead WHERE kind = 'entry')"

    /// Killed at every step, the migration begins again, and nothing leaves twice that a server has answered.
    @Test(arguments: FormerStore.all) func killedAtEveryStep(former: FormerStore) throws {
        let copy = try FormerRun(former)
        let before = try image(copy)
        let rows = try #require(try copy.run.value(Self.rows))
        #expect(rows > 1)
        for death in ["before-migration", "after-migration"] + (1...rows).map({ "during-migration:\($0)" }) {
            try kill(copy, at: death)
            #expect(try image(copy) == before, "\(death)")
        }
        for death in (1...6).map({ "during-tables:\($0)" }) + ["after-tables"] {
            try kill(copy, at: death)
            #expect(try copy.version() == 4, "\(death)")
        }
        try kill(copy, at: "migrated")
        let after = try image(copy)
        #expect(after.version == 6 && after.rows == before.rows && after.bodies != before.bodies)
        #expect(try copy.run.value("SELECT count(*) FROM quarantine") == 0)
        for death in ["before-write", "before-commit", "after-commit"] {
            try kill(copy, at: death)
            #expect(try copy.version() == 6, "\(death)")
        }
        #expect(try copy.end().end == .exit(0))
        // What was under way when a process died may come again.
        #expect(try copy.hasTakenExpected(onlyOnce: false))
        try check(copy)
    }

    /// Runs until `death`, which the process must reach.
    private func kill(_ copy: FormerRun, at death: String) throws {
        let killed = try copy.end(["KYMO_CRASH_POINT": death])
        #expect(killed.end == .signal(SIGKILL), "\(death): \(killed.error)")
    }

    /// What the migration changes: all at once, or nothing.
    private struct Image: Equatable {
        var version: Int?
        var rows: Int?
        var bodies: Int?
    }

    private func image(_ copy: FormerRun) throws -> Image {
        let sums = "SELECT coalesce(sum(checksum * (number + 1)), 0) FROM"
        let outbox = try copy.run.value("\(sums) outbox") ?? 0
        return Image(
            version: try copy.version(), rows: try copy.run.value(Self.rows),
            bodies: outbox &+ (try copy.run.value("\(sums) dead WHERE kind = 'entry'") ?? 0))
    }

    private func check(_ copy: FormerRun) throws {
        #expect(try copy.run.value("SELECT count(*) FROM outbox") == 0)
        #expect(try copy.run.value("SELECT count(*) FROM quarantine") == 0)
        var letters: [UInt8] = []
        for letter in try copy.run.command("dead", "list", "--format", "ndjson").lines {
            let number = try JSONTree(parsing: Array(letter.utf8))["number"]?.integer ?? 0
            letters += try copy.run.command("dead", "show", "\(number)", "--bytes").output
        }
        #expect(letters == (try copy.former.content("letters")))
        guard !letters.isEmpty else { return }
        // They go to the server that refused them, as they were.
        let replayed = try copy.run.command("dead", "replay", "--all")
        #expect(replayed.end == .exit(0), "\(replayed.error)")
        let before = Files.read(copy.requests).count
        #expect(try copy.end().end == .exit(0))
        let more = String(decoding: Files.read(copy.requests).dropFirst(before), as: UTF8.self)
        let count = letters.split(separator: 0x0A).count
        #expect(more.components(separatedBy: "Battery low").count == count + 1, "\(more)")
    }
}
