import CommandSupport
import Foundation
import Glibc
import KymographTestKit
import Testing

/// Stores of version 4, some of whose tables were made when they were first needed. `Version4/make.py` wrote them.
@Suite(.enabled(if: SharedMaterial.canRunPython, "needs Python")) struct TableMigrationTests {
    private let run = StoredRun()

    init() { _ = try? ChildProcess("/bin/mkdir", ["-p", run.data]).wait() }

    /// Puts the store `name` where the run has its data.
    private func copy(_ name: String) throws {
        Files.write(try FormerStore.content("Version4/\(name).sqlite.gz"), to: "\(run.data)/kymo.sqlite")
    }

    /// Runs without input, to the end or to where `death` has it die.
    private func end(_ death: String? = nil, receipts: Bool = true) throws -> Kymo.Finished {
        // Nobody listens there: what the server has had stays as it is.
        run.folder.write(
            "kymo.yaml",
            """
            sinks: [{server: "http://127.0.0.1:9/fhir", name: server, identity: create}]
            \(receipts ? "receipts: receipts" : "")
            window: 1m
            drain: 2s
            """)
        return try Kymo.run(
            ["run", "--stdin", "--data", run.data, "--config", run.folder.file("kymo.yaml")],
            environment: death.map { ["KYMO_CRASH_POINT": $0] } ?? [:], directory: run.folder.path, input: .bytes([]))
    }

    private func has(_ table: String) throws -> Bool {
        try run.value("SELECT count(*) FROM sqlite_master WHERE name = '\(table)'") == 1
    }

    /// The tables of version 5, or of version 4 when they are needed.
    private static let tables = ["removed", "success", "receipt_line", "pause"]

    /// What all of these have, as far as version 4 knows them.
    private func rows() throws -> [Int?] {
        try Self.tables.map { try has($0) ? try run.value("SELECT count(*) FROM \($0)") : nil }
    }

    private func version() throws -> Int? { try run.value("PRAGMA user_version") }

    /// Killed at every step, the step begins again, and what the store knows stays.
    @Test(arguments: ["plain", "full"]) func killedAtEveryStep(name: String) throws {
        try copy(name)
        let isFull = name == "full"
        let before = try rows()
        #expect(before == (isFull ? [2, 1, 13, 1] : [nil, 1, nil, nil]))
        for death in (1...6).map({ "during-tables:\($0)" }) + ["after-tables"] {
            let killed = try end(death)
            #expect(killed.end == .signal(SIGKILL), "\(death): \(killed.error)")
            #expect(try version() == 4 && rows() == before, "\(death)")
            #expect(try has("patient_map") == isFull && !has("decider"), "\(death)")
        }
        #expect(try end("migrated").end == .signal(SIGKILL))
        #expect(try version() == 6 && rows() == before.map { $0 ?? 0 })
        let deciders = try run.value("SELECT count(*) FROM decider WHERE name IN ('patient_map', 'reading_rules')")
        #expect(try deciders == (isFull ? 2 : 0) && !has("patient_map") && !has("reading_rules"))
        try check(isFull: isFull)
    }

    /// What a run, and commands that only read, know of the store.
    private func check(isFull: Bool) throws {
        let done = try end()
        #expect(done.end == .exit(0), "\(done.error)")
        for decider in ["patient map", "list of rules"] {
            #expect(done.error.contains("an earlier run of this store had a \(decider)") == isFull, "\(done.error)")
        }
        let receipts = Files.names(run.folder.file("receipts")).flatMap {
            Files.text(run.folder.file("receipts/\($0)")).split(separator: "\n")
        }
        #expect(receipts.count == (isFull ? 13 : 0))
        #expect(try run.value("SELECT count(*) FROM receipt_line") == 0)
        let status = try run.command("status").text
        #expect(status.contains("paused type heartRate") == isFull, "\(status)")
        let sources = try run.command("sources", "--devices").text
        #expect(sources.contains("watch-1") && !sources.contains("watch-2"), "\(sources)")
        #expect(try run.command("ledger", "--verify").end == .exit(0))
        guard isFull else { return }
        let replayed = try run.command("dead", "replay", "--all")
        #expect(
            replayed.end == .exit(65) && replayed.error.contains("a patient map says whose it is"), "\(replayed.error)")
    }

    /// A repair of a store of version 4 expects none of its tables that may be missing, and keeps those that are there.
    @Test(arguments: ["plain", "full"]) func aRepair(name: String) throws {
        try copy(name)
        run.folder.write("data/kymo.damaged", "")
        let before = try rows()
        let done = try end(receipts: false)
        #expect(done.error.contains("repaired the store") && done.error.contains("lost none"), "\(done.error)")
        #expect(!done.error.contains("what was paused is not known"), "\(done.error)")
        #expect(try version() == 6 && rows() == before.map { $0 ?? 0 })
        try check(isFull: name == "full")
    }

    /// Where a repair cannot tell what has decided on readings, all have.
    @Test func aRepairThatCannotTell() throws {
        try copy("plain")
        #expect(try end("migrated").end == .signal(SIGKILL))
        try run.change("DROP TABLE decider; CREATE TABLE decider (unreadable)")
        run.folder.write("data/kymo.damaged", "")
        let done = try end()
        #expect(done.end == .exit(0) && done.error.contains("an unknown number of decider"), "\(done.error)")
        #expect(try run.value("SELECT count(*) FROM decider WHERE name NOT LIKE 'identifier_systems%'") == 2)
        #expect(try !end().error.contains("repaired"))
    }

    /// Commands that only read ask for a run, as they do for earlier versions.
    @Test func whoOnlyReadsNeedsARunFirst() throws {
        try copy("full")
        for command in [["dead", "list"], ["ledger"], ["status"], ["query"], ["sources"]] {
            let done = try Kymo.run(command + ["--data", run.data])
            #expect(done.end == .exit(78), "\(command): \(done.error)")
            #expect(
                done.error.contains("by an earlier kymo (tables 4, this one reads 6)")
                    && done.error.contains("start 'kymo run' once on it"), "\(command): \(done.error)")
        }
        #expect(try version() == 4)
    }
}
