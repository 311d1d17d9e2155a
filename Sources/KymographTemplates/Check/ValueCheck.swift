import KymographCore

/// Checks what the members of a template say about each other.
enum ValueCheck {
    static func run(_ template: FHIRTemplate, log: inout DiagnosticLog) {
        checkReading(template, log: &log)
        checkEffective(template, log: &log)
        if let value = template.value { checkCounts(value, template.code, log: &log) }
        for component in template.components { checkCounts(component.value, component.code, log: &log) }
        checkShares(template, log: &log)
    }

    /// Invariant obs-7: a component may not have the Observation's code while the Observation has a value.
    private static func checkShares(_ template: FHIRTemplate, log: inout DiagnosticLog) {
        for coding in template.value?.extras.shares.flatMap(\.code.codings) ?? [] {
            guard template.code.codings.contains(where: { $0.system == coding.system && $0.code == coding.code })
            else { continue }
            log.error(
                coding.position, "this range has the code of its Observation, which has a value (FHIR obs-7)",
                advice: "give each range a code of its own", finding: .repeatedCode)
        }
    }

    /// A value that one part of the template reads as a number never reaches the encoder as text.
    private static func checkReading(_ template: FHIRTemplate, log: inout DiagnosticLog) {
        let numbers = Set(template.valueUses.filter(\.isNumeric).map(\.name))
        for value in template.valueRules where value.extras.readsText {
            for use in value.uses where !use.isNumeric && numbers.contains(use.name) {
                log.error(
                    use.position,
                    "'\(use.name)' is read as a number by another value of this template, so its texts are rejected",
                    advice: "give the other value the same \"absent\" or \"comparator\"", finding: .mixedReading)
            }
        }
    }

    /// Steps are counted up: their mean depends on how often the device reports.
    private static func checkCounts(_ value: ValueRule, _ code: CodeableConcept, log: inout DiagnosticLog) {
        guard case .statistics(let rule) = value.kind else { return }
        let isStep = code.codings.contains { coding in
            coding.system == LOINC.system && coding.code.flatMap(ClinicalCode.of)?.concepts.first == .steps
        }
        let isSummed = rule.aggregate != .mean && rule.aggregate != .median
        guard isStep || rule.unit.code == "{steps}", !isSummed else { return }
        log.warning(
            value.position, "the \(rule.aggregate) of steps depends on how often the device reports them",
            advice: "use \"aggregate\": \"sum\"", finding: .meanOfCounts)
    }

    /// SampledData counts from the start of a period, and the vital signs profiles allow dateTime and Period alone.
    private static func checkEffective(_ template: FHIRTemplate, log: inout DiagnosticLog) {
        let form = template.members.effectiveForm
        guard form == .dateTime || form == .instant else { return }
        let position = template.members.effectivePosition
        if template.hasSeries {
            log.error(
                position, "a series counts its samples from the start of effectivePeriod",
                advice: "use \"effectiveType\": \"Period\", or leave it out", finding: .effectiveType)
        }
        guard form == .instant, template.categories.contains(where: \.isVitalSigns) else { return }
        log.warning(
            position, "the vital signs profiles allow only dateTime and Period",
            advice: "use \"effectiveType\": \"dateTime\"", finding: .effectiveType)
    }
}

extension CodeableConcept {
    fileprivate var isVitalSigns: Bool { codings.contains { $0.code == "vital-signs" } }
}

extension FHIRTemplate {
    fileprivate var hasSeries: Bool {
        valueRules.contains { value in
            switch value.kind {
            case .sampledData: true
            case .statistics(let rule): rule.series != nil
            case .quantity, .string, .codeableConcept, .typed: false
            }
        }
    }
}
