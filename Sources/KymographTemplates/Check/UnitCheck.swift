import KymographCore

/// Checks units: that there is one, that it is written as UCUM has it, and that it belongs to the LOINC code.
enum UnitCheck {
    /// Notes what is wrong with the spelling of `unit`, which was read from `object`.
    static func checkSpelling(_ unit: UnitRule, in object: FieldReader, log: inout DiagnosticLog) {
        if let system = object.node("system"), let text = system.string {
            CodingCheck.checkSystem(text, at: system.position, log: &log)
        }
        guard let text = unit.unit else {
            return log.warning(
                object.position, "\(object.what) has no unit",
                advice: "add \"unit\" and its UCUM \"code\"; a bare number has the code \"1\"", finding: .missingUnit)
        }
        guard let code = unit.code else {
            // SampledData of the reference has no member for the code, so its files cannot have one.
            guard object.what != "a SampledData value" else { return }
            let better = UCUMTraps.meant(by: text) ?? (UnitGroup.of(text) == nil ? nil : text)
            return log.warning(
                object.position(of: "unit"), "the unit '\(text)' has no code, so machines cannot tell what it is",
                advice: better.map { "add \"code\": \"\($0)\"" } ?? "add its UCUM code as \"code\"",
                finding: .unitWithoutCode)
        }
        if unit.system == UnitRule.ucum {
            UCUMTraps.check(code, unit: object.node("unit")?.string, at: unit.position, log: &log)
        }
    }

    /// Notes the units of `template` that do not belong to its LOINC codes, except those at `wrong` places: a unit is
    /// not to be blamed for the wrong code.
    static func run(_ template: FHIRTemplate, besides wrong: Set<SourcePosition>, log: inout DiagnosticLog) {
        if let value = template.value { check(value.kind, template.code, besides: wrong, log: &log) }
        for component in template.components {
            check(component.value.kind, component.code, besides: wrong, log: &log)
        }
    }

    /// The UCUM code of a unit, or what its text stands for; nil when it cannot be known.
    static func code(of unit: UnitRule) -> String? {
        guard let code = unit.code else {
            guard let text = unit.unit else { return nil }
            return UCUMTraps.meant(by: text) ?? (UnitGroup.of(text) == nil ? nil : text)
        }
        return unit.system == UnitRule.ucum ? UCUMTraps.meant(by: code) ?? code : nil
    }

    private static func check(
        _ kind: ValueRule.Kind, _ concept: CodeableConcept, besides wrong: Set<SourcePosition>, log: inout DiagnosticLog
    ) {
        guard let unit = kind.unit, let code = code(of: unit) else { return }
        for coding in concept.codings where coding.system == LOINC.system && !wrong.contains(coding.position) {
            guard let entry = coding.code.flatMap(ClinicalCode.of), let group = entry.units, !group.contains(code)
            else { continue }
            let found = unit.code ?? unit.unit ?? ""
            log.warning(
                unit.position, "LOINC \(entry.loinc) ('\(entry.name)') is \(group.name), which '\(found)' is not",
                advice: advice(code, entry, group), finding: .unitMismatch)
        }
    }

    private static func advice(_ code: String, _ entry: ClinicalCode, _ group: UnitGroup) -> String {
        let usual = "use \"code\": \"\(group.codes[0])\""
        let other = ClinicalCode.all.first { other in
            other.concepts.first == entry.concepts.first && other.units?.contains(code) ?? false
        }
        return other.map { "\(usual), or LOINC \($0.loinc) for '\(code)'" } ?? usual
    }
}

extension ValueRule.Kind {
    /// The unit of a value that has one.
    var unit: UnitRule? {
        switch self {
        case .quantity(let unit), .sampledData(let unit, _): unit
        case .statistics(let rule): rule.unit
        case .typed(let rule) where rule.form == .range: rule.unit
        case .string, .codeableConcept, .typed: nil
        }
    }
}
