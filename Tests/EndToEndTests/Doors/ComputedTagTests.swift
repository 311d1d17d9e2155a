import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// The program with rules that make tags of what messages say.
@Suite struct ComputedTagTests {
    private let folder: TemporaryFolder

    /// Pulses of the device `d`, with the arm of a study and up to two labels.
    init() {
        folder = TemporaryFolder()
        folder.write(
            "m/device.json",
            """
            {"templateType": "CollectionContent", "template": [{"templateType": "JsonPathContent", "template": {
              "typeName": "pulse", "typeMatchExpression": "$..[?(@v)]", "deviceIdExpression": "$.d",
              "timestampExpression": "$.t", "values": [
                {"valueName": "rate", "valueExpression": "$.v", "required": true},
                {"valueName": "arm", "valueExpression": "$.arm"},
                {"valueName": "first", "valueExpression": "$.labels[0]"},
                {"valueName": "second", "valueExpression": "$.labels[1]"}]}}]}
            """)
        folder.write(
            "m/fhir.json",
            """
            {"templateType": "CollectionFhir", "template": [{"templateType": "CodeValueFhir", "template": {
              "typeName": "pulse", "codes": [{"code": "pulse"}],
              "value": {"valueType": "Statistics", "valueName": "rate", "unit": "/min", "code": "/min"}}}]}
            """)
    }

    private func line(_ device: String, _ second: Int, _ members: String = "") -> String {
        #"{"d":"\#(device)","t":"2026-03-01T08:00:0\#(second)Z","v":60\#(members)}"#
    }

    private static let rules = """
        rules:
          - name: arm
            then: rewrite
            set: {arm: "'-'"}
            tag: {from: values.arm, system: "urn:study"}
          - name: labels
            then: rewrite
            tag: [{from: "[values.first, values.second]"}]

        """

    private var mapping: [String] { ["--mapping", folder.file("m/")] }

    private func run(_ lines: [String], _ rules: String = rules) throws -> Kymo.Finished {
        let file = folder.write("rules.yaml", rules)
        return try Kymo.run(
            [
                "run", "--stdin", "--rules", file, "--data", folder.file("data"), "--window", "1m", "--out",
                folder.file("out"),
            ] + mapping, input: .bytes(Readings.ndjson(lines)))
    }

    /// The tags of the one Observation that the archive has of each device.
    private func tags() throws -> [String: [String]] {
        var found: [String: [String]] = [:]
        for device in ["none", "one", "two", "w"] {
            let query = try Kymo.run(["query", "--data", folder.file("data"), "--device", device] + mapping)
            #expect(query.lines.count <= 1, "\(query.text)")
            guard let line = query.lines.first else { continue }
            let tags = try JSONTree(parsing: Array(line.utf8))["meta"]?["tag"]?.elements ?? []
            found[device] = tags.map {
                [$0["system"]?.text, $0["code"]?.text].compactMap(\.self).joined(separator: "|")
            }
        }
        return found
    }

    /// Labels of a message are in `meta.tag`, in the order of their bytes; one that is no tag makes a letter.
    @Test func labelsOfMessages() throws {
        let done = try run([
            line("two", 1, #","arm":" s1 ","labels":["resting","after meal"]"#), line("one", 2, #","labels":["x"]"#),
            line("none", 3, #","arm":"","labels":[]"#), line("none", 4), line("w", 5, #","arm":"urn:other|s1""#),
            line("w", 6, #","labels":["a\nb"]"#),
        ])
        #expect(done.end == .exit(0), "\(done.error)")
        let balance = try #require(done.balance)
        #expect(balance.received == 6 && balance.accepted == 4 && balance.isClosed, "\(done.error)")
        #expect(balance.reasons == ["ruleFailed": 2])
        #expect(try tags() == ["two": ["after meal", "resting", "urn:study|s1"], "one": ["x"], "none": []])
        let letters = try Kymo.run(["dead", "list", "--data", folder.file("data")])
        for part in [
            "rule arm: tag from values.arm: the text has a '|'",
            "rule labels: tag from [values.first, values.second]: the text has a control character",
        ] { #expect(letters.text.contains(part), "\(letters.text)") }
        for (tag, count) in [("s1", 1), ("urn:study|s1", 1), ("resting", 1), ("s2", 0)] {
            let query = try Kymo.run(["query", "--data", folder.file("data"), "--tag", tag] + mapping)
            #expect(query.lines.count == count, "\(tag): \(query.text) \(query.error)")
        }
        let verified = try Kymo.run(["ledger", "--verify", "--data", folder.file("data")])
        #expect(verified.end == .exit(0), "\(verified.text) \(verified.error)")
    }

    /// A duplicate with the same labels changes nothing, in a later run, too; with another one it comes as amended.
    @Test func duplicatesWithAnotherLabel() throws {
        _ = try run([line("w", 1, #","arm":"s1""#), line("w", 2, #","arm":"s1""#)])
        #expect(try tags() == ["w": ["urn:study|s1"]])
        let same = try run([line("w", 1, #","arm":"s1""#), line("w", 2)])
        #expect(same.balance?.duplicate == 2 && !same.error.contains("amended"), "\(same.error)")
        #expect(try tags() == ["w": ["urn:study|s1"]])
        let other = try run([line("w", 2, #","arm":"s2""#)])
        #expect(other.balance?.duplicate == 1 && other.error.contains("1 amended"), "\(other.error)")
        #expect(try tags() == ["w": ["urn:study|s1", "urn:study|s2"]])
    }

    /// What was acknowledged has its labels after a kill, and those that come later are added.
    @Test func killed() throws {
        folder.write("rules.yaml", Self.rules)
        folder.write(
            "kymo.yaml",
            """
            rules: rules.yaml
            mappings: [m/]
            data: data
            window: 1m
            output: {to: out}
            sources: [{unix: a.sock}]
            """)
        let process = try Kymo.start(["run", "--config", "kymo.yaml"], directory: folder.path)
        _ = try process.addresses()
        let client = try AckClient(folder.file("a.sock"))
        client.send(Readings.ndjson([line("w", 1, #","arm":"s1""#), line("w", 2, #","arm":"s3""#)]))
        try Waiting.until("acknowledgements") {
            client.receive()
            return client.acknowledged == 2
        }
        process.signal(SIGKILL)
        #expect(try process.finish().end == .signal(SIGKILL))
        let again = try run([line("w", 1, #","arm":"s2""#)])
        #expect(again.end == .exit(0) && again.balance?.duplicate == 1, "\(again.error)")
        #expect(try tags() == ["w": ["urn:study|s1", "urn:study|s2", "urn:study|s3"]])
        let verified = try Kymo.run(["ledger", "--verify", "--data", folder.file("data")])
        #expect(verified.end == .exit(0), "\(verified.text) \(verified.error)")
    }

    /// One reading that comes with ever more labels keeps those that it had first, in 4,096 bytes; so it is after a
    /// restart.
    @Test func tooManyLabels() throws {
        let labels = (100..<130).map { "\($0)" + String(repeating: "x", count: 177) }
        let kept = labels.prefix(4_096 / ("urn:study|".utf8.count + 180 + 1)).map { "urn:study|\($0)" }
        for repeated in 0..<2 {
            let done = try run(labels.map { line("w", 1, ",\"arm\":\"\($0)\"") })
            #expect(done.end == .exit(0) && done.balance?.duplicate == 29 + repeated, "\(done.error)")
            #expect(try tags() == ["w": kept])
        }
    }

    /// A sink that has got a window for a reading by its label hears that this is gone, in a later run, too.
    @Test func retracted() throws {
        folder.write(
            "rules.yaml",
            """
            rules:
              - name: rate
                then: rewrite
                tag: {from: "join('-', ['v', to_string(values.beatsPerMinute)])", system: "urn:v"}

            """)
        folder.write(
            "kymo.yaml",
            """
            rules: rules.yaml
            data: data
            window: 1m
            output: {format: ndjson}
            sinks:
              - {to: some, name: some, tags: ["urn:v|v-60"]}
              - {to: other, name: other, tags: ["urn:v|v-62"]}
            """)
        func reading(_ id: String, _ value: Int) -> String {
            #"{"deviceId":"w","type":"heartRate","timestamp":"2026-03-01T08:00:0\#(value - 60)Z","value":\#(value),"#
                + #""unit":"/min","id":"\#(id)"}"#
        }
        let taken = #"{"deviceId":"w","deleted":"heartRate","id":"a"}"#
        for (lines, count) in [([reading("a", 60), reading("b", 61)], 1), ([taken], 2)] {
            let done = try Kymo.run(
                ["run", "--stdin", "--config", "kymo.yaml"], directory: folder.path,
                input: .bytes(Readings.ndjson(lines)))
            #expect(done.end == .exit(0), "\(done.error)")
            let text = Files.names(folder.file("some")).filter { !$0.hasPrefix(".") }
                .map { Files.text(folder.file("some/\($0)")) }.joined()
            #expect(text.split(separator: "\n").count { $0.contains("\"Observation\"") } == count, "\(text)")
            #expect(text.contains(#""status":"amended""#) == (count > 1), "\(text)")
        }
        #expect(Files.names(folder.file("other")).filter { !$0.hasPrefix(".") } == [])
    }

    /// A letter gets its tags when the rules let it through.
    @Test func replayedLetters() throws {
        let refused = try run([line("w", 1, #","arm":"s1""#)], Self.rules.replacing("values.arm", with: "values.rate"))
        #expect(refused.balance?.reasons == ["ruleFailed": 1], "\(refused.error)")
        let file = folder.write("rules.yaml", Self.rules)
        let taken = try Kymo.run(
            [
                "dead", "replay", "--all", "--rules", file, "--data", folder.file("data"), "--window", "1m", "--out",
                folder.file("out"),
            ] + mapping)
        #expect(taken.end == .exit(0), "\(taken.error)")
        #expect(try tags() == ["w": ["urn:study|s1"]])
    }

    /// A sink can choose by what only messages say, and nothing warns of its tag.
    @Test func sinksChoose() throws {
        let config = folder.write(
            "kymo.yaml",
            """
            rules: \(folder.write("rules.yaml", Self.rules))
            mappings: [\(folder.file("m/"))]
            window: 1m
            output: {format: ndjson}
            sinks:
              - {to: \(folder.file("some")), name: some, tags: ["urn:study|s1"]}
              - {to: \(folder.file("all")), name: all}
            """)
        let lines = [line("one", 1, #","arm":"s1""#), line("two", 2, #","arm":"s2""#), line("none", 3)]
        let done = try Kymo.run(
            ["run", "--stdin", "--config", config, "--data", folder.file("data")],
            input: .bytes(Readings.ndjson(lines)))
        #expect(done.end == .exit(0) && !done.error.contains("no mapping has a tag"), "\(done.error)")
        for (sink, devices) in [("some", ["one"]), ("all", ["none", "one", "two"])] {
            let text = Files.names(folder.file(sink)).filter { !$0.hasPrefix(".") }
                .map { Files.text(folder.file("\(sink)/\($0)")) }.joined()
            #expect(["none", "one", "two"].filter { text.contains("\"value\":\"\($0)\"") } == devices, "\(text)")
        }
    }

    /// `kymo map --explain` says which tags a rule has added.
    @Test func mapExplains() throws {
        let file = folder.write("rules.yaml", Self.rules)
        func explain(_ members: String) throws -> Kymo.Finished {
            try Kymo.run(
                ["map", "--explain", "--rules", file] + mapping, input: .bytes(Readings.ndjson([line("w", 1, members)]))
            )
        }
        let shown = try explain(#","arm":"s1","labels":["x","y"]"#)
        #expect(shown.end == .exit(0) && shown.text.contains("urn:study"), "\(shown.text) \(shown.error)")
        for part in ["rule arm: rewrite: arm = '-', tag urn:study|s1", "rule labels: rewrite: tag x, tag y"] {
            #expect(shown.error.contains(part), "\(shown.error)")
        }
        #expect(try explain(#","arm":"s1""#).error.contains("rule labels: rewrite: no tags"))
        let refused = try explain(#","arm":"a  b""#)
        #expect(refused.end == .exit(65), "\(refused.error)")
        #expect(refused.text.contains("rule arm: tag from values.arm: not a FHIR code"), "\(refused.text)")
    }
}
