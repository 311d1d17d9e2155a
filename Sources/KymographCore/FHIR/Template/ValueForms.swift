/// The name of a value of the device template, and where it is written.
struct ValueName: Sendable {
    var text: String
    var position: SourcePosition
}

/// What a typed value is, besides the kinds of the reference system.
enum ValueForm: String, Sendable, CaseIterable {
    case integer = "Integer"
    case boolean = "Boolean"
    case dateTime = "DateTime"
    case time = "Time"
    case period = "Period"
    case range = "Range"
    case ratio = "Ratio"

    /// The members that name its two values; nil for a form of one value, which is named by `valueName`.
    var pair: (first: String, second: String)? {
        switch self {
        case .period: ("start", "end")
        case .range: ("low", "high")
        case .ratio: ("numerator", "denominator")
        case .integer, .boolean, .dateTime, .time: nil
        }
    }

    /// Whether it is made of numbers.
    var isNumeric: Bool {
        switch self {
        case .integer, .range, .ratio: true
        case .boolean, .dateTime, .time, .period: false
        }
    }
}

/// A value of one of the further types.
struct TypedRule: Sendable {
    var form: ValueForm
    /// The unit of a Range, or of a Ratio's numerator.
    var unit = UnitRule.none
    /// The unit of a Ratio's denominator.
    var secondUnit = UnitRule.none
    /// The values of a pair; at least one for Period and Range, both for Ratio.
    var first: ValueName?
    var second: ValueName?
}

extension UnitRule {
    /// No unit.
    static let none = UnitRule(unit: nil, system: nil, code: nil)
}

/// Members that values of several types can have.
struct ValueExtras: Sendable {
    /// Texts that stand for no value, and why it is absent.
    var absent: [AbsentRule] = []
    /// Whether the reading's text may begin with a comparator.
    var readsComparator = false
    /// The value that holds the comparator.
    var comparatorName: ValueName?
    var interpretation: [InterpretationRule] = []
    var referenceRanges: [ReferenceRangeRule] = []
    /// Shares of a window's readings, of Statistics only.
    var shares: [ShareRule] = []
    /// Nanoseconds that a reading stands for at most, where shares are of the time.
    var holdTime: Int64?

    /// Whether the value must reach the encoder as text although it is a number.
    var readsText: Bool { !absent.isEmpty || readsComparator }
}

/// A text that stands for no value.
struct AbsentRule: Sendable {
    /// The text, or nil for every other text that cannot be used.
    var text: String?
    /// A code of http://terminology.hl7.org/CodeSystem/data-absent-reason.
    var code: String
}

/// What a number within bounds means.
struct InterpretationRule: Sendable {
    var bounds: NumberBounds
    var coding: Coding
}

/// What is usual.
struct ReferenceRangeRule: Sendable {
    var low: String?
    var high: String?
    var text: String?
    var unit: UnitRule
}

/// A share of a window's readings, or of its time: those within bounds.
struct ShareRule: Sendable {
    var code: CodeableConcept
    var bounds: NumberBounds
}

/// Which numbers are meant.
struct NumberBounds: BitwiseCopyable, Sendable {
    var lower: Decimal64?
    var upper: Decimal64?
    var includesLower = false
    var includesUpper = false

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
    var isPossible: Bool {
        guard let lower, let upper else { return true }
        return lower.isLess(than: upper) || (includesLower && includesUpper && lower.isEqualInValue(to: upper))
    }
}

extension ValueRule {
    /// The values of the device template that it reads.
    var uses: [FHIRTemplate.ValueUse] {
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
