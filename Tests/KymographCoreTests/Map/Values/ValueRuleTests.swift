import KymographTestKit
import Testing

@testable import KymographCore
import TrialSupport

/// What rules make of the texts of a payload.
@Suite struct ValueRuleTests {
    private static let mass = #"""
        "valueExpression": "$.weight", "unit": {"expression": "$.unit", "to": "kg", "digits": 2,
          "units": {"kg": "kg", "lb": "[lb_av]", "": "g"}}
        """#

    @Test func convertsByTheUnitOfThePayload() throws {
        let rule = try RuleRun(Self.mass)
        #expect(rule.readsUnit)
        #expect(rule.apply("150", unit: "lb") == "68.04")
        #expect(rule.apply("72.345", unit: "kg") == "72.345")
        #expect(rule.apply("70500") == "70.50")
        #expect(rule.apply("70500", unit: "") == "70.50")
        for unknown in ["LB", "lb ", "st", "k"] { #expect(rule.apply("1", unit: unknown) == "!unknownUnit") }
        #expect(rule.apply("heavy", unit: "kg") == "!invalidValue")
        #expect(rule.apply("1234567890123456789", unit: "kg") == "!inexactNumber")
        #expect(rule.apply("123456789012345678", unit: "lb") == "!inexactNumber")
    }

    @Test func rejectsAMissingUnitThatIsNotListed() throws {
        let rule = try RuleRun(
            #""valueExpression": "$.w", "unit": {"expression": "$.u", "units": {"kg": "kg"}, "to": "kg"}"#)
        #expect(rule.apply("1", unit: nil) == "!unknownUnit")
        #expect(rule.apply("1", unit: "") == "!unknownUnit")
        #expect(!rule.unit.isAbsent)
    }

    @Test func convertsAFixedUnit() throws {
        let rule = try RuleRun(
            #"""
            "valueExpression": "$.g", "unit": {"from": "mmol/L", "to": "mg/dL", "substance": "glucose", "digits": 0}
            """#)
        #expect(!rule.readsUnit)
        #expect(rule.unit.isAbsent)
        #expect(rule.apply("5.5") == "99")
        #expect(rule.apply("5.5", unit: "ignored") == "99")
        #expect(rule.apply("-") == "!invalidValue")
    }

    @Test func mapsTexts() throws {
        let rule = try RuleRun(
            #""valueExpression": "$.p", "map": {"1": "sitting", "true": "standing", "ä\n": "", "2": 3, "no": false}"#)
        #expect(rule.apply("1") == "'sitting'")
        #expect(rule.apply("true") == "'standing'")
        #expect(rule.apply("ä\n") == "''")
        #expect(rule.apply("2") == "'3'")
        #expect(rule.apply("no") == "'false'")
        for unknown in ["1.0", "True", "", "11"] { #expect(rule.apply(unknown) == "!unmappedValue") }
        let lenient = try RuleRun(#""valueExpression": "$.p", "map": {"1": "sitting"}, "mapDefault": "unknown""#)
        #expect(lenient.apply("1") == "'sitting'")
        #expect(lenient.apply("2") == "'unknown'")
    }

    @Test func hasConstantsAndDefaults() throws {
        #expect(try RuleRun(#""constant": "home""#).constant == "home")
        #expect(try RuleRun(#""constant": 1.50"#).constant == "1.50")
        #expect(try RuleRun(#""constant": true"#).constant == "true")
        #expect(try RuleRun(#""constant": """#).constant == "")
        let rule = try RuleRun(#""valueExpression": "$.q", "default": "good""#)
        #expect(rule.constant == nil)
        #expect(rule.fallback == "good")
        #expect(rule.apply("bad") == "'bad'")
        let mapped = try RuleRun(#""valueExpression": "$.q", "default": 0, "map": {"0": "good", "1": "bad"}"#)
        #expect(mapped.fallback.map { mapped.apply($0) } == "'good'")
        let converted = try RuleRun(
            #""valueExpression": "$.q", "default": false, "map": {}, "mapDefault": "x""#.replacing(
                "{}", with: #"{"a": 1}"#)
        )
        #expect(converted.fallback.map { converted.apply($0) } == "'x'")
    }

    @Test func valuesWithoutRuleHaveNone() throws {
        let set = try MappingRun(device: RuleRun.device(#""valueExpression": "$.q""#)).set
        let code = set.code(of: [0])
        #expect(code.rules.isEmpty)
        #expect(code.values[0].rule == -1)
    }

    /// Maps of any size find what is in them and nothing else.
    @Test(arguments: Trials.seeds(3)) func findsEveryEntry(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for size in [1, 2, 15, 16, 17, 300] {
            var entries: [String: String] = [:]
            while entries.count < size {
                let key = (0..<Int.random(in: 1...6, using: &random)).map { _ in "abcß"[random.next()] }.joined()
                entries[key] = "→\(key)"
            }
            let members = entries.map { "\"\($0.key)\": \"\($0.value)\"" }.joined(separator: ", ")
            let rule = try RuleRun(#""valueExpression": "$.p", "map": {\#(members)}"#)
            for (key, value) in entries { #expect(rule.apply(key) == "'\(value)'") }
            for _ in 0..<200 {
                let key = (0..<Int.random(in: 0...7, using: &random)).map { _ in "abcß"[random.next()] }.joined()
                #expect(rule.apply(key) == (entries[key].map { "'\($0)'" } ?? "!unmappedValue"))
            }
        }
    }

    @Test func rejectionsKeepTheirNumbers() {
        #expect(Rejection.unknownUnit.rawValue == 25)
        #expect(Rejection.unmappedValue.rawValue == 26)
    }
}

extension String {
    /// The character at `random`, counted around.
    fileprivate subscript(random: UInt64) -> String {
        String(self[index(startIndex, offsetBy: Int(random % UInt64(count)))])
    }
}
