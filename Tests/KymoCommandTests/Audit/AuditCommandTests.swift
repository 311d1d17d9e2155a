import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// `kymo audit`, and what commands and instances write to the trail.
@Suite struct AuditCommandTests {
    private static let line =
        #"{"deviceId":"seeded-device","patientId":"seeded-patient","type":"heartRate","timestamp":"2026-03-01T08:00:00Z","value":61,"unit":"/min"}"#
    private static let rejected = #"{"deviceId":"seeded-device","nobody":"knows me"}"#

    /// A store with a window and a dead letter.
    private func stored() throws -> StoredRun {
        let run = StoredRun()
        #expect(try run.run([Self.line, Self.rejected]).end == .exit(0))
        return run
    }

    /// The records, but for those of starts.
    private func records(_ run: StoredRun) throws -> [JSONTree] {
        try run.command("audit", "list", "--format", "ndjson").lines.map { try JSONTree(parsing: Array($0.utf8)) }
            .filter { !($0["event"]?.text?.hasSuffix(".begin") ?? false) }
    }

    @Test func commandsThatShowDataAreInTheTrail() throws {
        let run = try stored()
        Files.removeAll("\(run.data)/audit")
        let missing = try run.command("audit")
        #expect(missing.end == .exit(66) && missing.error.contains("there is no audit trail in"), "\(missing.error)")
        try run.command("query", "--device", "seeded-device")
        try run.command("export", "--format", "csv", "--patient", "seeded-patient")
        try run.command("dead", "list", "--format", "ndjson")
        try run.command("dead", "show", "1")
        try run.command("sources", "list", "--devices")
        try run.command("dead", "discard", "1")
        let found = try records(run)
        #expect(
            found.compactMap { $0["event"]?.text } == [
                "query", "export", "export", "export", "dead.show", "dead.show", "sources.list", "dead.discard",
            ])
        let texts = found.compactMap { $0["text"]?.text }
        #expect(texts[0] == "kymo query shows 1 window of series 0; asked for 1 device", "\(texts)")
        #expect(texts[1] == "kymo export begins to write csv; asked for 1 patient", "\(texts)")
        #expect(texts[2] == "kymo export writes windows of series 0", "\(texts)")
        #expect(texts[3] == "kymo export has written 1 window", "\(texts)")
        #expect(texts[7] == "kymo dead discard discards dead letter 1", "\(texts)")
        #expect(!texts.joined().contains("seeded"))
        // Counts name nobody.
        try run.command("query", "--count")
        try run.command("status")
        #expect(try records(run).count == 8)
        try run.command("ledger", "--device", "seeded-device")
        #expect(try records(run).last?["text"]?.text == "kymo ledger: counts of what is there, 1 device")
        let table = try run.command("audit", "--after", "7")
        #expect(table.lines.count == 3 && table.text.contains("dead.discard"), "\(table.text)")
    }

    @Test func whatWasChangedIsFound() throws {
        let run = try stored()
        try run.command("query")
        try run.command("query", "--readings")
        let good = try run.command("audit", "verify")
        let head = try #require(good.lines.first)
        #expect(good.end == .exit(0) && head.hasPrefix("3:"), "\(good.error)")
        #expect(good.error.contains("3 records of the audit trail hold"), "\(good.error)")
        let file = "\(run.data)/audit/audit-000000001.ndjson"
        let text = Files.text(file)
        Files.write(
            Array(text.replacing("kymo query shows 1 window", with: "kymo query shows 0 windows").utf8), to: file)
        let changed = try run.command("audit", "verify", "--format", "json")
        #expect(changed.end == .exit(65) && changed.error.contains("the record was changed"), "\(changed.error)")
        #expect(try JSONTree(parsing: changed.output)["faults"]?.elements?.isEmpty == false)
        Files.write(Array(text.split(separator: "\n")[..<2].joined(separator: "\n").utf8) + [0x0A], to: file)
        #expect(try run.command("audit", "verify").end == .exit(0))
        let cut = try run.command("audit", "verify", "--head", head)
        #expect(cut.end == .exit(65) && cut.error.contains("the trail has no record 3:"), "\(cut.error)")
        let wrong = try run.command("audit", "verify", "--head", "2")
        #expect(wrong.end == .exit(64) && wrong.error.contains("12:DIGEST"), "\(wrong.error)")
    }

    /// What a running instance does for others is in the trail, with its place there in the log.
    @Test func anInstanceWritesToTheSameTrail() throws {
        let run = try stored()
        let config = run.folder.write(
            "kymo.yaml", "log:\n  format: json\nsources:\n  - udp: 127.0.0.1:0\n    name: ward\n")
        let instance = try Kymo.start(["run", "--config", config, "--data", run.data, "--out", run.output])
        try instance.waitForError("listening on udp")
        #expect(try run.command("pause", "ward").end == .exit(0))
        try run.command("query")
        #expect(try run.command("resume", "ward").end == .exit(0))
        let done = try instance.terminate()
        #expect(done.end == .exit(0), "\(done.error)")
        let found = try records(run)
        #expect(found.compactMap { $0["event"]?.text } == ["pause", "query", "resume"], "\(found)")
        #expect(try run.command("audit", "verify").end == .exit(0))
        let logged = done.error.split(separator: "\n").compactMap { try? JSONTree(parsing: Array($0.utf8)) }
            .compactMap { $0["audit"]?.text }
        try #require(logged.count == 2, "\(done.error)")
        #expect(logged[0].hasPrefix("3:") && logged[1].hasPrefix("5:"), "\(done.error)")
        #expect(
            try run.command("audit", "verify", "--head", logged[0], "--head", logged[1]).end == .exit(0))
    }

    /// Without an instance the store is changed by the command itself.
    @Test func changesForTheNextStartAreInTheTrail() throws {
        let run = try stored()
        #expect(try run.command("pause", "heartRate").end == .exit(0))
        #expect(try run.command("resume", "heartRate").end == .exit(0))
        #expect(try run.command("sources", "remove", "--device", "seeded-device").end == .exit(0))
        let found = try records(run)
        #expect(found.compactMap { $0["event"]?.text } == ["pause", "resume", "sources.remove"], "\(found)")
        let texts: [String] = found.compactMap { $0["text"]?.text }
        #expect(!texts.joined().contains("seeded"))
    }

    /// What root does in the directory of another user, that user can go on with; but what was there is not given away.
    @Test(.enabled(if: geteuid() == 0, "only root can give files away")) func rootLeavesTheTrailToItsOwner() throws {
        let run = try stored()
        Files.removeAll("\(run.data)/audit")
        let owner: uid_t = 65_534
        #expect(unsafe chown(run.data, owner, owner) == 0)
        try run.command("query")
        for path in ["\(run.data)/audit", "\(run.data)/audit/audit-000000001.ndjson"] {
            var status = stat()
            #expect(unsafe lstat(path, &status) == 0 && status.st_uid == owner, "\(path)")
        }
        for path in ["\(run.data)/audit", "\(run.data)/audit/audit-000000001.ndjson"] {
            #expect(unsafe chown(path, 0, 0) == 0)
        }
        #expect(try run.command("query").end == .exit(0))
        for path in ["\(run.data)/audit", "\(run.data)/audit/audit-000000001.ndjson"] {
            var status = stat()
            #expect(unsafe lstat(path, &status) == 0 && status.st_uid == 0, "\(path)")
        }
        #expect(try records(run).count == 2)
    }

    /// What is exported is noted before it is seen, and only what was.
    @Test func anExportIsNotedBeforeItIsSeen() throws {
        let run = try stored()
        try run.command("export", "--type", "heartRate", "--device", "nobody")
        let cut = try Kymo.run(["export", "--data", run.data], output: .path("/dev/full"))
        #expect(cut.end == .exit(74), "\(cut.error)")
        let texts: [String] = try records(run).compactMap { $0["text"]?.text }
        #expect(
            texts == [
                "kymo export begins to write ndjson; asked for 1 type, 1 device", "kymo export has written 0 windows",
                "kymo export begins to write ndjson; asked for all", "kymo export writes windows of series 0",
                "kymo export has written 0 windows, and a part of 1 more at most",
            ])
    }

    /// A command that cannot note what it is about to change does not change it.
    @Test func whatCannotBeNotedIsNotChanged() throws {
        let run = try stored()
        Files.removeAll("\(run.data)/audit")
        Files.write([], to: "\(run.data)/audit")
        let paused = try run.command("pause", "heartRate")
        #expect(paused.end == .exit(74) && paused.error.contains("nothing was changed"), "\(paused.error)")
        let removed = try run.command("sources", "remove", "--device", "seeded-device")
        #expect(removed.end == .exit(74) && removed.error.contains("nothing was changed"), "\(removed.error)")
        Files.move("\(run.data)/audit", to: "\(run.data)/away")
        #expect(try run.command("sources", "list", "--devices").text.contains("seeded-device"))
        let resumed = try run.command("resume", "heartRate")
        #expect(resumed.end == .exit(0) && !resumed.text.contains("since"), "\(resumed.text)")
        let events: [String] = try records(run).compactMap { $0["event"]?.text }
        #expect(events == ["sources.list"])
    }

    /// Where the trail cannot be written, people who may read the store are told, and go on.
    @Test func aTrailThatCannotBeWrittenIsSaid() throws {
        let run = try stored()
        Files.removeAll("\(run.data)/audit")
        Files.write([], to: "\(run.data)/audit")
        let done = try run.command("query")
        #expect(done.end == .exit(0) && done.lines.count == 1)
        #expect(done.error.contains("warning:") && done.error.contains("this command is not in it"), "\(done.error)")
    }
}
