import CommandSupport
import KymographTestKit
import Testing

/// The program with rules that rewrite readings, and rules for resources.
@Suite struct RewritingRulesTests {
    private let folder = TemporaryFolder()

    private func line(_ device: String, _ second: Int, _ value: Int = 60) -> String {
        """
        {"deviceId":"\(device)","type":"heartRate","timestamp":"2026-03-01T08:00:0\(second)Z","value":\(value),\
        "unit":"/min"}
        """
    }

    private func run(_ lines: [String], _ rules: String, _ arguments: [String] = []) throws -> Kymo.Finished {
        let file = folder.write("rules.yaml", rules)
        return try Kymo.run(
            ["run", "--stdin", "--rules", file, "--data", folder.file("data"), "--window", "1m"] + arguments,
            input: .bytes(Readings.ndjson(lines)))
    }

    private static let rewriting = """
        rules:
          - name: doubled
            then: rewrite
            devices: [old-*]
            when: values.beatsPerMinute < `100`
            set: {beatsPerMinute: "multiply(values.beatsPerMinute, `2`)"}
          - name: study
            then: rewrite
            when: starts_with(deviceId, 'old') && values.beatsPerMinute > `150`
            tag: ["urn:study|hyper", seen]
          - name: high
            then: reject
            above: 250
          - name: broken
            then: drop
            devices: [bad]
            when: multiply(deviceId, `2`)

        """

    private func observations() throws -> [JSONTree] {
        let query = try Kymo.run(["query", "--data", folder.file("data")])
        return try query.lines.map { try JSONTree(parsing: Array($0.utf8)) }
    }

    /// What is in the files of a folder.
    private func text(in name: String) -> String {
        Files.names(folder.file(name)).filter { !$0.hasPrefix(".") }
            .map { Files.text(folder.file("\(name)/\($0)")) }.joined()
    }

    private func tags(_ observation: JSONTree) -> [String] {
        observation["meta"]?["tag"]?.elements?.map { "\($0["system"]?.text ?? "")|\($0["code"]?.text ?? "")" } ?? []
    }

    /// Later rules see what earlier ones have made; the window has the tags of all its readings; what fails is a letter.
    @Test func valuesAndTags() throws {
        let lines = [
            line("old-1", 1, 70), line("old-1", 2, 80), line("new-1", 3, 70), line("bad", 4), line("old-1", 5, 300),
        ]
        let done = try run(lines, Self.rewriting, ["--out", folder.file("out")])
        #expect(done.end == .exit(0), "\(done.error)")
        let balance = try #require(done.balance)
        #expect(balance.received == 5 && balance.accepted == 3 && balance.isClosed, "\(done.error)")
        #expect(balance.reasons["ruleFailed"] == 1 && balance.reasons["rejectedByRule"] == 1, "\(done.error)")
        let found = try observations()
        let old = try #require(found.first { tags($0).count == 2 })
        #expect(tags(old) == ["|seen", "urn:study|hyper"], "\(old)")
        #expect(found.count == 2 && found.contains { tags($0).isEmpty })
        let readings = try Kymo.run(["query", "--readings", "--data", folder.file("data")])
        #expect(readings.text.contains("\"140\"") && readings.text.contains("\"160\""), "\(readings.text)")
        let letters = try Kymo.run(["dead", "list", "--data", folder.file("data")])
        #expect(letters.text.contains("rule broken: Error: invalid-type, function multiply"), "\(letters.text)")
        let verified = try Kymo.run(["ledger", "--verify", "--data", folder.file("data")])
        #expect(verified.end == .exit(0), "\(verified.text) \(verified.error)")
        for (tag, count) in [("hyper", 1), ("urn:study|hyper", 1), ("seen", 1), ("other", 0)] {
            let query = try Kymo.run(["query", "--data", folder.file("data"), "--tag", tag])
            #expect(query.lines.count == count, "\(tag): \(query.text) \(query.error)")
        }
    }

    /// The same readings in another run change nothing; with another tag, their window comes again with both.
    @Test func tagsStayOverRuns() throws {
        let rules = "rules:\n  - {name: a, then: rewrite, devices: [w], tag: b}\n"
        _ = try run([line("w", 1), line("w", 2)], rules, ["--out", folder.file("one")])
        let first = try observations()
        #expect(first.map(tags) == [["|b"]])
        let same = try run([line("w", 1)], rules, ["--out", folder.file("one")])
        #expect(same.balance?.duplicate == 1, "\(same.error)")
        #expect(try observations() == first)
        let other = try run([line("w", 2)], rules.replacing("tag: b", with: "tag: a"), ["--out", folder.file("one")])
        #expect(other.balance?.duplicate == 1 && other.error.contains("1 amended"), "\(other.error)")
        #expect(try observations().map(tags) == [["|a", "|b"]])
        let none = try run(
            [line("w", 1), line("w", 2)], "rules:\n  - {name: a, then: accept}\n",
            [
                "--out", folder.file("one"),
            ])
        #expect(none.balance?.duplicate == 2 && !none.error.contains("amended"), "\(none.error)")
    }

    /// Sinks choose by tags of readings, and rules keep resources from sinks, or add to them: what comes out is valid.
    @Test(.enabled(if: SharedMaterial.canRunPython, "KYMO_SHARED and KYMO_PYTHON name no validator that runs"))
    func resources() throws {
        let rules = """
            rules:
              - {name: study, then: rewrite, devices: [w], tag: "urn:study|s1"}
            resources:
              - name: private
                then: veto
                devices: [v]
                sinks: [one]
              - name: ward
                then: patch
                types: [heartRate]
                when: contains(keys(@), 'device')
                set:
                  tag: [{system: "urn:ward", code: w3}]
                  note: [checked at the bedside]
                  category: [{codes: [{system: "urn:local", code: ward}]}]
                  performer:
                    - {type: Organization, identifier: {system: "urn:org", value: o-1}, display: Ward 3}
                  extension: [{url: "http://example.org/bed", valueInteger: 7}]

            """
        let file = folder.write("rules.yaml", rules)
        let config = folder.write(
            "kymo.yaml",
            """
            rules: \(file)
            window: 1m
            output: {format: ndjson}
            sinks:
              - {to: \(folder.file("one")), name: one}
              - {to: \(folder.file("two")), name: two, tags: [s1]}
              - {to: \(folder.file("three")), name: three}
            """)
        let arguments = ["run", "--stdin", "--config", config, "--data", folder.file("data")]
        let done = try Kymo.run(
            arguments, input: .bytes(Readings.ndjson([line("w", 1), line("v", 2), line("u", 3)])))
        #expect(done.end == .exit(0), "\(done.error)")
        func devices(_ name: String) -> [String] {
            let text = text(in: name)
            return ["u", "v", "w"].filter { text.contains("\"value\":\"\($0)\"") }
        }
        #expect(devices("one") == ["u", "w"] && devices("two") == ["w"] && devices("three") == ["u", "v", "w"])
        let all = text(in: "three")
        let lines = all.split(separator: "\n")
        #expect(lines.count == 3 && lines.allSatisfy { $0.contains("checked at the bedside") }, "\(all)")
        let written = folder.write("all.ndjson", all)
        #expect(try Validator.findings(in: [written], version: "R4", passing: ["dup-"]) == [])
        let verified = try Kymo.run(["ledger", "--verify", "--data", folder.file("data")])
        #expect(verified.end == .exit(0), "\(verified.text)")
        // What is sent again is the same to the byte, whatever run sends it.
        let again = try Kymo.run(
            arguments, input: .bytes(Readings.ndjson([line("w", 1, 61)])))
        #expect(again.end == .exit(0), "\(again.error)")
        let amended = text(in: "three").split(separator: "\n").filter { $0.contains("\"value\":\"w\"") }
        #expect(amended.count == 2, "\(amended)")
        #expect(
            amended.map { $0.split(separator: "\"status\"")[0] }.count == 2
                && amended[0].split(separator: "\"status\"")[0] == amended[1].split(separator: "\"status\"")[0])
    }

    /// All that is vetoed for all sinks is counted, and kept.
    @Test func vetoedByAll() throws {
        let rules = "resources:\n  - {name: none, then: veto, when: \"code.coding[0].code\"}\n"
        let done = try run([line("w", 1), line("v", 2)], rules, ["--out", folder.file("out")])
        #expect(done.end == .exit(0) && done.error.contains("vetoed 2"), "\(done.error)")
        #expect(done.balance?.accepted == 2 && done.balance?.isClosed == true)
        #expect(text(in: "out").isEmpty)
        #expect(try observations().count == 2)
    }

    /// `kymo map` says what rules do.
    @Test func mapExplains() throws {
        let file = folder.write(
            "rules.yaml",
            Self.rewriting + "resources:\n  - {name: ward, then: patch, types: [heartRate], set: {tag: [{code: x}]}}\n")
        let shown = try Kymo.run(
            ["map", "--explain", "--rules", file], input: .bytes(Readings.ndjson([line("old-1", 1, 80)])))
        #expect(shown.end == .exit(0), "\(shown.error)")
        for part in [
            "rule doubled: rewrite: beatsPerMinute = 160", "rule study: rewrite: tag urn:study|hyper, tag seen",
            "rule ward: patch",
        ] { #expect(shown.error.contains(part), "\(shown.error)") }
        #expect(shown.text.contains("\"160\"") && shown.text.contains("hyper") && shown.text.contains("\"x\""))
    }

    /// Tags of sources and peers, and what is counted.
    @Test func sourcesPeersAndCounts() throws {
        let peers = folder.write(
            "peers.yaml", "peers:\n  - {addresses: [127.0.0.1, \"::1\"], name: desk, tags: [desk]}\n")
        let file = folder.write(
            "rules.yaml", "rules:\n  - {name: t, then: rewrite, when: \"contains(tags, 'desk')\", tag: seen}\n")
        let door = try Door(
            "  - http: 127.0.0.1:0\n    peers: \(peers)\n    tags: [\"urn:w|ward\"]", in: folder,
            settings: "rules: \(file)\noutput: {to: \(folder.file("out"))}\n")
        _ = try door.post([line("w", 1), line("w", 2)], [], scheme: "http")
        for (series, count) in [
            ("kymo_tag_readings_total{tag=\"desk\"}", 2.0), ("kymo_tag_readings_total{tag=\"urn:w|ward\"}", 2),
            ("kymo_tag_readings_total{tag=\"seen\"}", 2), ("kymo_rule_rewritten_total{rule=\"t\"}", 2),
        ] { #expect(try door.admin.value(series) == count, "\(series)") }
        let balance = try door.balance()
        #expect(balance.accepted == 2 && balance.isClosed)
        #expect(try observations().map(tags) == [["|desk", "|seen", "urn:w|ward"]])
    }

    @Test(arguments: [
        ("rules:\n  - {name: a, then: rewrite}\n", "2:12: rules[0].name: it rewrites nothing"),
        ("rules:\n  - {name: a, then: reject, tag: x}\n", "2:12: rules[0].name: 'set' and 'tag' are for rules with"),
        ("rules:\n  - {name: a, then: rewrite, tag: \"a b |c\"}\n", "is no tag"),
        ("rules:\n  - {name: a, then: rewrite, set: {patientId: x}}\n", "'patientId' is not for a rule to set"),
        ("rules:\n  - {name: a, then: rewrite, set: {value: \"f(x)\"}}\n", "rules[0].set.value: "),
        ("rules:\n  - {name: a, then: drop, when: \"values.\"}\n", "rules[0].when: "),
        ("resources:\n  - {name: a, then: veto}\n", "2:12: resources[0].name: it vetoes all resources, and may be cut"),
        ("resources:\n  - {name: a, then: patch, types: [x]}\n", "2:12: resources[0].name: it sets nothing"),
        (
            "resources:\n  - {name: a, then: keep, sinks: [x]}\n",
            "2:12: resources[0].name: 'sinks' is for rules with 'then: veto'"
        ),
        (
            "resources:\n  - {name: a, then: keep, set: {note: [x]}}\n",
            "2:12: resources[0].name: 'set' is for rules with 'then: patch'"
        ), ("resources:\n  - {name: a}\n", "add 'then: veto', patch or keep"),
        ("resources:\n  - {name: a, then: patch, set: {subject: x}}\n", "'subject' is not for a rule to set"),
        ("resources:\n  - {name: a, then: patch, set: {colour: x}}\n", "colour"),
        ("rules:\n  - {name: a, then: accept}\nresources:\n  - {name: a, then: veto, types: [x]}\n", "the same name"),
        ("others: 1\n", "expected the key 'rules' or 'resources'"),
    ])
    func errors(_ text: String, _ message: String) throws {
        let file = folder.write("rules.yaml", text)
        let checked = try Kymo.run(["check", "--rules", file, "--no-environment"])
        #expect(checked.end == .exit(78) && checked.error.contains(message), "\(checked.error)")
    }
}
