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
    package var categories: [CodeableConcept]
    package var code: CodeableConcept
    package let profiles: [String]
    package var effective: EffectiveRule
    package var value: ValueRule?
    package var components: [ComponentRule]
    /// The measurement type of whose readings this template makes further Observations, or nil.
    package var source: TypeReference?
    /// What readings become in place of Observations, or nil.
    package var resource: ResourceRule?
    /// The summary that windows become in place of one Observation, or nil.
    package var summary: GlucoseSummaryRule?
    /// Members that are the same in every Observation, and how its time is written.
    package var members = MemberRules()

    package init(
        typeName: String, namePosition: SourcePosition, declaredGrouping: Grouping?, sameInstant: SameInstant? = nil,
        categories: [CodeableConcept], code: CodeableConcept, profiles: [String], effective: EffectiveRule,
        value: ValueRule? = nil, components: [ComponentRule], source: TypeReference? = nil,
        members: MemberRules = MemberRules()
    ) {
        (self.typeName, self.namePosition, self.declaredGrouping) = (typeName, namePosition, declaredGrouping)
        (self.sameInstant, self.categories, self.code, self.profiles) = (sameInstant, categories, code, profiles)
        (self.effective, self.value, self.components, self.source) = (effective, value, components, source)
        self.members = members
    }

    /// A measurement type as a template names it.
    package struct TypeReference: Sendable {
        package var typeName: String
        package var position: SourcePosition

        package init(typeName: String, position: SourcePosition) {
            (self.typeName, self.position) = (typeName, position)
        }
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

    package var valueRules: [ValueRule] { (value.map { [$0] } ?? []) + components.map(\.value) }
}

/// What `effective[x]` covers.
package enum EffectiveRule: Sendable {
    /// From the first reading to the last.
    case covered
    /// From the window's start to one millisecond before its end.
    case window
}

/// A FHIR Coding; absent parts are nil, never empty.
package struct Coding: Sendable {
    package var system: String?
    package var code: String?
    package var display: String?
    package var position = SourcePosition.start

    package init(
        system: String? = nil, code: String? = nil, display: String? = nil,
        position: SourcePosition = SourcePosition.start
    ) {
        (self.system, self.code, self.display, self.position) = (system, code, display, position)
    }
}

/// A FHIR CodeableConcept.
package struct CodeableConcept: Sendable {
    package var text: String?
    package var codings: [Coding]

    package init(text: String? = nil, codings: [Coding]) {
        (self.text, self.codings) = (text, codings)
    }

    /// Whether there is nothing to write.
    package var isEmpty: Bool { text == nil && codings.isEmpty }

    /// Whether it has `code` of `system`.
    package func has(_ system: String, _ code: String) -> Bool {
        codings.contains { $0.system == system && $0.code == code }
    }
}

/// The unit of a Quantity or of a series' origin.
package struct UnitRule: Sendable {
    package var unit: String?
    package var system: String?
    package var code: String?
    /// Where the code is written; the unit's text, or the value, when there is none.
    package var position = SourcePosition.start

    package init(
        unit: String? = nil, system: String? = nil, code: String? = nil, position: SourcePosition = SourcePosition.start
    ) {
        (self.unit, self.system, self.code, self.position) = (unit, system, code, position)
    }

    package static let ucum = "http://unitsofmeasure.org"
}

/// A component of an Observation.
package struct ComponentRule: Sendable {
    package var code: CodeableConcept
    package var value: ValueRule

    package init(code: CodeableConcept, value: ValueRule) {
        (self.code, self.value) = (code, value)
    }
}

/// One value of a template and how it is written.
package struct ValueRule: Sendable {
    package enum Kind: Sendable {
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

    package var name: String
    var namePosition: SourcePosition
    package var position: SourcePosition
    package var kind: Kind
    package var extras = ValueExtras()

    package init(
        name: String, namePosition: SourcePosition, position: SourcePosition, kind: Kind,
        extras: ValueExtras = ValueExtras()
    ) {
        (self.name, self.namePosition, self.position, self.kind) = (name, namePosition, position, kind)
        self.extras = extras
    }
}

/// A summary of a window's numbers.
package struct StatisticsRule: Sendable {
    package enum Aggregate: UInt8, Sendable, CaseIterable, BitwiseCopyable {
        case mean, sum, minimum, maximum, median, latest, count
    }

    package var unit: UnitRule
    package var aggregate: Aggregate
    package var parts: [StatisticsPart]
    package var series: SeriesComponentRule?

    package init(unit: UnitRule, aggregate: Aggregate, parts: [StatisticsPart], series: SeriesComponentRule? = nil) {
        (self.unit, self.aggregate, self.parts, self.series) = (unit, aggregate, parts, series)
    }
}

/// The series component of a summary.
package struct SeriesComponentRule: Sendable {
    package var code: CodeableConcept
    package var rule: SeriesRule

    package init(code: CodeableConcept, rule: SeriesRule) {
        (self.code, self.rule) = (code, rule)
    }
}

/// How a series is put on a grid of times.
package struct SeriesRule: Sendable {
    /// Nanoseconds between samples, or nil to take them from the data.
    package var period: Int64?
    package var collision: SlotCollision
    package var limits = SeriesLimits()
    /// Whether origin and factor are chosen to shorten.
    package var isCompact = false
    /// The factor and the origin that turn the device's numbers into values, as written; nil where they are values.
    package var factor: String?
    package var origin: String?
    /// What the arrays of a waveform are; nil where readings are single numbers.
    package var waveform: WaveformRule?

    package init(
        period: Int64? = nil, collision: SlotCollision, limits: SeriesLimits = SeriesLimits(), isCompact: Bool = false
    ) {
        (self.period, self.collision, self.limits, self.isCompact) = (period, collision, limits, isCompact)
    }
}

/// How the arrays of a reading become a series.
package struct WaveformRule: Sendable {
    /// The values that hold the signals, in order; one that holds all of them in turn.
    package var signals: [ValueName]
    /// Signals in one sample.
    var dimensions: Int
    /// The value that holds the samples per second.
    package var rate: ValueName?
    /// The value that holds the milliseconds between samples.
    package var period: ValueName?

    package init(signals: [ValueName], dimensions: Int, rate: ValueName? = nil, period: ValueName? = nil) {
        (self.signals, self.dimensions, self.rate, self.period) = (signals, dimensions, rate, period)
    }

    /// Most values that hold a signal each.
    package static let mostSignals = 16
    /// Most signals in one array.
    package static let mostDimensions = 256
}

/// Which value a grid slot gets when several readings fall into it.
package enum SlotCollision: UInt8, Sendable, CaseIterable, BitwiseCopyable {
    case latest, mean, min, max, sum
}

extension FHIRTemplate {
    /// Each tag of its Observations (`meta.tag`), as `code` or as `system|code`.
    package var ownTags: [String] {
        members.tags.compactMap { tag in tag.code.map { code in tag.system.map { "\($0)|\(code)" } ?? code } }
    }

    /// Each tag of its Observations (`meta.tag`) as `code`, and as `system|code` when it has a system.
    package var tagNames: [String] {
        members.tags.flatMap { tag -> [String] in
            guard let code = tag.code else { return [] }
            return [code] + (tag.system.map { ["\($0)|\(code)"] } ?? [])
        }
    }
}
