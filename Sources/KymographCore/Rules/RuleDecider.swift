/// Decides by rules what becomes of readings. Of one thread.
package struct RuleDecider {
    /// A rule as it is for the sources and types of a lane.
    private struct Compiled {
        var rule: ReadingRule
        /// By the numbers of sources.
        var sources: [Bool]
        /// By the numbers of types, the slot of the value that the rule is about; nil where it is not about the type.
        var slots: [Int?]
    }

    private let rules: [Compiled]

    /// Without rules.
    package init() { rules = [] }

    /// Decides by `rules`, in their order, for these sources and types.
    package init(_ rules: [ReadingRule], sources: [String], types: [MeasurementType]) {
        self.rules = rules.map { rule in
            Compiled(
                rule: rule, sources: sources.map { RuleDecider.matches(rule.sources, $0) },
                slots: types.map { RuleDecider.slot(rule, $0) })
        }
    }

    /// Whether there are any.
    package var isOn: Bool { !rules.isEmpty }

    private static func matches(_ patterns: [String], _ name: String) -> Bool {
        patterns.isEmpty || patterns.contains { NamePattern($0).matches(name.utf8) }
    }

    /// 0 for a rule about no value.
    private static func slot(_ rule: ReadingRule, _ type: MeasurementType) -> Int? {
        guard matches(rule.types, type.name) else { return nil }
        guard let value = rule.value else { return 0 }
        return type.valueNames.firstIndex(of: value)
    }

    /// The first rule that is about a reading of the series `key` (a ``SeriesKey``) from source `source`; nil when none
    /// is.
    package func rule(for reading: Measurement, _ payload: ByteView, key: ByteView, source: Int) -> ReadingRule? {
        let type = SeriesKey.type(of: key)
        for compiled in rules {
            guard compiled.sources[source], let slot = compiled.slots[type],
                RuleDecider.isAbout(compiled.rule, key), RuleDecider.isAbout(compiled.rule, reading, payload, slot)
            else { continue }
            return compiled.rule
        }
        return nil
    }

    private static func isAbout(_ rule: ReadingRule, _ key: ByteView) -> Bool {
        if !rule.devices.isEmpty, !rule.devices.contains(where: { $0.matches(SeriesKey.device(of: key)) }) {
            return false
        }
        guard !rule.patients.isEmpty else { return true }
        guard let patient = SeriesKey.patient(of: key) else { return false }
        return rule.patients.contains { $0.matches(patient) }
    }

    private static func isAbout(_ rule: ReadingRule, _ reading: Measurement, _ payload: ByteView, _ slot: Int) -> Bool {
        guard rule.below != nil || rule.above != nil else { return true }
        guard let number = number(in: slot, reading, payload) else { return false }
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
