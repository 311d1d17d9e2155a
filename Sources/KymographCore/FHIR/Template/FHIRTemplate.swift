/// How measurements of one type become an Observation: a checked `CodeValueFhir` template (mapping dialect, section 4);
/// or another resource: a `ResourceFhir` template, which is our addition.
package struct FHIRTemplate: Sendable {
    /// A value that the template reads from measurements.
    package struct ValueUse: Sendable {
        /// The value's name, case-sensitive.
        package let name: String
        /// Whether it must be a number.
        package let isNumeric: Bool
        /// Whether it may be an array of numbers.
        package private(set) var takesSamples = false
        /// Where the template names it.
        package let position: SourcePosition
    }

    /// The measurement type, as spelled; types are looked up without regard to case.
    package let typeName: String
    /// Where the type name is written.
    package let namePosition: SourcePosition
    /// The grouping that the file declares, or nil when it declares none.
    package let declaredGrouping: Grouping?
    /// What the file declares for readings of one time, or nil.
    package var sameInstant: SameInstant?
    let categories: [CodeableConcept]
    var code: CodeableConcept
    let profiles: [String]
    var effective: EffectiveRule
    var value: ValueRule?
    var components: [ComponentRule]
    /// The measurement type of whose readings this template makes further Observations, or nil.
    var source: TypeReference?
    /// What readings become in place of Observations, or nil.
    var resource: ResourceRule?
    /// The summary that windows become in place of one Observation, or nil.
    var summary: GlucoseSummaryRule?
    /// Members that are the same in every Observation, and how its time is written.
    var members = MemberRules()

    /// A measurement type as a template names it.
    struct TypeReference: Sendable {
        var typeName: String
        var position: SourcePosition
    }

    /// The declared grouping; when none is declared, windows of `nanoseconds` for types that summarise (Statistics, our
    /// addition), and one Observation per reading for all others, as the reference has it (mapping dialect, section 4).
    package func grouping(defaultPeriod nanoseconds: Int64) -> Grouping {
        if let declaredGrouping { return declaredGrouping }
        return valueRules.contains { $0.kind.needsWindow } ? .tumbling(nanoseconds: nanoseconds) : .instance
    }

    /// Every value that the template reads, in file order of the value and then the components.
    package var valueUses: [ValueUse] {
        valueRules.flatMap(\.uses) + members.uses + (resource?.uses ?? []) + (summary.map { [$0.use] } ?? [])
    }

    var valueRules: [ValueRule] { (value.map { [$0] } ?? []) + components.map(\.value) }
}

/// What `effective[x]` covers.
enum EffectiveRule: Sendable {
    /// From the first reading to the last.
    case covered
    /// From the window's start to one millisecond before its end.
    case window
}

/// A FHIR Coding; absent parts are nil, never empty.
struct Coding: Sendable {
    var system: String?
    var code: String?
    var display: String?
    var position = SourcePosition.start
}

/// A FHIR CodeableConcept.
struct CodeableConcept: Sendable {
    var text: String?
    var codings: [Coding]

    /// Whether there is nothing to write.
    var isEmpty: Bool { text == nil && codings.isEmpty }

    /// Whether it has `code` of `system`.
    func has(_ system: String, _ code: String) -> Bool {
        codings.contains { $0.system == system && $0.code == code }
    }
}

/// The unit of a Quantity or of a series' origin.
struct UnitRule: Sendable {
    var unit: String?
    var system: String?
    var code: String?
    /// Where the code is written; the unit's text, or the value, when there is none.
    var position = SourcePosition.start

    static let ucum = "http://unitsofmeasure.org"
}

/// A component of an Observation.
struct ComponentRule: Sendable {
    var code: CodeableConcept
    var value: ValueRule
}

/// One value of a template and how it is written.
struct ValueRule: Sendable {
    enum Kind: Sendable {
        case quantity(UnitRule)
        case sampledData(UnitRule, SeriesRule)
        case string
        case codeableConcept(CodeableConcept)
        case statistics(StatisticsRule)
        case typed(TypedRule)

        /// Whether it reads numbers.
        var isNumeric: Bool {
            switch self {
            case .quantity, .sampledData, .statistics: true
            case .string, .codeableConcept: false
            case .typed(let rule): rule.form.isNumeric
            }
        }

        /// Whether it is grouped into windows when nothing else is said.
        var needsWindow: Bool {
            if case .statistics = self { true } else { false }
        }
    }

    var name: String
    var namePosition: SourcePosition
    var position: SourcePosition
    var kind: Kind
    var extras = ValueExtras()
}

/// A summary of a window's numbers.
struct StatisticsRule: Sendable {
    enum Aggregate: UInt8, Sendable, CaseIterable { case mean, sum, minimum, maximum, median, latest, count }

    var unit: UnitRule
    var aggregate: Aggregate
    var parts: [StatisticsPart]
    var series: SeriesComponentRule?
}

/// The series component of a summary.
struct SeriesComponentRule: Sendable {
    var code: CodeableConcept
    var rule: SeriesRule
}

/// How a series is put on a grid of times.
struct SeriesRule: Sendable {
    /// Nanoseconds between samples, or nil to take them from the data.
    var period: Int64?
    var collision: SlotCollision
    var limits = SeriesLimits()
    /// Whether origin and factor are chosen to shorten.
    var isCompact = false
    /// The factor and the origin that turn the device's numbers into values, as written; nil where they are values.
    var factor: String?
    var origin: String?
    /// What the arrays of a waveform are; nil where readings are single numbers.
    var waveform: WaveformRule?
}

/// How the arrays of a reading become a series.
struct WaveformRule: Sendable {
    /// The values that hold the signals, in order; one that holds all of them in turn.
    var signals: [ValueName]
    /// Signals in one sample.
    var dimensions: Int
    /// The value that holds the samples per second.
    var rate: ValueName?
    /// The value that holds the milliseconds between samples.
    var period: ValueName?

    /// Most values that hold a signal each.
    static let mostSignals = 16
    /// Most signals in one array.
    static let mostDimensions = 256
}

/// Which value a grid slot gets when several readings fall into it.
enum SlotCollision: UInt8, Sendable, CaseIterable {
    case latest, mean, min, max, sum
}

extension FHIRTemplate {
    /// Each tag of its Observations (`meta.tag`) as `code`, and as `system|code` when it has a system.
    package var tagNames: [String] {
        members.tags.flatMap { tag -> [String] in
            guard let code = tag.code else { return [] }
            return [code] + (tag.system.map { ["\($0)|\(code)"] } ?? [])
        }
    }
}
