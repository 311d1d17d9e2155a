/// The name of a value of the device template, and where it is written.
package struct ValueName: Sendable {
    package var text: String
    package var position: SourcePosition

    package init(text: String, position: SourcePosition) {
        (self.text, self.position) = (text, position)
    }
}

/// What a typed value is, besides the kinds of the reference system.
package enum ValueForm: String, Sendable, CaseIterable {
    case integer = "Integer"
    case boolean = "Boolean"
    case dateTime = "DateTime"
    case time = "Time"
    case period = "Period"
    case range = "Range"
    case ratio = "Ratio"

    /// The members that name its two values; nil for a form of one value, which is named by `valueName`.
    package var pair: (first: String, second: String)? {
        switch self {
        case .period: ("start", "end")
        case .range: ("low", "high")
        case .ratio: ("numerator", "denominator")
        case .integer, .boolean, .dateTime, .time: nil
        }
    }

    /// Whether it is made of numbers.
    package var isNumeric: Bool {
        switch self {
        case .integer, .range, .ratio: true
        case .boolean, .dateTime, .time, .period: false
        }
    }
}

/// A value of one of the further types.
package struct TypedRule: Sendable {
    package var form: ValueForm
    /// The unit of a Range, or of a Ratio's numerator.
    package var unit = UnitRule.none
    /// The unit of a Ratio's denominator.
    package var secondUnit = UnitRule.none
    /// The values of a pair; at least one for Period and Range, both for Ratio.
    package var first: ValueName?
    package var second: ValueName?

    package init(form: ValueForm, unit: UnitRule = UnitRule.none) {
        (self.form, self.unit) = (form, unit)
    }
}

extension UnitRule {
    /// No unit.
    package static let none = UnitRule(unit: nil, system: nil, code: nil)
}

/// Members that values of several types can have.
package struct ValueExtras: Sendable {
    /// Texts that stand for no value, and why it is absent.
    package var absent: [AbsentRule] = []
    /// Whether the reading's text may begin with a comparator.
    package var readsComparator = false
    /// The value that holds the comparator.
    package var comparatorName: ValueName?
    package var interpretation: [InterpretationRule] = []
    package var referenceRanges: [ReferenceRangeRule] = []
    /// Shares of a window's readings, of Statistics only.
    package var shares: [ShareRule] = []
    /// Nanoseconds that a reading stands for at most, where shares are of the time.
    package var holdTime: Int64?

    package init() {
    }

    /// Whether the value must reach the encoder as text although it is a number.
    package var readsText: Bool { !absent.isEmpty || readsComparator }
}

/// A text that stands for no value.
package struct AbsentRule: Sendable {
    /// The text, or nil for every other text that cannot be used.
    package var text: String?
    /// A code of http://terminology.hl7.org/CodeSystem/data-absent-reason.
    package var code: String

    package init(text: String? = nil, code: String) {
        (self.text, self.code) = (text, code)
    }
}

/// What a number within bounds means.
package struct InterpretationRule: Sendable {
    package var bounds: NumberBounds
    package var coding: Coding

    package init(bounds: NumberBounds, coding: Coding) {
        (self.bounds, self.coding) = (bounds, coding)
    }
}

/// What is usual.
package struct ReferenceRangeRule: Sendable {
    package var low: String?
    package var high: String?
    package var text: String?
    package var unit: UnitRule

    package init(low: String? = nil, high: String? = nil, text: String? = nil, unit: UnitRule) {
        (self.low, self.high, self.text, self.unit) = (low, high, text, unit)
    }
}

/// A share of a window's readings, or of its time: those within bounds.
package struct ShareRule: Sendable {
    package var code: CodeableConcept
    package var bounds: NumberBounds

    package init(code: CodeableConcept, bounds: NumberBounds) {
        (self.code, self.bounds) = (code, bounds)
    }
}

/// Which numbers are meant.
package struct NumberBounds: BitwiseCopyable, Sendable {
    package var lower: Decimal64?
    package var upper: Decimal64?
    var includesLower = false
    var includesUpper = false

    package init(
        lower: Decimal64? = nil, upper: Decimal64? = nil, includesLower: Bool = false, includesUpper: Bool = false
    ) {
        (self.lower, self.upper, self.includesLower) = (lower, upper, includesLower)
        self.includesUpper = includesUpper
    }

    /// Whether `number` is within the bounds.
    func contains(_ number: Decimal64) -> Bool {
        if let lower {
            let isWithin = includesLower ? !number.isLess(than: lower) : lower.isLess(than: number)
            guard isWithin else { return false }
        }
        guard let upper else { return true }
        return includesUpper ? !upper.isLess(than: number) : number.isLess(than: upper)
    }

    /// Whether there is a number within them.
    package var isPossible: Bool {
        guard let lower, let upper else { return true }
        return lower.isLess(than: upper) || (includesLower && includesUpper && lower.isEqualInValue(to: upper))
    }
}

extension ValueRule {
    /// The values of the device template that it reads.
    package var uses: [FHIRTemplate.ValueUse] {
        var found: [FHIRTemplate.ValueUse] = []
        if case .typed(let rule) = kind, rule.form.pair != nil {
            found = [rule.first, rule.second].compactMap { $0 }.map { use($0) }
        } else if case .sampledData(_, let rule) = kind, let waveform = rule.waveform {
            found = waveform.signals.map { use($0, takesSamples: true) }
            found += [waveform.rate, waveform.period].compactMap { $0 }.map {
                FHIRTemplate.ValueUse(name: $0.text, isNumeric: true, position: $0.position)
            }
        } else {
            found = [use(ValueName(text: name, position: namePosition))]
        }
        guard let comparator = extras.comparatorName else { return found }
        return found + [FHIRTemplate.ValueUse(name: comparator.text, isNumeric: false, position: comparator.position)]
    }

    private func use(_ name: ValueName, takesSamples: Bool = false) -> FHIRTemplate.ValueUse {
        FHIRTemplate.ValueUse(
            name: name.text, isNumeric: kind.isNumeric && !extras.readsText, takesSamples: takesSamples,
            position: name.position)
    }
}
