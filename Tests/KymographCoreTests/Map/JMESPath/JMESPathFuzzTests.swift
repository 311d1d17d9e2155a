import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// Random documents and random expressions: no crash, no endless work, and a result that is JSON.
@Suite struct JMESPathFuzzTests {
    @Test(arguments: Trials.seeds(4)) func evaluatesAnythingByTheGrammar(_ seed: UInt64) throws {
        var texts = JMESPathTexts(random: WindowRandom(seed: seed))
        var results = 0
        for round in 0..<2_500 {
            let expression = texts.expression(depth: 0)
            let document = texts.document(depth: 0)
            let outcome = JMESPathOutcome.of(expression, document)
            #expect(!outcome.hasPrefix("syntax:"), "seed \(seed), round \(round): \(expression): \(outcome)")
            if outcome.hasPrefix("fails:") { continue }
            results += 1
            let tree = try? JSONTree(parsing: Array(outcome.utf8))
            #expect(tree != nil, "seed \(seed), round \(round): \(expression) on \(document): \(outcome)")
            #expect(JMESPathOutcome.of("(\(expression)) | @", document) == outcome, "seed \(seed): \(expression)")
        }
        #expect(results > 1_000)
    }

    @Test(arguments: Trials.seeds(4, from: 10)) func survivesAnyText(_ seed: UInt64) {
        var texts = JMESPathTexts(random: WindowRandom(seed: seed))
        var compiled = 0
        for _ in 0..<5_000 {
            let expression = texts.noise()
            if !JMESPathOutcome.of(expression, #"{"a":[{"b":1}],"c":"x"}"#).hasPrefix("syntax:") { compiled += 1 }
        }
        #expect(compiled > 100)
    }

    /// The whole document comes out as it went in.
    @Test func givesTheDocumentBack() throws {
        var texts = JMESPathTexts(random: WindowRandom(seed: Trials.seed(77)))
        for _ in 0..<1_000 {
            let document = texts.document(depth: 0)
            let tree = try JSONTree(parsing: Array(document.utf8))
            #expect(try JSONTree(parsing: Array(JMESPathOutcome.of("@", document).utf8)) == tree, "\(document)")
        }
    }
}

/// Makes expressions and documents.
struct JMESPathTexts {
    var random: WindowRandom

    private static let names = ["a", "b", "c", #""a b""#]
    private static let keys = [#""a""#, #""b""#, #""c""#, #""a b""#, #""\u0061""#]
    private static let scalars = [
        "null", "true", "false", "0", "1", "-2.50", "1e3", "12345678901234567890", #""""#, #""x""#, #""é😀\n\"\\""#,
        #""\ud83d\ude00""#, #""10""#,
    ]
    private static let literals = [
        "`1`", "`-1.5`", "'x'", "`null`", "`true`", "`[1, [2]]`", #"`{"a": {"b": "\u00e9"}}`"#, "''", "`1e400`",
    ]
    private static let pieces = [
        "a", "b", "c", ".", "*", "[", "]", "[?", "[]", "{", "}", "(", ")", ",", ":", "|", "||", "&&", "&", "!", "==",
        "<", "@", "0", "-1", "'x'",
        "`1`", "`", "'", "\"", "\\", " ", "length(", "sort_by(", "é", "\u{0}", "[*]", ".a", "[0]", "::",
    ]
    private static let functions = [
        "abs", "avg", "ceil", "floor", "keys", "length", "max", "min", "not_null", "reverse", "sort", "sum", "to_array",
        "to_number", "to_string",
        "type", "values", "merge", "fromUnixTimestamp", "fromUnixTimestampMs",
    ]
    private static let pairs = [
        "contains", "ends_with", "starts_with", "join", "add", "subtract", "multiply", "divide", "pow",
    ]

    private mutating func one(of choices: [String]) -> String { choices[random.int(0...choices.count - 1)] }

    mutating func document(depth: Int) -> String {
        let kind = depth == 0 ? 0 : random.int(0...4)
        if depth > 4 || kind > 2 { return one(of: JMESPathTexts.scalars) }
        let count = random.int(0...4)
        if kind == 2 { return "[" + (0..<count).map { _ in document(depth: depth + 1) }.joined(separator: ", ") + "]" }
        return "{"
            + (0..<count).map { _ in one(of: JMESPathTexts.keys) + ": " + document(depth: depth + 1) }.joined(
                separator: ",") + "}"
    }

    mutating func noise() -> String {
        (0..<random.int(1...8)).map { _ in one(of: JMESPathTexts.pieces) }.joined()
    }

    mutating func expression(depth: Int) -> String {
        if depth > 4 || random.once(in: 4) {
            return random.once(in: 4) ? one(of: JMESPathTexts.literals) : one(of: JMESPathTexts.names + ["@"])
        }
        return random.once(in: 2) ? step(depth + 1) : combination(depth + 1)
    }

    private mutating func step(_ depth: Int) -> String {
        let name = one(of: JMESPathTexts.names)
        switch random.int(0...9) {
        case 0: return "\(name)[\(random.int(-3...3))]"
        case 1: return "\(name)[\(random.int(-3...3)):\(random.int(-3...3)):\(one(of: ["1", "-1", "2", ""]))]"
        case 2: return "\(name)[*].\(one(of: JMESPathTexts.names))"
        case 3: return "\(name)[].\(one(of: JMESPathTexts.names))[]"
        case 4: return "\(name).*.\(one(of: JMESPathTexts.names))"
        case 5: return "\(name)[?\(expression(depth: depth))].*"
        case 6: return "\(name).[\(expression(depth: depth)), \(expression(depth: depth))]"
        case 7: return "\(name).{a: \(expression(depth: depth)), \"b\": \(expression(depth: depth))}"
        case 8: return "@.\(name)"
        default: return "!\(name)"
        }
    }

    private mutating func combination(_ depth: Int) -> String {
        let first = expression(depth: depth)
        let second = expression(depth: depth)
        switch random.int(0...7) {
        case 0: return "(\(first)) | \(second)"
        case 1: return "(\(first)) \(one(of: ["||", "&&", "==", "!=", "<", "<=", ">", ">="])) (\(second))"
        case 2: return "\(one(of: JMESPathTexts.functions))(\(first))"
        case 3: return "\(one(of: JMESPathTexts.pairs))(\(first), \(second))"
        case 4: return "\(one(of: ["sort_by", "max_by", "min_by"]))(\(first), &\(second))"
        case 5: return "map(&\(first), \(second))"
        case 6: return "insertString(\(first), \(second), `\(random.int(-1...3))`)"
        default: return "[\(first), \(second)]"
        }
    }
}
