/// What can be known about the conformance of a template's Observations before any is written.
///
/// The R4 vital signs profiles are applied by validators because of the LOINC code alone, whether or not the template
/// names the profile (spec/fhir.md section 1).
enum ConformanceCheck {
    struct VitalSign {
        var code: String
        var profile: String
        var units: [String]
    }

    private static let vitalSigns = [
        VitalSign(code: "8867-4", profile: "heartrate", units: ["/min"]),
        VitalSign(code: "9279-1", profile: "resprate", units: ["/min"]),
        VitalSign(code: "2708-6", profile: "oxygensat", units: ["%"]),
        VitalSign(code: "8310-5", profile: "bodytemp", units: ["Cel", "[degF]"]),
        VitalSign(code: "29463-7", profile: "bodyweight", units: ["kg", "g", "[lb_av]"]),
        VitalSign(code: "8302-2", profile: "bodyheight", units: ["cm", "[in_i]"]),
        VitalSign(code: "39156-5", profile: "bmi", units: ["kg/m2"]),
        VitalSign(code: "9843-4", profile: "headcircum", units: ["cm", "[in_i]"]),
        VitalSign(code: bloodPressure, profile: "bp", units: []),
    ]

    /// The code of the blood pressure panel, and of the components that its profile demands.
    static let bloodPressure = "85354-9"
    /// Systolic and diastolic.
    static let bloodPressureParts = ["8480-6", "8462-4"]
    private static let categorySystem = "http://terminology.hl7.org/CodeSystem/observation-category"

    /// Notes what is wrong with `template`, whose body is at `position`.
    static func run(_ template: FHIRTemplate, position: SourcePosition, log: inout DiagnosticLog) {
        checkRepeatedCodes(template, log: &log)
        guard let sign = vitalSigns.first(where: { template.code.has(LOINC.system, $0.code) }) else { return }
        if !template.categories.contains(where: { $0.has(categorySystem, "vital-signs") }) {
            log.warning(
                position, "LOINC \(sign.code) is a vital sign, which needs the category vital-signs",
                advice:
                    "add \"category\": [{\"codes\": [{\"system\": \"\(categorySystem)\", \"code\": \"vital-signs\"}]}]")
        }
        sign.profile == "bp"
            ? checkBloodPressure(template, position: position, log: &log) : checkValue(template, sign, log: &log)
    }

    private static func checkValue(_ template: FHIRTemplate, _ sign: VitalSign, log: inout DiagnosticLog) {
        guard let value = template.value else { return }
        switch value.kind {
        case .quantity(let unit):
            checkUnit(unit, sign, at: value.position, log: &log)
        case .statistics(let rule):
            checkUnit(rule.unit, sign, at: value.position, log: &log)
        case .sampledData, .string, .codeableConcept:
            log.warning(
                value.position, "the \(sign.profile) profile allows only a Quantity as the value of LOINC \(sign.code)",
                advice: "use valueType Statistics with a series, or Quantity")
        }
    }

    private static func checkUnit(
        _ unit: UnitRule, _ sign: VitalSign, at position: SourcePosition, log: inout DiagnosticLog
    ) {
        if unit.system == UnitRule.ucum, let code = unit.code, sign.units.contains(code) { return }
        let wanted = sign.units.map { "\"\($0)\"" }.joined(separator: " or ")
        log.warning(
            position, "the \(sign.profile) profile needs a UCUM code for LOINC \(sign.code)",
            advice: "use \"code\": \(wanted)")
    }

    private static func checkBloodPressure(
        _ template: FHIRTemplate, position: SourcePosition, log: inout DiagnosticLog
    ) {
        if let value = template.value {
            let advice = "give systolic and diastolic as components"
            log.warning(value.position, "the bp profile allows no value of its own", advice: advice)
        }
        for code in bloodPressureParts
        where !template.components.contains(where: { $0.code.has(LOINC.system, code) }) {
            let advice = "systolic is 8480-6, diastolic is 8462-4"
            log.warning(position, "the bp profile needs a component with LOINC \(code)", advice: advice)
        }
    }

    /// Invariant obs-7: a component may not have the Observation's code while the Observation has a value.
    private static func checkRepeatedCodes(_ template: FHIRTemplate, log: inout DiagnosticLog) {
        guard let value = template.value else { return }
        let message = "this component has the code of its Observation, which also has a value (FHIR obs-7)"
        for coding in template.components.flatMap(\.code.codings) where isOwn(coding, template) {
            log.warning(coding.position, message, advice: "give the component a code of its own")
        }
        guard case .statistics(let rule) = value.kind, let series = rule.series else { return }
        for coding in series.code.codings where isOwn(coding, template) {
            let advice = "give the series a device code, such as MDC 149530 for a pulse rate"
            log.error(coding.position, message, advice: advice)
        }
    }

    private static func isOwn(_ coding: Coding, _ template: FHIRTemplate) -> Bool {
        template.code.codings.contains { $0.system == coding.system && $0.code == coding.code }
    }
}
