import KymographTestKit
import Testing

@testable import KymographCore
@testable import KymographTemplates
import TrialSupport

/// Which codes are units, and what is said of those that are none.
@Suite struct UCUMUnitTests {
    static let valid = [
        "1", "%", "kg", "g", "mg/dL", "mmol/L", "mm[Hg]", "cm[H2O]", "Cel", "[degF]", "mCel", "/min", "{beats}/min",
        "{steps}", "mL/min/{1.73_m2}", "ml/(kg.min)", "kg/m2", "kg.m-2", "10*3/uL", "10^9/L", "10*-6", "m3/s", "s+2",
        "[lb_av]", "[in_i'Hg]", "[arb'U]/mL", "m[IU]/L", "k[IU]", "U/L", "ukat/L", "meq/L", "mosm/kg", "dB", "B[SPL]",
        "dB[SPL]", "[pH]", "deg", "'", "''", "rad/s", "uV.s", "(mg/dL)", "2.kg", "cal/cm2", "[ppth]", "dar", "dag",
        "cd",
        "mol", "kat", "min", "%{vol}", "10.L/min", "((((m))))",
    ]

    @Test(arguments: valid) func readsCode(_ code: String) throws {
        #expect(try UCUMUnit.parse(code).code == code)
    }

    /// Code, character from 1, and what is said.
    static let errors: [(String, Int, String)] = [
        ("", 1, "the unit is empty; the unit of plain numbers is '1'"),
        ("mmHg", 1, "unknown unit 'mmHg'; the UCUM code is 'mm[Hg]'"),
        ("mg/lbs", 4, "unknown unit 'lbs'; the UCUM code is '[lb_av]'"),
        ("KG", 1, "unknown unit 'KG'; the UCUM code is 'kg'"),
        ("MOL", 1, "unknown unit 'MOL'; codes are case-sensitive: did you mean 'mol'?"),
        ("bpm", 1, "unknown unit 'bpm'; the UCUM code is '/min'"), ("foo", 1, "unknown unit 'foo'"),
        ("beats/min", 1, "unknown unit 'beats'; the UCUM code is '/min' or '{beats}/min'"),
        ("breaths/min", 1, "unknown unit 'breaths'; the UCUM code is '/min'"),
        ("count/h", 1, "unknown unit 'count'; the UCUM code is '{count}'"),
        ("°C", 1, "a UCUM code is ASCII without blanks; the UCUM code is 'Cel'"),
        ("mm Hg", 3, "a UCUM code is ASCII without blanks"), ("mg/", 4, "expected a unit, found 'end of unit'"),
        ("mg//dL", 4, "expected a unit, found '/'"), (".m", 1, "expected a unit, found '.'"),
        ("2kg", 2, "expected '.' between the number and the unit"), ("0.m", 1, "'0' is no factor"),
        ("m[Hg", 2, "the bracket is not closed; expected ']'"), ("m)", 2, "unexpected ')'"),
        ("(m", 3, "expected ')', found 'end of unit'"), ("{steps", 1, "the annotation is not closed; expected '}'"),
        ("m{a}2", 5, "unexpected '2'"), ("m-", 3, "expected digits behind the sign, found 'end of unit'"),
        ("m99", 2, "the exponent 99 is beyond 64"),
        ("k[lb_av]", 1, "'[lb_av]' takes no prefix, so 'k[lb_av]' is no unit"),
        ("Cel/h", 1, "Cel and [degF] are scales with a zero of their own and stand alone; differences are in K"),
        ("m.[degF]", 3, "Cel and [degF] are scales with a zero of their own and stand alone; differences are in K"),
        ("Cel2", 1, "Cel and [degF] are scales with a zero of their own and stand alone; differences are in K"),
        ("[lb_av]20", 1, "the factor of this unit is beyond exact arithmetic"), ("m]", 2, "unexpected ']'"),
        ("((((((((((((((((((m))))))))))))))))))", 17, "too many parentheses"),
        (
            "99999999999999999999999999999999999999999999", 1,
            "'99999999999999999999999999999999999999999999' is no factor"
        ),
    ]

    @Test(arguments: errors) func namesThePlace(_ code: String, _ character: Int, _ message: String) {
        let error = #expect(throws: ExpressionError.self) { try UCUMUnit.parse(code) }
        #expect(error?.message == message)
        #expect(error.map { $0.offset + 1 } == character)
    }

    @Test func everyUnitOfTheTableCanBeRead() throws {
        for entry in UCUMTable.entries.values {
            #expect(throws: Never.self, "\(entry.code)") { try UCUMUnit.parse(entry.code) }
        }
        for code in UCUMTable.meant.values { #expect(throws: Never.self, "\(code)") { try UCUMUnit.parse(code) } }
    }

    @Test func sameUnitsInOtherSpellingsAreCommensurable() throws {
        for (left, right) in [("kg/m2", "g.cm-2"), ("N", "kg.m/s2"), ("1", "{steps}"), ("Pa", "N/m2"), ("K", "[degF]")]
        {
            #expect(try UCUMUnit.parse(left).isCommensurable(with: UCUMUnit.parse(right)))
        }
        #expect(try !UCUMUnit.parse("mol").isCommensurable(with: UCUMUnit.parse("eq")))
    }

    /// Random characters give a unit or an error in the code, and never anything else.
    @Test(arguments: Trials.seeds(3)) func survivesAnyText(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let pieces = [
            "m", "k", "[Hg]", "[", "]", "{", "}", "(", ")", ".", "/", "-", "+", "2", "10*", "Cel", "°", " ", "g",
        ]
        for _ in 0..<5_000 {
            let count = Int.random(in: 0...12, using: &random)
            let code = (0..<count).compactMap { _ in pieces.randomElement(using: &random) }.joined()
            do throws(ExpressionError) {
                #expect(try UCUMUnit.parse(code).code == code)
            } catch {
                #expect((0...code.utf8.count).contains(error.offset), "\(code)")
            }
        }
    }
}
