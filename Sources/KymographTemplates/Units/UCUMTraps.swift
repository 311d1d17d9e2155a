import KymographCore

/// Unit codes that people write and UCUM does not have, or has with another meaning (spec/fhir.md section 2).
enum UCUMTraps {
    /// Spellings without regard to case, except where UCUM gives the other case a meaning of its own.
    private static let wanted: [String: String] = [
        "bpm": "/min", "beats/min": "/min", "beats/minute": "/min", "beat/min": "/min", "beats per minute": "/min",
        "breaths/min": "/min", "breaths/minute": "/min", "breaths per minute": "/min", "brpm": "/min", "rpm": "/min",
        "count/min": "/min", "counts/min": "/min", "/minute": "/min", "1/minute": "/min", "per minute": "/min",
        "mmhg": "mm[Hg]", "mm hg": "mm[Hg]", "mm[hg]": "mm[Hg]", "mm_hg": "mm[Hg]", "torr": "mm[Hg]",
        "°c": "Cel", "degc": "Cel", "deg c": "Cel", "celsius": "Cel", "degrees celsius": "Cel", "cel": "Cel",
        "°f": "[degF]", "degf": "[degF]", "deg f": "[degF]", "fahrenheit": "[degF]", "[degf]": "[degF]",
        "lb": "[lb_av]", "lbs": "[lb_av]", "pound": "[lb_av]", "pounds": "[lb_av]", "oz": "[oz_av]",
        "in": "[in_i]", "inch": "[in_i]", "inches": "[in_i]", "ft": "[ft_i]", "feet": "[ft_i]", "mi": "[mi_i]",
        "mile": "[mi_i]", "miles": "[mi_i]", "mph": "[mi_i]/h", "kph": "km/h", "kmh": "km/h", "km/hr": "km/h",
        "meter": "m", "meters": "m", "metre": "m", "metres": "m", "kilograms": "kg", "kgs": "kg",
        "kg/m^2": "kg/m2", "kg/m²": "kg/m2", "kg/m**2": "kg/m2", "steps": "{steps}", "step": "{steps}",
        "count": "{#}", "counts": "{#}", "percent": "%", "pct": "%", "per cent": "%", "calories": "kcal",
        "cals": "kcal", "kilocalories": "kcal", "kcals": "kcal", "sec": "s", "secs": "s", "second": "s",
        "seconds": "s", "msec": "ms", "msecs": "ms", "milliseconds": "ms", "mins": "min", "minute": "min",
        "minutes": "min", "hr": "h", "hrs": "h", "hour": "h", "hours": "h", "day": "d", "days": "d",
    ]
    /// Spellings in which the case decides: `C` is coulomb and `F` farad, `Kg` would be kelvin times gram.
    private static let exact = ["C": "Cel", "F": "[degF]", "Kg": "kg", "KG": "kg", "KCAL": "kcal", "Cal": "kcal"]
    /// Codes that UCUM knows (it writes the litre in both cases) and FHIR's value sets do not.
    private static let unusual = ["mg/dl": "mg/dL", "mmol/l": "mmol/L", "g/dl": "g/dL", "umol/l": "umol/L"]

    /// Codes of UCUM that no conversion is made of here: of surveyors, pharmacists and former systems.
    private static let rare: Set<String> = [
        "[in_us]", "[ft_us]", "[yd_us]", "[mi_us]", "[fth_i]", "[lb_ap]", "[lb_tr]", "[oz_ap]", "[oz_tr]", "[dr_ap]",
        "[sc_ap]", "[pwt_tr]", "[ston_av]", "[qt_br]", "[pt_br]", "[p'diop]", "St", "cSt", "G", "u", "Ao", "b", "RAD",
        "REM", "mREM", "mo_s", "mo_j", "mho", "sph", "cal_m", "cal_IT", "cal_th", "[Btu]", "[Btu_IT]", "%[slope]",
    ]

    /// The UCUM code that `text` stands for when it is one of the traps, else nil.
    static func meant(by text: String) -> String? {
        exact[text] ?? wanted[text.lowercased()].flatMap { $0 == text ? nil : $0 }
    }

    /// Warns when `code` is a known trap, or not a code at all; `unit` is the text beside it.
    static func check(_ code: String, unit: String?, at position: SourcePosition, log: inout DiagnosticLog) {
        if let better = meant(by: code) {
            let advice = "use \"code\": \"\(better)\"; \"unit\" may stay \"\(unit ?? code)\""
            log.warning(position, "'\(code)' is not the UCUM code that is meant", advice: advice, finding: .ucumCode)
        } else if let better = unusual[code] {
            let advice = "use \"code\": \"\(better)\", because servers compare codes as text"
            log.warning(position, "'\(code)' is not in FHIR's value sets of units", advice: advice, finding: .ucumCode)
        } else if code.utf8.contains(where: { $0 <= 0x20 || $0 > 0x7E }) {
            let advice = "UCUM codes are ASCII without blanks; free text belongs into \"unit\""
            log.warning(position, "'\(code)' cannot be a UCUM code", advice: advice, finding: .ucumCode)
        } else {
            checkWhetherUnit(code, at: position, log: &log)
        }
    }

    /// Warns when `code` is none of those that can be computed with, which are those of devices and laboratories.
    private static func checkWhetherUnit(_ code: String, at position: SourcePosition, log: inout DiagnosticLog) {
        do throws(ExpressionError) { _ = try UCUMUnit.parse(code) } catch {
            guard !rare.contains(code) else { return }
            log.warning(
                position, "'\(code)' is no UCUM code that kymo knows: \(error.message)",
                advice: "look it up at https://ucum.org/ucum; a code that is there may stay", finding: .ucumCode)
        }
    }
}
