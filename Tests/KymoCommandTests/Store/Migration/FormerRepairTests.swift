import CommandSupport
import Foundation
import KymographTestKit
import Testing

/// A damaged store of version 1 or 3: the repair makes entries of what it can still read.
@Suite(.enabled(if: SharedMaterial.canRunPython, "needs Python")) struct FormerRepairTests {
    /// Where nothing is lost, the rest is as without a repair.
    @Test(arguments: FormerStore.all) func whatIsWholeLeavesAsItWould(former: FormerStore) throws {
        let copy = try FormerRun(former)
        copy.run.folder.write("data/kymo.damaged", "")
        let done = try copy.end()
        #expect(done.end == .exit(0) && done.error.contains("lost none"), "\(done.error)")
        #expect(try copy.version() == 6)
        #expect(try copy.hasTakenExpected())
        #expect(try copy.run.value("SELECT count(*) FROM outbox") == 0)
        #expect(try copy.run.value("SELECT count(*) FROM quarantine WHERE place <> 'repair'") == 0)
    }

    /// The files get of it what they would have got, though nobody knows any more what they had.
    @Test(arguments: FormerStore.all) func filesGetWhatTheyWouldHaveGot(former: FormerStore) throws {
        let copy = try FormerRun(former)
        try copy.run.change("UPDATE sink SET through = 0 WHERE name = 'files'")
        copy.run.folder.write("data/kymo.damaged", "")
        #expect(try copy.end().end == .exit(0))
        #expect(copy.files == (try former.content("files")))
    }

    /// A column that an earlier version did not have is empty after a repair.
    @Test func columnsOfLaterVersionsAreEmpty() throws {
        let copy = try FormerRun(FormerStore.all[0])
        try copy.run.change("ALTER TABLE source DROP COLUMN timezone; PRAGMA user_version = 2")
        copy.run.folder.write("data/kymo.damaged", "")
        let done = try copy.end()
        #expect(done.end == .exit(0) && done.error.contains("lost none"), "\(done.error)")
        #expect(try copy.run.value("SELECT count(*) FROM source WHERE name = 'stdin'") == 1)
        #expect(try copy.run.value("SELECT count(*) FROM source WHERE timezone IS NOT NULL") == 0)
    }

    /// A row that is no entry of this version is lost, and counted so.
    @Test func whatIsNotReproducedIsCountedAsLost() throws {
        let whole = try FormerRun(FormerStore.all[0])
        whole.run.folder.write("data/kymo.damaged", "")
        let saved = try Self.saved(try whole.end().error)
        let copy = try FormerRun(FormerStore.all[0])
        try copy.replaceBody("outbox", 2, with: "{}")
        copy.run.folder.write("data/kymo.damaged", "")
        let done = try copy.end()
        #expect(done.end == .exit(0) && done.error.contains("lost 1 of outbox"), "\(done.error)")
        #expect(done.error.contains("1 bundle that an earlier version wrote cannot be read"), "\(done.error)")
        #expect(try Self.saved(done.error) == saved - 1, "\(done.error)")
        #expect(try copy.run.value("SELECT count(*) FROM quarantine WHERE place = 'outbox 2'") == 1)
        let missing = try copy.run.command("ledger").text
        #expect(missing.contains("1 bundle was damaged before all sinks had it"), "\(missing)")
    }

    private static func saved(_ notes: String) throws -> Int {
        let match = try #require(notes.firstMatch(of: /saved (\d+) rows/))
        return try #require(Int(match.1))
    }

    /// A page with bundles cannot be read: what is in others leaves, and it is said that bundles are lost.
    @Test func aDamagedPageOfTheOutbox() throws {
        let former = try #require(FormerStore.all.first { $0.name == "panel" })
        let copy = try FormerRun(former)
        let body = try #require(try copy.run.bytes("SELECT body FROM outbox WHERE number = 3"))
        let file = "\(copy.run.data)/kymo.sqlite"
        var bytes = Data(Files.read(file))
        let place = try #require(bytes.range(of: Data(body))).lowerBound
        bytes[place + 9] ^= 0x20
        Files.write(Array(bytes), to: file)
        let done = try copy.end()
        #expect(done.end == .exit(0) && done.error.contains("repaired the store"), "\(done.error)")
        #expect(done.error.contains("an unknown number of outbox"), "\(done.error)")
        #expect(try copy.version() == 6)
        let (sent, all) = (try copy.resources(in: copy.taken), try copy.resources(in: copy.expectedRequests()))
        #expect(!sent.isEmpty && sent.isStrictSubset(of: all), "\(sent.count) of \(all.count)")
        let missing = try copy.run.command("ledger").text
        #expect(missing.contains("bundles that waited for sinks were lost when the store was repaired"), "\(missing)")
    }
}
