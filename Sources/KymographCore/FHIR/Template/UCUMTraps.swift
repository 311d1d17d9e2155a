/// Unit codes that people write and UCUM does not have, or has with another meaning (spec/fhir.md section 2).
enum UCUMTraps {
    private static let wanted: [String: String] = [
        "bpm": "/min", "beats/min": "/min", "beats/minute": "/min", "breaths/min": "/min", "count/min": "/min",
        "mmHg": "mm[Hg]", "mm Hg": "mm[Hg]", "mmhg": "mm[Hg]", "C": "Cel", "°C": "Cel", "degC": "Cel",
        "celsius": "Cel", "F": "[degF]", "°F": "[degF]", "degF": "[degF]", "lb": "[lb_av]", "lbs": "[lb_av]",
        "in": "[in_i]", "mg/dl": "mg/dL", "mmol/l": "mmol/L", "steps": "{steps}", "count": "{#}", "percent": "%",
        "sec": "s", "kgs": "kg", "Kg": "kg", "KG": "kg",
    ]

    /// Warns when `unit` states a code that is a known trap, or not a code at all.
    static func check(_ unit: UnitRule, at position: SourcePosition, log: inout DiagnosticLog) {
        guard unit.system == UnitRule.ucum, let code = unit.code else { return }
        if let better = wanted[code] {
            let advice = "use \"code\": \"\(better)\"; \"unit\" may stay \"\(unit.unit ?? code)\""
            return log.warning(position, "'\(code)' is not the UCUM code that is meant", advice: advice)
        }
        guard code.utf8.contains(where: { $0 <= 0x20 || $0 > 0x7E }) else { return }
        let advice = "UCUM codes are ASCII without blanks; free text belongs into \"unit\""
        log.warning(position, "'\(code)' cannot be a UCUM code", advice: advice)
    }
}
