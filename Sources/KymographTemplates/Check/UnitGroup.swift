import KymographCore

/// Units that measure the same kind of thing, as far as the codes of ``ClinicalCode`` need them.
enum UnitGroup: CaseIterable {
    case rate, pressure, fraction, temperature, mass, length, massPerArea
    case massConcentration, molarConcentration, time, energy, count, dailyCount, speed

    /// What messages call it.
    var name: String {
        switch self {
        case .rate: "a rate per minute"
        case .pressure: "a pressure"
        case .fraction: "a percentage"
        case .temperature: "a temperature"
        case .mass: "a mass"
        case .length: "a length"
        case .massPerArea: "a mass per area"
        case .massConcentration: "a mass concentration"
        case .molarConcentration: "a molar concentration"
        case .time: "a time"
        case .energy: "an energy"
        case .count: "a count"
        case .dailyCount: "a count per day"
        case .speed: "a speed"
        }
    }

    /// UCUM codes without annotations, the usual one first.
    var codes: [String] {
        switch self {
        case .rate: ["/min", "1/min"]
        case .pressure: ["mm[Hg]", "kPa", "Pa", "hPa", "mbar"]
        case .fraction: ["%"]
        case .temperature: ["Cel", "[degF]", "K"]
        case .mass: ["kg", "g", "mg", "[lb_av]", "[oz_av]", "[stone_av]"]
        case .length: ["cm", "m", "mm", "km", "[in_i]", "[ft_i]", "[yd_i]", "[mi_i]"]
        case .massPerArea: ["kg/m2"]
        case .massConcentration: ["mg/dL", "mg/L", "g/L", "g/dL", "mg/dl", "mg/l", "g/l"]
        case .molarConcentration: ["mmol/L", "mol/L", "umol/L", "mmol/l", "mol/m3"]
        case .time: ["s", "ms", "us", "min", "h", "d", "wk"]
        case .energy: ["kcal", "cal", "[Cal]", "kJ", "J", "MJ", "kcal_th", "cal_th", "kcal_IT"]
        case .count: ["{#}", "", "1"]
        // Counts of a day are widely stated without the day.
        case .dailyCount: ["/(24.h)", "1/(24.h)", "/d", "1/d", "{steps}", "1"]
        case .speed: ["m/s", "km/h", "[mi_i]/h"]
        }
    }

    /// Whether `code` is one of them, whatever its annotations: `{steps}` is a count, `{beats}/min` a rate.
    func contains(_ code: String) -> Bool {
        let bare = UnitGroup.withoutAnnotations(code)
        return codes.contains { UnitGroup.withoutAnnotations($0) == bare }
    }

    /// The group of `code`, or nil when it is in none.
    static func of(_ code: String) -> UnitGroup? { allCases.first { $0.contains(code) } }

    /// UCUM annotations are for people and change nothing (spec/fhir.md section 2).
    private static func withoutAnnotations(_ code: String) -> String {
        var depth = 0
        return String(
            code.filter { character in
                if character == "{" { depth += 1 }
                if character == "}" { depth -= 1 }
                return depth == 0 && character != "}"
            })
    }
}
