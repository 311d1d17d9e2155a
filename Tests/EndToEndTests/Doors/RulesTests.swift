import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// The program with rules.
@Suite struct RulesTests {
    private let folder = TemporaryFolder()

    private func line(_ device: String, second: Int, value: Int = 60, patient: String? = nil) -> String {
        let owner = patient.map { ",\"patientId\":\"\($0)\"" } ?? ""
        return """
            {"deviceId":"\(device)","type":"heartRate","timestamp":"2026-03-01T08:00:0\(second)Z","value":\(value),\
            "unit":"/min"\(owner)}
            """
    }

    private func rules(_ text: String) -> String { folder.write("rules.yaml", text) }

    private static let list = """
        rules:
          - name: bench
            then: drop
            devices: ["test-*"]
          - name: trusted
            then: accept
            devices: [watch-2]
          - name: slow
            then: reject
            types: [heartRate]
            below: 20

        """

    /// What is dropped leaves nothing, what is rejected is a letter that names the rule; the balance closes.
    @Test func whatIsTaken() throws {
        let file = rules(Self.list)
        let lines = [
            line("watch-1", second: 0), line("test-1", second: 1), line("watch-1", second: 2, value: 5),
            line("watch-2", second: 3, value: 5), line("test-2", second: 4),
        ]
        let common = ["--data", folder.file("data"), "--out", folder.file("out")]
        let done = try Kymo.run(["run", "--stdin", "--rules", file] + common, input: .bytes(Readings.ndjson(lines)))
        #expect(done.end == .exit(0), "\(done.error)")
        #expect(done.error.contains("droppedByRule 2") && done.error.contains("rejectedByRule 1"), "\(done.error)")
        let balance = try #require(done.balance)
        #expect(balance.received == 5 && balance.accepted == 2 && balance.rejected == 3 && balance.isClosed)
        let letters = try Kymo.run(["dead", "list", "--data", folder.file("data")])
        #expect(letters.lines.count == 2 && letters.text.contains("rule slow"), "\(letters.text)")
        let verified = try Kymo.run(["ledger", "--verify", "--data", folder.file("data")])
        #expect(verified.end == .exit(0), "\(verified.text) \(verified.error)")
        // Without the rules, and while they say the same, the letter stays.
        let without = try Kymo.run(["dead", "replay", "--all"] + common)
        #expect(without.end == .exit(65) && without.error.contains("rules say whether it is taken"), "\(without.error)")
        let same = try Kymo.run(["dead", "replay", "--all", "--rules", file] + common)
        #expect(same.end == .exit(65) && same.error.contains("rejected again: rejectedByRule"), "\(same.error)")
        _ = rules(Self.list.replacing("below: 20", with: "below: 4"))
        let taken = try Kymo.run(["dead", "replay", "--all", "--rules", file] + common)
        #expect(taken.end == .exit(0), "\(taken.error)")
        let query = try Kymo.run(["query", "--readings", "--data", folder.file("data")])
        #expect(query.lines.count == 3)
    }

    /// A rule sees the patient that the map gives, and `kymo map` shows which rule did it.
    @Test func afterThePatientMap() throws {
        let map = folder.write("patients.csv", "device,patient\nwatch-1,p-31\n")
        let file = rules("rules:\n  - {name: withdrawn, then: reject, patients: [p-31]}\n")
        let shown = try Kymo.run(
            ["map", "--patients", map, "--rules", file], input: .bytes(Readings.ndjson([line("watch-1", second: 0)])))
        #expect(shown.end == .exit(65) && shown.text.contains("rule withdrawn, "), "\(shown.text)")
        #expect(shown.text.contains("rejectedByRule"))
        let other = try Kymo.run(
            ["map", "--rules", file], input: .bytes(Readings.ndjson([line("watch-1", second: 0)])))
        #expect(other.end == .exit(0), "\(other.error)")
    }

    /// Each of what has decided must decide again.
    @Test func bothTheMapAndTheRulesMustBeThere() throws {
        let map = folder.write("patients.csv", "device,patient\nwatch-1,p-31\n")
        let file = rules(Self.list)
        let common = ["--data", folder.file("data"), "--out", folder.file("out")]
        let lines = [line("watch-9", second: 0), line("watch-1", second: 1)]
        let done = try Kymo.run(
            ["run", "--stdin", "--patients", map, "--rules", file] + common, input: .bytes(Readings.ndjson(lines)))
        #expect(done.error.contains("patientUnknown 1"), "\(done.error)")
        for (given, missing) in [
            (["--patients", map], "rules say whether"), (["--rules", file], "a patient map says"),
        ] {
            let replay = try Kymo.run(["dead", "replay", "--all"] + given + common)
            #expect(replay.end == .exit(65) && replay.error.contains(missing), "\(replay.error)")
        }
        let both = try Kymo.run(["dead", "replay", "--all", "--patients", map, "--rules", file] + common)
        #expect(both.error.contains("rejected again: patientUnknown"), "\(both.error)")
    }

    /// While it runs: read again, refused with errors, and counted by rule.
    @Test func readAgainWhileItRuns() throws {
        let file = rules(Self.list)
        let door = try Door(TLSText.source("http", []), in: folder, settings: "rules: \(file)\n")
        _ = try door.post([line("test-1", second: 1), line("watch-1", second: 2)], [], scheme: "http")
        _ = rules("rules:\n  - {name: all}\n")
        try door.run.waitForError("the former rules stay in use: \(file):2:12: ")
        _ = try door.post([line("test-1", second: 3)], [], scheme: "http")
        _ = rules("rules:\n  - {name: all, then: drop, devices: [\"*\"]}\n")
        try door.run.waitForError("were read again: there are 1")
        _ = try door.post([line("watch-1", second: 4)], [], scheme: "http")
        #expect(try door.admin.value("kymo_rule_readings_total{rule=\"bench\"}") == 2)
        #expect(try door.admin.value("kymo_rule_readings_total{rule=\"all\"}") == 1)
        let balance = try door.balance()
        #expect(balance.received == 4 && balance.accepted == 1 && balance.rejected == 3 && balance.isClosed)
    }

    /// What rules name that is not there is told at the start, when the file has changed, and on SIGHUP; of rules that
    /// name nothing else than there is, nothing is told.
    @Test func aReloadTellsWhatMeansNothing() throws {
        let file = rules("rules:\n  - {name: one, then: drop, sources: [wrad-3]}\n")
        let configuration = folder.write(
            "kymo.yaml", "rules: \(file)\nsources: [{udp: 127.0.0.1:0, name: ward-3}]\n")
        let run = try Kymo.start(["run", "--config", configuration, "--out", folder.file("out")])
        func told(_ text: String) -> Int { run.errorText.split(separator: "\n").count { $0.contains(text) } }
        try run.waitForError("rule one: there is no source 'wrad-3'; did you mean 'ward-3'?")
        _ = try run.addresses()
        _ = rules("rules:\n  - {name: two, then: drop, types: [hartRate]}\n")
        try run.waitForError("rule two: no mapping has a type 'hartRate'; did you mean 'heartRate'?")
        run.signal(SIGHUP)
        try Waiting.until("the second warning in: \(run.errorText)") { told("rule two: no mapping") == 2 }
        _ = rules("rules:\n  - {name: three, then: drop, types: [heartRate], sources: [\"ward-*\"]}\n")
        try Waiting.until("the third list in: \(run.errorText)") { told("were read again: there are 1") == 3 }
        // Orders are carried out one after the other: what is told of the first is there before the second is.
        for number in 2...3 {
            run.signal(SIGHUP)
            try Waiting.until("SIGHUP in: \(run.errorText)") { told("SIGHUP: loaded the mappings") == number }
        }
        let done = try run.terminate()
        #expect(done.end == .exit(0), "\(done.error)")
        #expect(told("rule one: ") == 1 && told("rule two: ") == 2 && told("rule three: ") == 0, "\(done.error)")
    }

    /// The start tells sources that there are not; a replay, which has only those of its letters, does not.
    @Test func aReplayTellsNothingOfSources() throws {
        let text = """
            rules:
              - {name: slow, then: reject, sources: [stdin], below: 20}
              - {name: far, then: drop, sources: [ward-3], below: 1}

            """
        let common = ["--rules", rules(text), "--data", folder.file("data"), "--out", folder.file("out")]
        let lines = [line("watch-1", second: 0, value: 5), line("watch-1", second: 1)]
        let done = try Kymo.run(["run", "--stdin"] + common, input: .bytes(Readings.ndjson(lines)))
        #expect(done.end == .exit(0) && done.error.contains("rejectedByRule 1"), "\(done.error)")
        #expect(done.error.contains("rule far: there is no source 'ward-3'; "), "\(done.error)")
        #expect(!done.error.contains("there is no source 'stdin'"), "\(done.error)")
        _ = rules(text.replacing("below: 20", with: "below: 4"))
        let taken = try Kymo.run(["dead", "replay", "--all"] + common)
        #expect(taken.end == .exit(0) && !taken.error.contains("there is no source"), "\(taken.error)")
    }

    @Test(arguments: [
        ("rules:\n  - {then: drop}\n", "2:5: rules[0]: it has no name"),
        ("rules:\n  - {name: a b, then: drop}\n", "2:12: rules[0].name: this is no name of a rule"),
        ("rules:\n  - {name: a, then: drp}\n", "2:21: rules[0].then: 'drp' is not one of accept, drop, reject"),
        ("rules:\n  - {name: a}\n", "2:12: rules[0].name: it does not say what is done"),
        ("rules:\n  - {name: a, then: drop, below: x}\n", "2:34: rules[0].below: 'x' is not a number"),
        ("rules:\n  - {name: a, then: drop}\n", "2:12: rules[0].name: it drops all readings, and may be cut"),
        ("rules:\n  - {name: a, then: reject}", " its last line has no end: it may be cut"),
        ("rules:\n  - {name: a, then: reject, value: x}\n", "2:12: rules[0].name: 'value' is given without a bound"),
        (
            "rules:\n  - {name: a, then: reject}\n  - {name: a, then: reject}\n",
            "3:12: rules[1].name: another rule has the same name"
        ),
        ("rules:\n  - {name: a, then: drop, device: [x]}\n", "2:27: rules[0]: unknown key 'device'"),
    ])
    func errors(_ text: String, _ message: String) throws {
        let file = rules(text)
        let checked = try Kymo.run(["check", "--rules", file, "--no-environment"])
        #expect(checked.end == .exit(78) && checked.error.contains("\(file):\(message)"), "\(checked.error)")
    }
}
