import KymographCore
import KymographTemplates
import Testing

/// What rules make of the values of a reading.
@Suite struct RewritingTests {
    private static let types = [
        MeasurementType(
            name: "t", valueNames: ["a", "note", "c", "d", "e", "f"], grouping: .instance,
            isNumeric: [true, false, true, true, true, true])
    ]

    private func decide(
        _ changes: [(String, String)], tags: [String] = [], when: String? = nil
    ) throws -> (RuleDecider.Decision, [String]) {
        var rule = ReadingRule(name: "r")
        rule.action = .rewrite
        rule.tags = tags
        rule.condition = try when.map { try RuleExpression($0) }
        rule.changes = try changes.map { RuleChange(name: $0, content: .expression(try RuleExpression($1))) }
        let decider = RuleDecider([rule], sources: [.init("s", tags: ReadingTags.list(["own"]))], types: Self.types)
        var reading = Measurement(instant: Instant(seconds: 0), received: Instant(seconds: 0))
        reading.setInline(0, Decimal64(mantissa: 70))
        var payload = ByteWriter()
        Array("calm".utf8).withByteView { ValueRecord.append(slot: 1, text: $0, to: &payload) }
        ValueRecord.append(slot: 4, number: Decimal64(mantissa: 5), to: &payload)
        reading.payloadBytes = payload.count
        let key = PaddedBytes(copying: SeriesKey.encode(SeriesIdentity(type: 0, device: Array("w".utf8))))
        let decision = decider.decide(&reading, payload.view, key: key.view, source: 0)
        let result = decision.isRewritten ? decider.payload : payload.view
        #expect(result.count == reading.payloadBytes || decision.refusal != nil)
        let values = Self.types[0].valueNames.enumerated().compactMap { slot, name in
            MeasurementJSON.text(of: slot, reading, result).map { "\(name)=\($0)" }
        }
        return (decision, values + ReadingTags.texts(ReadingTags.list(in: result)))
    }

    @Test func valuesOfAllPlaces() throws {
        let (decision, values) = try decide(
            [
                ("a", "add(values.a, `1`)"), ("note", "join('-', [values.note, type, source])"), ("d", "values.e"),
                ("e", "`2.50`"), ("f", "length(deviceId)"),
            ], tags: ["x"], when: "contains(tags, 'own') && values.note == 'calm'")
        #expect(decision.refusal == nil && decision.isRewritten)
        #expect(values == ["a=71", "note=calm-t-s", "d=5", "e=2.50", "f=1", "own", "x"])
    }

    /// All of a rule, or the reading is not taken.
    @Test(arguments: [
        ("a", "values.note", "a: it must be a number, and is a text"), ("a", "missing", "a: it gives no text"),
        ("note", "' '", "note: it is blank"), ("note", "`true`", "note: it gives no text"),
        ("a", "divide(`1`, `0`)", "a: Error: divide by zero"), ("a", "`1e300`", "a: it gives no text and no number"),
    ])
    func failures(_ name: String, _ expression: String, _ message: String) throws {
        let (decision, _) = try decide([(name, expression)])
        #expect(decision.refusal == .ruleFailed && decision.rule == "r")
        #expect(decision.detail.hasPrefix(message), "\(decision.detail)")
    }

    @Test func conditionsThatFail() throws {
        let (decision, _) = try decide([("a", "`1`")], when: "abs(deviceId)")
        #expect(decision.refusal == .ruleFailed && decision.detail.contains("function abs"), "\(decision.detail)")
        for (condition, isTrue) in [
            ("`0`", true), ("''", false), ("`[]`", false), ("`{}`", false), ("`false`", false), ("missing", false),
            ("values", true),
        ] {
            let (_, values) = try decide([("a", "`1`")], when: condition)
            #expect(values.contains("a=1") == isTrue, "\(condition)")
        }
    }

    /// A reading that would get more tags than there may be is not taken, and the letter says so.
    @Test func tooManyTags() {
        let rules = (0..<64).map { number in
            var rule = ReadingRule(name: "r\(number)")
            rule.action = .rewrite
            rule.tags = (0..<8).map { "\(100 + number)-\($0)-" + String(repeating: "x", count: 194) }
            return rule
        }
        let decider = RuleDecider(rules, sources: [.init("s")], types: Self.types)
        var reading = Measurement(instant: Instant(seconds: 0), received: Instant(seconds: 0))
        let key = PaddedBytes(copying: SeriesKey.encode(SeriesIdentity(type: 0, device: Array("w".utf8))))
        let decision = decider.decide(&reading, ByteView(""), key: key.view, source: 0)
        #expect(decision.refusal == .ruleFailed && decision.rule == "r2")
        #expect(decision.detail == "it has more tags than it can hold")
    }
}
