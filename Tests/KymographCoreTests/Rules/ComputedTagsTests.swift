import KymographCore
import KymographTemplates
import Testing

/// Tags that a rule makes of what a reading says.
@Suite struct ComputedTagsTests {
    private static let types = [
        MeasurementType(
            name: "t", valueNames: ["a", "arm", "site", "long"], grouping: .instance,
            isNumeric: [true, false, false, false])
    ]

    /// What a rule makes of a reading of the device `w` from the source `s`, whose values are `a`, 70, and `texts`.
    private func decide(
        _ texts: [String: String], _ computed: [ComputedTags], tags: [String] = [], changes: [RuleChange] = []
    ) -> (decision: RuleDecider.Decision, tags: [String], decider: RuleDecider) {
        var rule = ReadingRule(name: "r")
        rule.action = .rewrite
        (rule.tags, rule.computedTags, rule.changes) = (tags, computed, changes)
        let decider = RuleDecider([rule], sources: [.init("s")], types: Self.types)
        decider.isTraced = true
        var reading = Measurement(instant: Instant(seconds: 0), received: Instant(seconds: 0))
        reading.setInline(0, Decimal64(mantissa: 70))
        var payload = ByteWriter()
        for (slot, name) in Self.types[0].valueNames.enumerated() {
            guard let text = texts[name] else { continue }
            Array(text.utf8).withByteView { ValueRecord.append(slot: slot, text: $0, to: &payload) }
        }
        reading.payloadBytes = payload.count
        let key = PaddedBytes(copying: SeriesKey.encode(SeriesIdentity(type: 0, device: Array("w".utf8))))
        let decision = decider.decide(&reading, payload.view, key: key.view, source: 0)
        let result = decision.isRewritten ? decider.payload : payload.view
        return (decision, ReadingTags.texts(ReadingTags.list(in: result)), decider)
    }

    private func tags(_ expression: String, system: String? = nil) throws -> ComputedTags {
        ComputedTags(try RuleExpression(expression), system: system)
    }

    @Test(arguments: [
        ("values.arm", nil, ["s1"]), ("values.arm", "urn:study", ["urn:study|s1"]),
        ("values.site", nil, ["größe \"1\" \\ 2"]),
        ("[values.arm, values.site]", nil, ["größe \"1\" \\ 2", "s1"]),
        ("[values.arm, values.none, '', ' ']", nil, ["s1"]),
        ("[values.arm, deviceId, values.arm]", "urn:x", ["urn:x|s1", "urn:x|w"]),
        ("`[ \"a\" , null,\"b\"]`", nil, ["a", "b"]), ("values.none", nil, []), ("values.long", nil, []),
        ("''", nil, []), ("'  '", nil, []), ("`[]`", nil, []), ("`null`", "urn:x", []),
        ("values(values)[?starts_with(to_string(@), ' ')]", nil, ["s1"]),
    ])
    func given(_ expression: String, _ system: String?, _ expected: [String]) throws {
        let texts = ["arm": " \t\u{A0}s1\r\n", "site": "größe \"1\" \\ 2", "long": " \n\t"]
        let found = decide(texts, [try tags(expression, system: system)])
        #expect(found.decision.refusal == nil, "\(found.decision.detail)")
        #expect(found.tags == expected)
        #expect(found.decision.isRewritten == !expected.isEmpty)
        #expect(found.decider.takeCounts().rewritten.map(\.count) == (expected.isEmpty ? [] : [1]))
        let shown = found.decider.takeSteps().map(\.text)
        if expected.isEmpty {
            #expect(shown == ["rewrite: no tags"])
        } else {
            #expect(shown.count == 1 && expected.allSatisfy { shown[0].contains("tag \($0)") }, "\(shown)")
        }
    }

    private func checkRefused(_ text: String, _ expression: String, _ reason: String) throws {
        for system in [nil, "urn:study"] {
            let found = decide(["arm": "s1", "site": text], [try tags(expression, system: system)], tags: ["own"])
            #expect(found.decision.refusal == .ruleFailed && found.decision.rule == "r")
            #expect(found.decision.detail.hasPrefix("tag from \(expression): \(reason)"), "\(found.decision.detail)")
            #expect(found.tags == [] && found.decider.takeCounts().rewritten.isEmpty)
        }
    }

    /// What is no text rejects the reading, and the letter says which expression and why.
    @Test(arguments: [
        ("values.a", "it gives a number, and a tag is a text"), ("values", "it gives an object, and a tag is a text"),
        ("`true`", "it gives a boolean, and a tag is a text"),
        ("[values.arm, values.a]", "it gives an array with a number, and a tag is a text"),
        ("[[values.arm]]", "it gives an array with an array, and a tag is a text"),
        ("[values.arm, values]", "it gives an array with an object, and a tag is a text"),
        ("[values.arm, `false`]", "it gives an array with a boolean, and a tag is a text"),
        ("abs(values.arm)", "Error: invalid-type, function abs"),
    ])
    func otherKinds(_ expression: String, _ reason: String) throws {
        try checkRefused("x", expression, reason)
    }

    /// So does a text that is no tag; the reason does not repeat what the sender wrote.
    @Test(arguments: [
        ("urn:study|s1", "the text has a '|', and only 'system' of the rule may say the system"),
        ("|", "the text has a '|', and only 'system' of the rule may say the system"),
        ("a  b", "the text is no FHIR code: it has white space other than single blanks"),
        ("a\u{A0}b", "the text is no FHIR code: it has white space other than single blanks"),
        ("a\tb", "the text has a control character"), ("a\nb", "the text has a control character"),
        ("a\u{7F}b", "the text has a control character"), ("\u{85}a\u{9B}b", "the text has a control character"),
        (String(repeating: "x", count: 201), "the tag is longer than 200 bytes"),
    ])
    func otherTexts(_ text: String, _ reason: String) throws {
        try checkRefused(text, "values.site", reason)
        try checkRefused(text, "[values.arm, values.site]", reason)
    }

    /// Its system is a part of a tag's bytes: 200 are the last that are taken.
    @Test func longest() throws {
        let long = String(repeating: "x", count: 195)
        #expect(decide(["long": long], [try tags("values.long", system: "urn:")]).tags == ["urn:|\(long)"])
        let longer = decide(["long": long + "x"], [try tags("values.long", system: "urn:")])
        #expect(longer.decision.refusal == .ruleFailed)
    }

    /// A rule adds eight at most, constants included, each counted once.
    @Test func most() throws {
        let constants = (0..<5).map { "c\($0)" }
        let three = try tags("`[\"x\", \"y\", \"x\", \"c0\", \"z\", \"c4\"]`")
        #expect(decide([:], [three], tags: constants).tags == constants + ["x", "y", "z"])
        for more in [[try tags("`[\"x\", \"y\", \"z\", \"v\"]`")], [three, try tags("deviceId")]] {
            let found = decide([:], more, tags: constants)
            #expect(found.decision.refusal == .ruleFailed)
            #expect(found.decision.detail.hasSuffix("the rule adds more than 8 tags"), "\(found.decision.detail)")
        }
        let many = decide([:], [try tags("`[\((0..<1_000).map { "\"\($0)\"" }.joined(separator: ","))]`")])
        #expect(many.decision.refusal == .ruleFailed)
    }

    /// The expressions of a rule look at the reading as it was before: a label can become a tag and go as a value.
    @Test func besideValues() throws {
        let changes = [RuleChange(name: "arm", content: .constant(.text(Array("-".utf8))))]
        let found = decide(["arm": "s1"], [try tags("values.arm")], tags: ["own"], changes: changes)
        #expect(found.tags == ["own", "s1"])
        let payload = found.decider.payload
        let arm = try #require(ValueRecord.find(1, in: payload))
        #expect(payload[arm.bytes].string == "-")
        #expect(found.decider.takeSteps().map(\.text) == ["rewrite: arm = '-', tag own, tag s1"])
    }

    /// Tags of all rules together are bounded as constants are.
    @Test func tooManyOfAllRules() throws {
        let rules = try (0..<4).map { number in
            var rule = ReadingRule(name: "r\(number)")
            rule.action = .rewrite
            let long = String(repeating: "x", count: 190)
            rule.computedTags = [try tags("[\((0..<8).map { "'\(number)-\($0)-\(long)'" }.joined(separator: ", "))]")]
            return rule
        }
        let decider = RuleDecider(rules, sources: [.init("s")], types: Self.types)
        var reading = Measurement(instant: Instant(seconds: 0), received: Instant(seconds: 0))
        let key = PaddedBytes(copying: SeriesKey.encode(SeriesIdentity(type: 0, device: Array("w".utf8))))
        let decision = decider.decide(&reading, ByteView(""), key: key.view, source: 0)
        #expect(decision.refusal == .ruleFailed && decision.rule == "r2")
        #expect(decision.detail == "it has more tags than it can hold")
    }

    /// Readings are counted by their tags, however many lists of tags there are.
    @Test func countedByTag() throws {
        var rule = ReadingRule(name: "r")
        rule.action = .rewrite
        rule.computedTags = [try tags("deviceId")]
        let decider = RuleDecider([rule], sources: [.init("s")], types: Self.types)
        for number in 0..<300 {
            var reading = Measurement(instant: Instant(seconds: 0), received: Instant(seconds: 0))
            let device = Array("w\(number % 100)".utf8)
            let key = PaddedBytes(copying: SeriesKey.encode(SeriesIdentity(type: 0, device: device)))
            #expect(decider.decide(&reading, ByteView(""), key: key.view, source: 0).refusal == nil)
        }
        let (rewritten, tagged) = decider.takeCounts()
        #expect(rewritten.map(\.count) == [300])
        var counts: [[UInt8]: Int] = [:]
        for (list, count) in tagged { counts[list, default: 0] += count }
        #expect(counts.count == 100 && counts.values.allSatisfy { $0 == 3 })
    }
}
