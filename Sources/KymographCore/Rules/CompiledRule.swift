/// A rule as it is for the sources and types of a lane. A class, so that asking it copies nothing. Of one thread.
final class CompiledRule {
    /// A change of one type's value.
    struct Change {
        var slot: Int
        var isNumeric: Bool
        var content: Content

        enum Content {
            case constant(RuleValue)
            /// What the expression at this place of the evaluator gives.
            case expression(Int)
        }
    }

    let rule: ReadingRule
    /// By the numbers of sources.
    private let sources: [Bool]
    /// By the numbers of types, the slot of the value that the rule is about; -1 where it is not about the type.
    private let slots: [Int]
    /// By the numbers of types.
    private let changes: [[Change]]
    private let hasBounds: Bool
    /// The place of its condition in the evaluator; nil for none.
    let condition: Int?
    /// What it adds to all readings (``ReadingTags``).
    let tags: [UInt8]
    /// What it adds by what each says, with the places of the expressions in the evaluator.
    let computedTags: [(tags: ComputedTags, place: Int)]
    /// Readings that it has rewritten since they were counted last.
    var rewritten = 0

    /// `rule`, whose expressions are added to `expressions`.
    init(_ rule: ReadingRule, sources: [String], types: [MeasurementType], _ expressions: inout [RuleExpression]) {
        self.rule = rule
        self.sources = sources.map { CompiledRule.matches(rule.sources, $0) }
        slots = types.map { CompiledRule.slot(rule, $0) }
        hasBounds = rule.below != nil || rule.above != nil
        tags = ReadingTags.list(rule.tags)
        condition = rule.condition.map { CompiledRule.place(of: $0, in: &expressions) }
        computedTags = rule.computedTags.map { ($0, CompiledRule.place(of: $0.expression, in: &expressions)) }
        let contents = rule.changes.map { CompiledRule.content($0, &expressions) }
        changes = zip(types, slots).map { type, slot in
            slot < 0 ? [] : CompiledRule.changes(rule, contents, type)
        }
    }

    private static func place(of expression: RuleExpression, in expressions: inout [RuleExpression]) -> Int {
        expressions.append(expression)
        return expressions.count - 1
    }

    private static func content(_ change: RuleChange, _ expressions: inout [RuleExpression]) -> Change.Content {
        switch change.content {
        case .constant(let value): .constant(value)
        case .expression(let expression): .expression(place(of: expression, in: &expressions))
        }
    }

    private static func changes(
        _ rule: ReadingRule, _ contents: [Change.Content], _ type: MeasurementType
    ) -> [Change] {
        zip(rule.changes, contents).compactMap { change, content in
            type.valueSlot(change.name).map { slot in
                Change(
                    slot: slot, isNumeric: type.isNumeric.indices.contains(slot) && type.isNumeric[slot],
                    content: content)
            }
        }
    }

    private static func matches(_ patterns: [String], _ name: String) -> Bool {
        patterns.isEmpty || patterns.contains { NamePattern($0).matches(name.utf8) }
    }

    /// 0 for a rule about no value. A rule that sets values is about types that have them all.
    private static func slot(_ rule: ReadingRule, _ type: MeasurementType) -> Int {
        guard matches(rule.types, type.name), rule.changes.allSatisfy({ type.valueSlot($0.name) != nil }) else {
            return -1
        }
        guard let value = rule.value else { return 0 }
        return type.valueSlot(value) ?? -1
    }

    /// What it sets in readings of type number `type`.
    func changes(of type: Int) -> [Change] { changes[type] }

    /// Whether it may be about a reading of the series `key` (a ``SeriesKey``) from source `source`.
    @inline(__always)
    func mayBeAbout(_ key: ByteView, source: Int) -> Bool {
        guard sources[source], slots[SeriesKey.type(of: key)] >= 0 else { return false }
        if !rule.devices.isEmpty, !CompiledRule.matches(rule.devices, SeriesKey.device(of: key)) { return false }
        guard !rule.patients.isEmpty else { return true }
        guard let patient = SeriesKey.patient(of: key) else { return false }
        return CompiledRule.matches(rule.patients, patient)
    }

    private static func matches(_ patterns: [NamePattern], _ name: ByteView) -> Bool {
        for index in patterns.indices where patterns[index].matches(name) { return true }
        return false
    }

    /// Whether the number of a reading that it may be about is within its bounds.
    func isWithinBounds(_ reading: Measurement, _ payload: ByteView, key: ByteView) -> Bool {
        guard hasBounds else { return true }
        let slot = slots[SeriesKey.type(of: key)]
        guard let number = CompiledRule.number(in: slot, reading, payload) else { return false }
        if let below = rule.below, !number.isLess(than: below) { return false }
        if let above = rule.above, !above.isLess(than: number) { return false }
        return true
    }

    /// The number in `slot`; nil when there is none, or a text.
    private static func number(in slot: Int, _ reading: Measurement, _ payload: ByteView) -> Decimal64? {
        if slot < Measurement.inlineValues, let number = reading.inline(slot) { return number }
        guard let record = ValueRecord.find(slot, in: payload), record.isNumber else { return nil }
        return record.number(in: payload)
    }
}
