import KymographCore

/// How the number of readings is written as a component.
enum CountForm {
    /// `valueInteger`.
    case integer
    /// A Quantity of `{#}`, because STU3 has no `valueInteger`.
    case quantity
    /// A Ratio of that many to one.
    ///
    /// STU3's vital signs profile binds the units of all component Quantities to a list that has none for counts
    /// (spec/fhir.md section 1), and a Ratio is the one other number that STU3 has.
    case ratio

    /// The form for Observations of `template` in `version`.
    init(_ template: FHIRTemplate, in version: FHIRVersion) {
        guard version == .stu3 else {
            self = .integer
            return
        }
        self = template.isVitalSign ? .ratio : .quantity
    }

    /// What stands before and after the digits of a whole number that counts nothing: UCUM's unit of such is `1`.
    var integerTexts: (before: String, after: String) {
        guard self == .quantity else { return texts }
        return ("\"valueQuantity\":{\"value\":", ",\"system\":\"\(UnitRule.ucum)\",\"code\":\"1\"}")
    }

    /// What stands before and after the digits.
    var texts: (before: String, after: String) {
        switch self {
        case .integer: ("\"valueInteger\":", "")
        case .quantity:
            ("\"valueQuantity\":{\"value\":", ",\"unit\":\"count\",\"system\":\"\(UnitRule.ucum)\",\"code\":\"{#}\"}")
        case .ratio: ("\"valueRatio\":{\"numerator\":{\"value\":", "},\"denominator\":{\"value\":1}}")
        }
    }
}

extension FHIRTemplate {
    /// Whether the vital signs profile applies: by category, or by a code alone.
    fileprivate var isVitalSign: Bool {
        categories.contains { $0.codings.contains { $0.code == "vital-signs" } }
            || ConformanceCheck.isVitalSign(code, in: .stu3) || ConformanceCheck.isVitalSign(code, in: .r4)
    }
}
