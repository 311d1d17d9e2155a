/// What the readings of a window say about one value of a template.
struct FieldFacts: BitwiseCopyable {
    /// Readings that have the value.
    var count = 0
    /// The last of them.
    var last = -1
    /// The readings with the least and the greatest number; the earliest among equals.
    var least = -1
    var greatest = -1
    /// The number to write: the latest, the mean or the sum.
    var result = Decimal64(mantissa: 0)

    /// Whether `condition` holds.
    @inline(__always)
    func satisfies(_ condition: ProgramStep.Condition) -> Bool {
        switch condition {
        case .always: true
        case .present: count > 0
        case .absent: count == 0
        case .several: count > 1
        }
    }

    /// Looks through `content` for `field`; nil when a sum or mean cannot be written exactly.
    static func survey(_ field: ProgramField, _ content: borrowing WindowContent) -> FieldFacts? {
        guard field.slot >= 0 else { return FieldFacts() }
        switch field.kind {
        case .text, .presence: return latest(content, Int(field.slot), orText: true)
        case .number, .series: return latest(content, Int(field.slot), orText: false)
        case .statistics: return statistics(content, field)
        }
    }

    private static func latest(_ content: borrowing WindowContent, _ slot: Int, orText: Bool) -> FieldFacts {
        var facts = FieldFacts()
        var index = content.readings.count - 1
        while index >= 0 {
            let isText = orText && content.text(index, slot: slot) != nil
            let number = isText ? nil : content.number(index, slot: slot)
            if isText || number != nil {
                facts.result = number ?? facts.result
                facts.count = 1
                facts.last = index
                return facts
            }
            index -= 1
        }
        return facts
    }

    private static func statistics(_ content: borrowing WindowContent, _ field: ProgramField) -> FieldFacts? {
        var facts = FieldFacts()
        var sum = ExactSum()
        var least = Decimal64(mantissa: 0)
        var greatest = least
        for index in 0..<content.readings.count {
            guard let number = content.number(index, slot: Int(field.slot)) else { continue }
            sum.add(number)
            if facts.count == 0 || number.isLess(than: least) {
                least = number
                facts.least = index
            }
            if facts.count == 0 || greatest.isLess(than: number) {
                greatest = number
                facts.greatest = index
            }
            facts.count += 1
            facts.last = index
        }
        guard facts.count > 0 else { return facts }
        // One reading is not a statistic: it keeps its own digits.
        let result = facts.count == 1 ? least : field.aggregate == .mean ? sum.mean(of: facts.count) : sum.total
        guard let result else { return nil }
        facts.result = result
        return facts
    }
}
