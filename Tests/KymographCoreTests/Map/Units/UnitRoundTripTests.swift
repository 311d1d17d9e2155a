import KymographTestKit
import Testing

@testable import KymographCore
import KymographTemplates
import TrialSupport

/// Random values there and back, and against plain integer arithmetic.
@Suite struct UnitRoundTripTests {
    static let kinds: [[String]] = [
        ["kg", "g", "mg", "[lb_av]", "[oz_av]", "[stone_av]", "[gr]"],
        ["m", "cm", "mm", "km", "[in_i]", "[ft_i]", "[yd_i]", "[mi_i]"],
        ["Pa", "kPa", "mm[Hg]", "cm[H2O]", "bar", "[psi]"],
        ["s", "ms", "min", "h", "d", "wk"], ["J", "kJ", "cal", "[Cal]", "W.h", "[Btu]"], ["1", "%", "[ppth]"],
        ["m/s", "km/h", "[mi_i]/h", "[kn_i]"], ["mol/L", "umol/mL", "mmol/dL"], ["Hz", "/min", "/h"],
        ["L", "mL", "dm3", "[foz_us]", "[cup_us]", "[foz_br]"], ["Cel", "K", "[degF]"],
    ]

    private static func value(_ random: inout SeededGenerator) -> Decimal64 {
        let mantissa = Int64.random(in: -99_999...99_999, using: &random)
        return Decimal64(mantissa: mantissa, exponent: Int8.random(in: -3...0, using: &random))
    }

    @Test(arguments: Trials.seeds(4)) func comesBackWithinTheRounding(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for units in Self.kinds {
            for _ in 0..<40 {
                guard let from = units.randomElement(using: &random), let to = units.randomElement(using: &random)
                else {
                    continue
                }
                let value = Self.value(&random)
                let there = try #require(try UnitValue.rule(from, to).convert(value, digits: 4))
                let back = try #require(try UnitValue.rule(to, from).convert(there, digits: 10))
                // Half a unit of the fourth decimal, in the first unit again.
                let factor = try UCUMUnit.parse(to).magnitude.divided(by: UCUMUnit.parse(from).magnitude)
                let scale = factor.map { Double($0.numerator) / Double($0.denominator) * power($0.exponent) } ?? 1
                let wanted = UnitValue.double(value)
                let allowed = 0.51e-4 * scale + abs(wanted) * 1e-14 + 1e-9
                #expect(abs(UnitValue.double(back) - wanted) <= allowed, "\(value) \(from) → \(to), seed \(seed)")
            }
        }
    }

    private func power(_ exponent: Int) -> Double {
        UnitValue.double(Decimal64(mantissa: 1, exponent: Int8(exponent)))
    }

    /// With decimals asked for, the result is the nearest number: compared with one division of whole numbers.
    @Test(arguments: Trials.seeds(3, from: 5)) func roundsToTheNearest(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let inches = try UnitValue.rule("[in_i]", "[ft_i]")
        for _ in 0..<2_000 {
            let mantissa = Int64.random(in: -99_999...99_999, using: &random)
            let digits = Int.random(in: 0...5, using: &random)
            let value = Decimal64(mantissa: mantissa, exponent: -2)
            let result = try #require(inches.convert(value, digits: digits))
            // value / 12 in units of the last decimal: mantissa × 10^digits / 1200.
            let top = mantissa * Decimal64.powers[digits]
            var wanted = top.magnitude / 1_200
            let rest = top.magnitude % 1_200
            if rest > 600 || (rest == 600 && wanted % 2 == 1) { wanted += 1 }
            #expect(result == Decimal64(mantissa: Int64(wanted) * (top < 0 ? -1 : 1), exponent: Int8(-digits)))
        }
    }

    /// Without, no digit that the value vouches for is lost.
    @Test(arguments: Trials.seeds(2, from: 8)) func keepsThePrecisionOfTheValue(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for units in Self.kinds where units[0] != "Cel" {
            for _ in 0..<40 {
                guard let from = units.randomElement(using: &random), let to = units.randomElement(using: &random)
                else {
                    continue
                }
                let value = Self.value(&random)
                let there = try #require(try UnitValue.rule(from, to).convert(value))
                let back = try #require(try UnitValue.rule(to, from).convert(there))
                let digits = max(String(value.mantissa.magnitude).count + 1, 4)
                let allowed = abs(UnitValue.double(value)) * power(1 - digits) * 1.02
                let error = abs(UnitValue.double(back) - UnitValue.double(value))
                #expect(error <= allowed, "\(value) \(from) → \(to) → \(back), seed \(seed)")
            }
        }
    }
}
