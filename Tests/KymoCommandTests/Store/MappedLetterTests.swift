import CommandSupport
import Testing

/// Readings that were rejected after they had been mapped are taken again only if their source could bring them now.
@Suite struct MappedLetterTests {
    private let run = StoredRun()
    private static let ward = "{stdin: true, name: ward-3}"

    private func configuration(_ source: String, _ more: String) -> [String] {
        let file = run.folder.write("kymo.yaml", "sources:\n  - \(source)\n\(more)\n")
        return ["--config", file, "--data", run.data, "--out", run.output, "--format", "ndjson"]
    }

    /// Leaves letter 1, of a reading for which its window had no room.
    private func fill() throws {
        let done = try Kymo.run(
            ["run", "--no-watch"] + configuration(Self.ward, "limits: {readingsPerWindow: 1}"),
            input: .bytes(Readings.ndjson(Readings.heartRates(2))))
        #expect(done.balance?.reasons == ["tooManyReadings": 1], "\(done.error)")
        #expect(try run.command("dead", "list").text.contains("measurement"))
    }

    private func replay(_ source: String, _ more: String) throws -> Kymo.Finished {
        try Kymo.run(["dead", "replay", "--all"] + configuration(source, more))
    }

    private func checkLeft(_ replay: Kymo.Finished, _ reason: String) throws {
        #expect(replay.end == .exit(65) && replay.error.contains("letter 1: "), "\(replay.error)")
        #expect(replay.error.contains(reason), "\(replay.error)")
        #expect(try run.command("dead", "list").lines.count == 2)
        #expect(try run.command("query", "--readings").lines.count == 1)
    }

    private func checkTaken(_ replay: Kymo.Finished) throws {
        #expect(replay.end == .exit(0) && replay.error.contains("1 reading"), "\(replay.error)")
        #expect(try run.command("dead", "list").lines.count == 1)
        #expect(try run.command("query", "--readings").lines.count == 2)
        #expect(try run.command("ledger", "--verify").end == .exit(0))
    }

    private func rules(_ rule: String) -> String {
        "rules: \(run.folder.write("rules.yaml", "rules:\n  - {name: bench, \(rule)}\n"))"
    }

    /// Catches: letters of mapped readings whose source is called `shard`, so that nothing of a source applies to them.
    @Test(arguments: ["then: reject, sources: [ward-3]", "then: drop, when: \"source == 'ward-3'\""])
    func aRuleOfTheSource(rule: String) throws {
        try fill()
        try checkLeft(try replay(Self.ward, rules(rule)), "the rule bench")
        try checkTaken(try replay(Self.ward, rules(rule.replacing("ward-3", with: "ward-4"))))
    }

    @Test(arguments: [
        ("types: [steps]", "types: [heart*]", "typeNotAllowed"),
        ("until: 2026-03-01T08:00:00Z", "until: 2026-03-01T09:00:00Z", "afterStopDate"),
    ])
    func whatTheSourceTakes(other: String, own: String, reason: String) throws {
        try fill()
        func source(_ more: String) -> String { Self.ward.replacing("}", with: ", \(more)}") }
        try checkLeft(try replay(source(other), ""), "rejected again: \(reason)")
        try checkTaken(try replay(source(own), ""))
    }

    @Test func aPatientThatIsDemanded() throws {
        try fill()
        try checkLeft(try replay(Self.ward, "identity: strict"), "rejected again: noPatient")
        try checkTaken(try replay(Self.ward, ""))
    }

    @Test func aPausedSource() throws {
        try fill()
        try run.change("INSERT INTO pause VALUES ('source', 'ward-3', 1)")
        try checkLeft(try replay(Self.ward, ""), "rejected again: sourcePaused")
        try run.change("UPDATE pause SET name = 'ward-4'")
        try checkTaken(try replay(Self.ward, ""))
    }

    /// Which peer brought it is not kept; one that none may bring stays, unless the list is not to be asked.
    @Test(arguments: [["devices: [watch-1]"], ["devices: [watch-9]", "devices: [\"watch-*\"]"], []])
    func theListOfPeers(allowed: [String]) throws {
        try fill()
        func source(_ peers: [String]) -> String {
            let entries = peers.enumerated().map { "  - {addresses: [127.0.0.\($0 + 1)], \($1)}\n" }
            let list = run.folder.write("peers.yaml", "peers:\n\(entries.joined())")
            return "{tcp: \"127.0.0.1:1\", name: ward-3, peers: \(list)}"
        }
        for other in ["devices: [watch-2]", "devices: [watch-1], patient: p"] {
            try checkLeft(try replay(source([other]), ""), "no peer of its source's list may bring")
        }
        guard allowed.isEmpty else { return try checkTaken(try replay(source(allowed), "")) }
        let anyway = ["--not-allowed"] + configuration(source(["devices: [watch-2]"]), "")
        try checkTaken(try Kymo.run(["dead", "replay", "--all"] + anyway))
    }

    /// Another source than those that the configuration has may have had limits that nobody knows.
    @Test func aSourceThatIsNotThere() throws {
        try fill()
        let other = "{unix: \(run.folder.file("a.sock")), name: ward-4}"
        try checkLeft(try replay(other, ""), "it came from ward-3, and no source is called that here")
        try checkTaken(try replay(Self.ward, ""))
    }

    /// Of a source beyond those that are told apart nothing is known: it is taken where no source matters.
    @Test func aSourceThatIsNotKnown() throws {
        try fill()
        try run.change("UPDATE source SET number = 14 WHERE name = 'ward-3'")
        for more in [", until: 2027-01-01T00:00:00Z", ", types: [\"*\"]"] {
            let source = Self.ward.replacing("}", with: "\(more)}")
            try checkLeft(try replay(source, ""), "it is not known of which source it is")
        }
        try run.change("INSERT INTO pause VALUES ('source', 'ward-4', 1)")
        try checkLeft(try replay(Self.ward, ""), "it is not known of which source it is")
        try run.change("DELETE FROM pause")
        let replay = try replay(Self.ward, "")
        #expect(replay.end == .exit(0) && replay.error.contains("1 reading"), "\(replay.error)")
        #expect(try run.command("query", "--readings").lines.count == 2)
    }
}
