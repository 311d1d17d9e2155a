import Testing

@testable import KymographCore

/// Values in other units, to the digit.
@Suite struct UnitConversionTests {
    /// Value, unit, unit wanted, and the value in it.
    static let known: [(String, String, String, String)] = [
        ("98.6", "[degF]", "Cel", "37.0"), ("100.4", "[degF]", "Cel", "38.0"), ("99", "[degF]", "Cel", "37.22"),
        ("97.7", "[degF]", "Cel", "36.5"), ("37.0", "Cel", "[degF]", "98.6"), ("36.65", "Cel", "[degF]", "97.97"),
        ("-40", "Cel", "[degF]", "-40"), ("0", "Cel", "K", "273.15"), ("300", "K", "Cel", "26.85"),
        ("0.0", "Cel", "[degF]", "32.0"), ("32", "[degF]", "Cel", "0"), ("-459.67", "[degF]", "K", "0.00"),
        ("150", "[lb_av]", "kg", "68.04"), ("150.0", "[lb_av]", "kg", "68.039"), ("70", "kg", "[lb_av]", "154.3"),
        ("12", "[stone_av]", "kg", "76.20"), ("8", "[oz_av]", "g", "226.8"), ("1", "[lb_av]", "[oz_av]", "16"),
        ("1", "[in_i]", "cm", "2.54"), ("5.9", "[ft_i]", "cm", "179.8"), ("180", "cm", "m", "1.80"),
        ("1", "[mi_i]", "m", "1609"), ("1.000", "[mi_i]", "m", "1609.3"), ("10", "km", "[mi_i]", "6.214"),
        ("60", "[mi_i]/h", "km/h", "96.56"), ("25", "[kn_i]", "km/h", "46.3"), ("5", "m/s", "km/h", "18"),
        ("16.0", "kPa", "mm[Hg]", "120.0"), ("120", "mm[Hg]", "kPa", "16.00"), ("1", "bar", "mm[Hg]", "750.1"),
        ("1", "atm", "kPa", "101.3"), ("10", "cm[H2O]", "mm[Hg]", "7.356"), ("14.7", "[psi]", "kPa", "101.4"),
        ("72", "/min", "Hz", "1.2"), ("1.5", "Hz", "{beats}/min", "90"), ("90", "min", "h", "1.5"),
        ("1", "wk", "d", "7"), ("365", "d", "s", "31536000"), ("500", "[Cal]", "kJ", "2092"),
        ("2092", "kJ", "kcal", "500.0"), ("0.97", "1", "%", "97"), ("98", "%", "1", "0.98"),
        ("250", "mL", "L", "0.250"), ("8", "[foz_us]", "mL", "236.6"), ("1", "[gal_us]", "L", "3.785"),
        ("40", "U/L", "ukat/L", "0.6667"), ("1", "mg/dL", "g/L", "0.01"), ("5.0", "10*9/L", "10*3/uL", "5.0"),
        ("180", "deg", "rad", "3.142"), ("90", "deg", "'", "5400"), ("1.0", "kat", "U", "60000000"),
        ("140", "meq/L", "eq/L", "0.140"), ("0.00000000000000001", "km", "fm", "10"), ("0", "[lb_av]", "kg", "0"),
        ("-5.00", "[in_i]", "cm", "-12.7"), ("1e3", "[in_i]", "cm", "2540"),
    ]

    @Test(arguments: known) func convertsExactly(_ value: String, _ from: String, _ to: String, _ wanted: String) throws
    {
        #expect(try UnitValue.convert(value, from, to) == wanted)
    }

    /// Value, unit, unit wanted, decimals, and the value in it.
    static let rounded: [(String, String, String, Int, String)] = [
        ("98.6", "[degF]", "Cel", 1, "37.0"), ("97.7", "[degF]", "Cel", 2, "36.50"),
        ("150", "[lb_av]", "kg", 2, "68.04"),
        ("25", "mm", "cm", 0, "2"), ("35", "mm", "cm", 0, "4"), ("25.001", "mm", "cm", 0, "3"),
        ("-25", "mm", "cm", 0, "-2"),
        ("-4", "mm", "cm", 0, "0"), ("0", "mm", "cm", 2, "0.00"), ("1", "nm", "km", 3, "0.000"),
        ("120.5", "mm[Hg]", "kPa", 3, "16.065"), ("1e2", "[in_i]", "cm", 1, "254.0"),
        ("0.5", "mm", "mm", 0, "0.5"),
    ]

    @Test(arguments: rounded) func roundsHalfToEven(
        _ value: String, _ from: String, _ to: String, _ digits: Int, _ wanted: String
    ) throws {
        #expect(try UnitValue.convert(value, from, to, digits: digits) == wanted)
    }

    @Test func convertsGlucoseByItsMolarMass() throws {
        func convert(_ value: String, _ from: String, _ to: String, digits: Int? = nil) throws -> String {
            try UnitValue.convert(value, from, to, digits: digits, substance: .glucose)
        }
        #expect(try convert("100", "mg/dL", "mmol/L") == "5.551")
        #expect(try convert("100", "mg/dL", "mmol/L", digits: 2) == "5.55")
        #expect(try convert("5.5", "mmol/L", "mg/dL", digits: 0) == "99")
        #expect(try convert("7.0", "mmol/L", "mg/dL", digits: 1) == "126.1")
        #expect(try convert("1", "mol", "g") == "180.2")
        #expect(try convert("180.156", "g", "mol") == "1.00000")
        #expect(try convert("90", "mg/dL", "g/L") == "0.90")
    }

    @Test func leavesValuesOfTheSameUnitAlone() throws {
        for (from, to) in [("kg", "kg"), ("L", "l"), ("mL", "cm3"), ("{beats}/min", "/min"), ("Cel", "Cel")] {
            #expect(try UnitValue.rule(from, to).isIdentity)
            #expect(try UnitValue.convert("22.40", from, to, digits: 0) == "22.40")
        }
    }

    @Test func refusesWhatDoesNotFit() throws {
        let most = String(repeating: "9", count: 18)
        #expect(try UnitValue.convert(most, "kg", "mg") == "\(most)E6")
        #expect(try UnitValue.convert(most, "kg", "mg", digits: 0) == "-")
        #expect(try UnitValue.convert(most, "mg", "kg") == "999999999999.999999")
        #expect(try UnitValue.convert(most, "Cel", "K") == "100000000000000027E1")
        #expect(try UnitValue.convert("1e100", "km", "fm") == "-")
        #expect(try UnitValue.convert("1e-100", "fm", "km") == "-")
        #expect(try UnitValue.convert("1e60", "Cel", "[degF]") == "-")
    }

    /// Unit, unit wanted, and what is said.
    static let mismatches: [(String, String, String)] = [
        ("kg", "m", "'kg' is a mass (g) and 'm' is a length (m)"),
        ("mm[Hg]", "/min", "'mm[Hg]' is a pressure (g.m-1.s-2) and '/min' is a frequency (s-1)"),
        (
            "mg/dL", "mmol/L",
            "'mg/dL' is a mass concentration (g.m-3) and 'mmol/L' is an amount concentration (m-3.mol)"
        ),
        (
            "mmol/L", "meq/L",
            "'mmol/L' is an amount concentration (m-3.mol) and 'meq/L' is a concentration of equivalents (eq.m-3)"
        ),
        ("[IU]", "mg", "'[IU]' is of dimension [IU] and 'mg' is a mass (g)"),
        ("%", "kg", "'%' is a plain number (1) and 'kg' is a mass (g)"),
        ("[pH]", "mol/L", "'[pH]' is of dimension [pH] and 'mol/L' is an amount concentration (m-3.mol)"),
    ]

    @Test(arguments: mismatches) func namesWhatBothMeasure(_ from: String, _ to: String, _ message: String) throws {
        let mismatch = #expect(throws: UnitMismatch.self) { try UnitValue.rule(from, to) }
        #expect(mismatch?.message == message)
        let asksForSubstance = mismatch?.advice.contains("\"substance\"") ?? false
        #expect(asksForSubstance == (from == "mg/dL"))
    }

    @Test func sayFactorsThatAreTooLarge() throws {
        let mismatch = #expect(throws: UnitMismatch.self) { try UnitValue.rule("[lb_av]4", "g4") }
        #expect(mismatch?.message.contains("beyond exact arithmetic") ?? false)
    }
}
