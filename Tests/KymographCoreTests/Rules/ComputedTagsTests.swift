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
        // As kymo eval shows it.
        ("divide(`1`, `0.0`)", nil, ["Infinity"]),
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
        ("values.a", "expected text, found a number"), ("values", "expected text, found an object"),
        ("`true`", "expected text, found a boolean"),
        ("[values.arm, values.a]", "expected texts in the array, found a number"),
        ("[[values.arm]]", "expected texts in the array, found an array"),
        ("[values.arm, values]", "expected texts in the array, found an object"),
        ("[values.arm, `false`]", "expected texts in the array, found a boolean"),
        ("abs(values.arm)", "Error: invalid-type, function abs"),
    ])
    func otherKinds(_ expression: String, _ reason: String) throws {
        try checkRefused("x", expression, reason)
    }

    /// So does a text that is no tag; the reason does not repeat what the sender wrote.
    @Test(arguments: [
        ("urn:study|s1", "the text has a '|', and only 'system' of the rule may say the system"),
        ("|", "the text has a '|', and only 'system' of the rule may say the system"),
        ("a  b", "not a FHIR code: white space other than single blanks"),
        ("a\u{A0}b", "not a FHIR code: white space other than single blanks"),
        ("a\tb", "the text has a control character"), ("a\nb", "the text has a control character"),
        ("a\u{7F}b", "the text has a control character"), ("\u{85}a\u{9B}b", "the text has a control character"),
        (String(repeating: "x", count: 201), "the tag is longer than 200 bytes"),
        ("a\u{FFFD}b", "the text is not valid Unicode"), ("\u{FFFD}", "the text is not valid Unicode"),
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
            #expect(
                found.decision.detail.hasSuffix(
                    "the rule adds more than 8 tags: select some in the expression, or use more rules"),
                "\(found.decision.detail)")
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

    /// Two labels with bytes, or a surrogate, that are no text would be one tag.
    @Test func noText() throws {
        var texts = ["`\"a\\ud800b\"`", "`\"a\\udc00\"`", "`[\"x\", \"\\ud83d\"]`"].map { ($0, [UInt8]()) }
        texts.append(("values.arm", Array("a\u{FFFD}".utf8)))
        for (expression, bytes) in texts {
            var rule = ReadingRule(name: "r")
            rule.action = .rewrite
            rule.computedTags = [try tags(expression)]
            let (decision, found) = decide([rule], bytes)
            #expect(decision.refusal == .ruleFailed && found == [], "\(expression) \(bytes): \(found)")
            #expect(decision.detail.contains("the text is not valid Unicode"), "\(decision.detail)")
        }
    }

    /// What `rules` make of a reading from a source with the tag `own`, whose value `arm` has these bytes.
    private func decide(
        _ rules: [ReadingRule], _ bytes: [UInt8] = [], device: String = "w", decider: RuleDecider? = nil
    ) -> (decision: RuleDecider.Decision, tags: [String]) {
        let decider =
            decider ?? RuleDecider(rules, sources: [.init("s", tags: ReadingTags.list(["own"]))], types: Self.types)
        var reading = Measurement(instant: Instant(seconds: 0), received: Instant(seconds: 0))
        var payload = ByteWriter()
        if !bytes.isEmpty { bytes.withByteView { ValueRecord.append(slot: 1, text: $0, to: &payload) } }
        reading.payloadBytes = payload.count
        let key = PaddedBytes(copying: SeriesKey.encode(SeriesIdentity(type: 0, device: Array(device.utf8))))
        let decision = decider.decide(&reading, payload.view, key: key.view, source: 0)
        return (decision, decision.isRewritten ? ReadingTags.texts(ReadingTags.list(in: decider.payload)) : [])
    }

    private static func long(_ count: Int, _ number: Int, _ place: Int) -> String {
        "\(number)-\(place)-" + String(repeating: "x", count: count - 4)
    }

    /// A rule with eight tags of `bytes` bytes each, its own, as texts of an expression or as constants.
    private func rule(_ number: Int, bytes: Int, isComputed: Bool = true) throws -> ReadingRule {
        var rule = ReadingRule(name: "r\(number)")
        rule.action = .rewrite
        let texts = (0..<8).map { Self.long(bytes, number, $0) }
        if !isComputed { rule.tags = texts }
        if isComputed { rule.computedTags = [try tags("[\(texts.map { "'\($0)'" }.joined(separator: ", "))]")] }
        return rule
    }

    /// Those by expressions take half of the room of a reading, of all rules together, each with its end.
    @Test func tooManyOfAllRules() throws {
        let fitting = try [rule(0, bytes: 127), rule(1, bytes: 127)]
        let found = decide(fitting)
        #expect(found.decision.refusal == nil && found.tags.count == 17, "\(found.decision.detail)")
        let longer = try decide([rule(0, bytes: 127), rule(1, bytes: 128)])
        #expect(longer.decision.refusal == .ruleFailed && longer.decision.rule == "r1")
        #expect(longer.decision.detail.contains(": the reading has more than 2048 bytes of such tags: select some"))
        // The next reading begins with none.
        let decider = RuleDecider(fitting, sources: [.init("s")], types: Self.types)
        for _ in 0..<3 {
            let again = decide(fitting, decider: decider)
            #expect(again.decision.refusal == nil && again.tags.count == 16, "\(again.decision.detail)")
        }
    }

    /// Catches: senders who leave no room for the tags of an operator.
    @Test func constantsHaveRoom() throws {
        let computed = try [rule(0, bytes: 127), rule(1, bytes: 127)]
        let constants = try [rule(2, bytes: 127, isComputed: false), rule(3, bytes: 126, isComputed: false)]
        for rules in [computed + constants, constants + computed] {
            let found = decide(rules)
            #expect(found.decision.refusal == nil && found.tags.count == 33, "\(found.decision.detail)")
        }
        let many = try [rule(2, bytes: 198, isComputed: false), rule(3, bytes: 198, isComputed: false)]
        let more = decide(many + computed)
        #expect(more.decision.refusal == .ruleFailed && more.decision.detail == "it has more tags than it can hold")
    }

    /// Readings are counted by their tags, however many lists of tags there are.
    @Test func countedByTag() throws {
        var rule = ReadingRule(name: "r")
        rule.action = .rewrite
        rule.computedTags = [try tags("deviceId")]
        let decider = RuleDecider([rule], sources: [.init("s")], types: Self.types)
        for number in 0..<300 {
            #expect(decide([], device: "w\(number % 100)", decider: decider).decision.refusal == nil)
        }
        let (rewritten, tagged) = decider.takeCounts()
        // Each of 100 comes when 99 others have: too late to be found among the last.
        #expect(rewritten.map(\.count) == [300] && tagged.count == 300)
        var counts: [[UInt8]: Int] = [:]
        for (list, count) in tagged { counts[list, default: 0] += count }
        #expect(counts.count == 100 && counts.values.allSatisfy { $0 == 3 })
        // Of few, each is compared with those before, and has one count.
        for number in 0..<96 { _ = decide([], device: "w\(number % 32)", decider: decider) }
        let few = decider.takeCounts().tagged
        #expect(few.count == 32 && few.allSatisfy { $0.count == 3 })
    }
}
