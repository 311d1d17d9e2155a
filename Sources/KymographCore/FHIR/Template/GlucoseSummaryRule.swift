/// A summary of a window's glucose readings, as a `GlucoseSummaryFhir` template asks for it: several Observations.
package struct GlucoseSummaryRule: Sendable {
    /// The unit of the readings.
    package enum Unit: String, Sendable, CaseIterable {
        case massConcentration = "mg/dL"
        case molarConcentration = "mmol/L"
    }

    package var value: ValueName
    package var unit: Unit
    var unitPosition: SourcePosition
    /// Nanoseconds between two readings of the sensor while it works.
    package var samplePeriod: Int64
    package var categories: [CodeableConcept]

    package init(
        value: ValueName, unit: Unit, unitPosition: SourcePosition, samplePeriod: Int64, categories: [CodeableConcept]
    ) {
        (self.value, self.unit, self.unitPosition, self.samplePeriod) = (value, unit, unitPosition, samplePeriod)
        self.categories = categories
    }

    var use: FHIRTemplate.ValueUse {
        FHIRTemplate.ValueUse(name: value.text, isNumeric: true, position: value.position)
    }

    /// What one is of the readings that it sums up.
    package var readingUnit: UnitRule {
        UnitRule(unit: unit.rawValue, system: UnitRule.ucum, code: unit.rawValue, position: unitPosition)
    }
}

/// The Observations of a summary: six members, and the panel that refers to them (HL7 Continuous Glucose Monitoring
/// 1.0.0, profile cgm-summary).
package enum GlucosePart: Int, CaseIterable {
    case mean, timesInRanges, managementIndicator, variation, daysOfWear, sensorActive, panel

    /// How many there are.
    static let count = 7

    /// The part of the identity that tells it from the others; none of the panel.
    package var name: String {
        switch self {
        case .mean: "mean"
        case .timesInRanges: "timesInRanges"
        case .managementIndicator: "gmi"
        case .variation: "cv"
        case .daysOfWear: "daysOfWear"
        case .sensorActive: "sensorActive"
        case .panel: ""
        }
    }

    /// Its LOINC code.
    package func code(_ unit: GlucoseSummaryRule.Unit) -> String {
        switch self {
        case .mean: unit == .massConcentration ? "97507-8" : "105273-7"
        case .timesInRanges: "106793-3"
        case .managementIndicator: "97506-0"
        case .variation: "104638-2"
        case .daysOfWear: "104636-6"
        case .sensorActive: "104637-4"
        case .panel: "107931-8"
        }
    }

    /// The unit of its value, with the text that the guide's profiles fix.
    package func unit(_ unit: GlucoseSummaryRule.Unit) -> UnitRule {
        let (text, code): (String, String) =
            switch self {
            case .mean: (unit.rawValue.lowercased(), unit.rawValue)
            case .daysOfWear: ("days", "d")
            case .timesInRanges, .managementIndicator, .variation, .sensorActive, .panel: ("%", "%")
            }
        return UnitRule(unit: text, system: UnitRule.ucum, code: code)
    }
}

/// The ranges of a summary, from the lowest (international consensus on time in range, 2019).
package enum GlucoseRange {
    /// LOINC codes: very low, low, target, high, very high.
    package static let codes = ["104642-4", "104641-6", "97510-2", "104640-8", "104639-0"]

    /// Which of them has `number`.
    static func index(of number: Decimal64, _ isMolar: Bool) -> Int {
        func tenths(_ mass: Int64, _ molar: Int64) -> Decimal64 {
            Decimal64(mantissa: isMolar ? molar : mass * 10, exponent: -1)
        }
        if number.isLess(than: tenths(54, 30)) { return 0 }
        if number.isLess(than: tenths(70, 39)) { return 1 }
        if !tenths(180, 100).isLess(than: number) { return 2 }
        return tenths(250, 139).isLess(than: number) ? 4 : 3
    }
}
