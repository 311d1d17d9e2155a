import KymographCore

/// Checks templates against the vital signs profiles of FHIR.
///
/// Validators apply these profiles because of the LOINC code alone, whether or not the template names the profile
/// (spec/fhir.md section 1).
enum ConformanceCheck {
    private struct VitalSign {
        var code: String
        var profile: String
        var units: [String]
    }

    private static let vitalSignsOfR4 = [
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
    /// Units of components of any vital sign (value set ucum-vitals-common).
    private static let componentUnits = [
        "%", "cm", "[in_i]", "kg", "g", "[lb_av]", "Cel", "[degF]", "mm[Hg]", "/min", "kg/m2", "m2",
    ]
    private static let categorySystem = "http://terminology.hl7.org/CodeSystem/observation-category"

    /// The vital signs of `version`; STU3 has another code of the oxygen saturation (spec/fhir.md section 1).
    private static func vitalSigns(in version: FHIRVersion) -> [VitalSign] {
        guard version == .stu3 else { return vitalSignsOfR4 }
        return vitalSignsOfR4.map { sign in
            sign.code == "2708-6" ? VitalSign(code: "59408-5", profile: sign.profile, units: sign.units) : sign
        }
    }

    /// Whether validators apply a vital signs profile of `version` because of `code`.
    static func isVitalSign(_ code: CodeableConcept, in version: FHIRVersion) -> Bool {
        vitalSigns(in: version).contains { code.has(LOINC.system, $0.code) }
    }

    private static let profileBase = "http://hl7.org/fhir/StructureDefinition/"

    /// Notes what is wrong with `template`, whose body is at `position`; with what it lacks only if it `isComplete`.
    static func run(
        _ template: FHIRTemplate, position: SourcePosition, isComplete: Bool, log: inout DiagnosticLog
    ) {
        checkRepeatedCodes(template, log: &log)
        checkProfiles(template, position: position, log: &log)
        checkCodes(template, log: &log)
        let signs = vitalSigns(in: log.fhirVersion)
        guard let sign = signs.first(where: { template.code.has(LOINC.system, $0.code) }) else { return }
        if !hasCategory(template, in: log.fhirVersion) {
            log.warning(
                position, "LOINC \(sign.code) is a vital sign, which needs the category vital-signs",
                advice:
                    "add \"category\": [{\"codes\": [{\"system\": \"\(categorySystem)\", \"code\": \"vital-signs\"}]}]",
                finding: .vitalSignCategory)
        }
        if sign.profile == "bp" {
            checkBloodPressure(template, position: position, isComplete: isComplete, log: &log)
        } else {
            checkValue(template, sign, log: &log)
            for component in template.components { checkComponent(component, sign, log: &log) }
        }
    }

    private static func hasCategory(_ template: FHIRTemplate, in version: FHIRVersion) -> Bool {
        template.categories.contains { category in
            category.has(categorySystem, "vital-signs")
                || (version == .stu3 && category.has(CodeSystemNames.stu3(categorySystem), "vital-signs"))
        }
    }

    // MARK: Codes

    /// Codes of vital signs that do not stand alone.
    private static func checkCodes(_ template: FHIRTemplate, log: inout DiagnosticLog) {
        for coding in template.code.codings where coding.system == LOINC.system {
            guard let code = coding.code, let (message, advice) = fault(of: code, template.code, in: log.fhirVersion)
            else { continue }
            log.warning(coding.position, message, advice: advice, finding: .vitalSignCode)
        }
    }

    private static func fault(
        of code: String, _ concept: CodeableConcept, in version: FHIRVersion
    ) -> (message: String, advice: String)? {
        switch code {
        case "59408-5" where version != .stu3 && !concept.has(LOINC.system, "2708-6"):
            return (
                "the oxygensat profile knows 59408-5 only beside LOINC 2708-6",
                "add { \"system\": \"\(LOINC.system)\", \"code\": \"2708-6\" } before it"
            )
        case let part where bloodPressureParts.contains(part) && !concept.has(LOINC.system, bloodPressure):
            return (
                "LOINC \(part) is a part of a blood pressure, which the bp profile wants as a component",
                "give the template the code \(bloodPressure), and both pressures (8480-6, 8462-4) as components"
            )
        case "85353-1":
            return (
                "LOINC 85353-1 is a panel that refers to other Observations, which a template cannot write",
                "use the code of the measurement itself"
            )
        default: return nil
        }
    }

    /// A profile that is named although the code is another's.
    private static func checkProfiles(
        _ template: FHIRTemplate, position: SourcePosition, log: inout DiagnosticLog
    ) {
        for sign in vitalSigns(in: log.fhirVersion) where template.profiles.contains(profileBase + sign.profile) {
            guard !template.code.has(LOINC.system, sign.code) else { continue }
            log.warning(
                template.code.codings.first?.position ?? position,
                "the template names the \(sign.profile) profile, whose code LOINC \(sign.code) it does not have",
                advice: "add that code, or remove the profile", finding: .profileMismatch)
        }
    }

    /// Invariant obs-7: a component may not have the Observation's code while the Observation has a value.
    private static func checkRepeatedCodes(_ template: FHIRTemplate, log: inout DiagnosticLog) {
        guard let value = template.value else { return }
        let message = "this component has the code of its Observation, which also has a value (FHIR obs-7)"
        for coding in template.components.flatMap(\.code.codings) where isOwn(coding, template) {
            let advice = "give the component a code of its own"
            log.warning(coding.position, message, advice: advice, finding: .repeatedCode)
        }
        guard case .statistics(let rule) = value.kind, let series = rule.series else { return }
        for coding in series.code.codings where isOwn(coding, template) {
            let advice = "give the series a device code, such as MDC 149530 for a pulse rate"
            log.error(coding.position, message, advice: advice, finding: .repeatedCode)
        }
    }

    private static func isOwn(_ coding: Coding, _ template: FHIRTemplate) -> Bool {
        template.code.codings.contains { $0.system == coding.system && $0.code == coding.code }
    }

    // MARK: Values

    private static func checkValue(_ template: FHIRTemplate, _ sign: VitalSign, log: inout DiagnosticLog) {
        guard let value = template.value else { return }
        switch value.kind {
        case .quantity(let unit): checkUnit(unit, of: sign.code, sign.profile, among: sign.units, log: &log)
        case .statistics(let rule): checkUnit(rule.unit, of: sign.code, sign.profile, among: sign.units, log: &log)
        case .sampledData, .string, .codeableConcept, .typed:
            log.warning(
                value.position, "the \(sign.profile) profile allows only a Quantity as the value of LOINC \(sign.code)",
                advice: "use valueType Statistics with a series, or Quantity", finding: .vitalSignValue)
        }
    }

    private static func checkComponent(_ component: ComponentRule, _ sign: VitalSign, log: inout DiagnosticLog) {
        guard let unit = component.value.kind.unit, let code = unit.code, !componentUnits.contains(code) else { return }
        if case .sampledData = component.value.kind { return }
        log.warning(
            unit.position, "the \(sign.profile) profile does not allow the unit '\(code)' in a component",
            advice: "a component of a vital sign has one of \(componentUnits.joined(separator: " ")): "
                + "make this a template of its own", finding: .vitalSignUnit)
    }

    /// Notes a unit of the right kind that is not one of the profile's; others are for ``UnitCheck``.
    private static func checkUnit(
        _ unit: UnitRule, of loinc: String, _ profile: String, among units: [String], log: inout DiagnosticLog
    ) {
        guard let code = unit.code, !(unit.system == UnitRule.ucum && units.contains(code)) else { return }
        guard unit.system != UnitRule.ucum || ClinicalCode.of(loinc)?.units?.contains(code) ?? false else { return }
        let wanted = units.map { "\"\($0)\"" }.joined(separator: " or ")
        log.warning(
            unit.position, "the \(profile) profile needs another UCUM code than '\(code)' for LOINC \(loinc)",
            advice: "use \"code\": \(wanted)", finding: .vitalSignUnit)
    }

    // MARK: Blood pressure

    private static func checkBloodPressure(
        _ template: FHIRTemplate, position: SourcePosition, isComplete: Bool, log: inout DiagnosticLog
    ) {
        if let value = template.value {
            let advice = "give systolic and diastolic as components"
            log.warning(
                value.position, "the bp profile allows no value of its own", advice: advice,
                finding: .bloodPressureValue)
        }
        for code in bloodPressureParts {
            let parts = template.components.filter { $0.code.has(LOINC.system, code) }
            for part in parts { checkPart(part, code, log: &log) }
            guard parts.isEmpty, isComplete else { continue }
            log.warning(
                position, "the bp profile needs a component with LOINC \(code)",
                advice: "systolic is 8480-6, diastolic is 8462-4", finding: .bloodPressurePart)
        }
    }

    private static func checkPart(_ part: ComponentRule, _ code: String, log: inout DiagnosticLog) {
        switch part.value.kind {
        case .quantity(let unit): checkUnit(unit, of: code, "bp", among: ["mm[Hg]"], log: &log)
        case .statistics(let rule): checkUnit(rule.unit, of: code, "bp", among: ["mm[Hg]"], log: &log)
        case .sampledData, .string, .codeableConcept, .typed:
            log.warning(
                part.value.position, "the bp profile allows only a Quantity as the value of LOINC \(code)",
                advice: "use valueType Quantity with \"code\": \"mm[Hg]\"", finding: .bloodPressurePart)
        }
    }
}
