import CommandSupport
import Glibc
import Testing

/// Stores of version 5 from before tables that came later.
@Suite struct AddedTableTests {
    private static let tables = ["receipt_taken", "raw", "raw_device", "sealed", "topic_position"]

    private let run = StoredRun()

    private func count() throws -> Int {
        let names = Self.tables.map { "'\($0)'" }.joined(separator: ", ")
        let query = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN (\(names))"
        return try #require(try run.value(query))
    }

    /// Readings, a dead letter, and none of the tables.
    private func prepare() throws {
        try run.run(Readings.heartRates(90) + ["{\"a\":1}"])
        #expect(try count() == Self.tables.count)
        try run.change(Self.tables.map { "DROP TABLE \($0)" }.joined(separator: "; "))
        #expect(try count() == 0)
    }

    /// Killed at every table, the next start goes on, and nothing else has changed.
    @Test func killedAtEveryTable() throws {
        try prepare()
        var counts: [Int] = []
        for passes in 0..<4 {
            let killed = try Kymo.run(
                ["run", "--stdin", "--data", run.data, "--out", run.output],
                // Always the first of those that are missing, and at last one behind it.
                environment: ["KYMO_CRASH_POINT": "during-tables:\(passes == 0 ? 1 : 2)"], input: .bytes([]))
            #expect(killed.end == .signal(SIGKILL), "\(killed.error)")
            counts.append(try count())
            #expect(try run.value("PRAGMA user_version") == 6)
        }
        // One table, or the two of payloads, at a time.
        #expect(counts == [0, 1, 3, 4])
        let again = try run.run(Readings.heartRates(90))
        #expect(again.end == .exit(0) && again.balance?.duplicate == 90, "\(again.error)")
        #expect(!again.error.contains("repaired") && !again.error.contains("damaged"), "\(again.error)")
        #expect(try count() == Self.tables.count)
        #expect(try run.command("ledger", "--verify").end == .exit(0))
    }

    /// Who only reads needs no run before.
    @Test(arguments: [["status"], ["ledger", "--verify"], ["query"], ["dead", "list"], ["sources"], ["export"]])
    func commandsRead(command: [String]) throws {
        try prepare()
        let done = try Kymo.run(command + ["--data", run.data])
        #expect(done.end == .exit(0) && !done.text.isEmpty, "\(command): \(done.text) \(done.error)")
        #expect(try count() == 0)
    }

    /// A repair makes them.
    @Test func aRepair() throws {
        try prepare()
        run.folder.write("data/kymo.damaged", "")
        let done = try run.run(Readings.heartRates(90))
        #expect(done.error.contains("repaired the store") && done.balance?.duplicate == 90, "\(done.error)")
        #expect(try count() == Self.tables.count)
    }
}
