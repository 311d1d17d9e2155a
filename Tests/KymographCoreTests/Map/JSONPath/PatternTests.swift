import Testing

@testable import KymographCore
@testable import KymographTemplates
import TrialSupport

/// Regular expressions of filters.
@Suite struct PatternTests {
    static func matches(_ pattern: String, _ text: String, flags: String = "") throws -> Bool {
        var program = PatternProgram()
        _ = try PatternCompiler.compile(Array("unrelated".utf8), flags: [], into: &program)
        let number = try PatternCompiler.compile(Array(pattern.utf8), flags: Array(flags.utf8), into: &program)
        var matcher = PatternMatcher(program)
        let storage = PaddedBytes(copying: text.utf8)
        return matcher.matches(number, storage.view)
    }

    /// Pattern, flags, texts that match, texts that do not.
    static let table: [(String, String, [String], [String])] = [
        ("", "", ["", "a"], []), ("hr", "", ["hr", "xhry"], ["h r", "HR"]), ("^hr", "", ["hrv"], ["ahr"]),
        ("hr$", "", ["ahr", "hr\n"], ["hrv", "hr\n\n"]), ("^$", "", ["", "\n"], ["a"]),
        ("a.c", "", ["abc", "aéc", "a😀c"], ["ac", "a\nc"]), ("a.c", "s", ["a\nc"], []),
        ("^b", "m", ["a\nb", "b"], ["ab"]), ("^b", "", [], ["a\nb"]), ("a$", "m", ["a\nb"], ["ab"]),
        ("\\Ab", "m", ["b"], ["a\nb"]), ("b\\z", "", ["ab"], ["b\n"]), ("b\\Z", "", ["ab", "b\n"], ["bc"]),
        ("ab*c", "", ["ac", "abbbc"], ["adc"]), ("ab+c", "", ["abc"], ["ac"]), ("^ab?c$", "", ["ac", "abc"], ["abbc"]),
        ("^a{2}$", "", ["aa"], ["a", "aaa"]), ("^a{2,}$", "", ["aa", "aaaaa"], ["a"]),
        ("^a{1,3}$", "", ["a", "aaa"], ["", "aaaa"]), ("^a{0}b", "", ["b"], ["ab"]), ("a{,2}", "", ["a{,2}"], ["aa"]),
        ("a{x", "", ["a{x"], ["a"]), ("^(?:ab|c)+$", "", ["abcab", "c"], ["", "abb"]), ("a|b|", "", ["", "c"], []),
        ("^(a|b)(c|d)$", "", ["ad", "bc"], ["ab"]), ("[a-c]", "", ["b"], ["d", "B"]),
        ("[^a-c]", "", ["d"], ["abc", ""]),
        ("[]a]", "", ["]", "a"], ["b"]), ("[a-]", "", ["-", "a"], ["b"]), ("[\\d.]+x", "", ["1.2x"], ["x"]),
        ("^[^\\s]$", "", ["a"], [" ", "\t"]), ("^[\\S]$", "", ["a", "é"], [" ", "\u{A0}", "\n"]),
        ("^[\\D]$", "", ["a"], ["5", "٣"]), ("^\\d+$", "", ["42", "٣"], ["4a"]),
        ("^\\w+$", "", ["aé_9", "日本"], ["a-b"]),
        ("^\\W$", "", ["-", " "], ["a"]), ("^\\s$", "", [" ", "\t", "\u{85}", "\u{2003}"], ["a"]),
        ("\\bhr\\b", "", ["an hr x", "hr"], ["hrv", "éhr"]), ("\\Bhr", "", ["xhr"], ["hr", " hr"]),
        ("^\\p{Lu}\\p{Ll}$", "", ["Aé", "Ña"], ["aA"]), ("^\\P{L}$", "", ["1"], ["a"]),
        ("^[\\p{L}-]+$", "", ["a-é"], ["1"]),
        ("\\x41\\u00e9", "", ["Aé"], ["ae"]), ("^\\t\\n\\.\\/\\[$", "", ["\t\n./["], ["x"]),
        ("[\\b]", "", ["\u{8}"], ["b"]),
        ("HR", "i", ["hr", "Hr"], ["h"]), ("é", "i", ["É"], ["e"]), ("[a-z]", "i", ["Q"], ["1"]),
        ("[^a]", "i", ["b"], ["A"]),
        ("(?i)hr", "", ["HR"], []), ("(?i:h)r", "", ["Hr"], ["HR"]), ("((?i)h)r", "", ["Hr"], ["HR"]),
        ("(?-i)hr", "i", ["hr"], ["HR"]), ("(?#note)a", "", ["a"], ["b"]), ("(?<n>a)(?'m'b)", "", ["ab"], ["a"]),
        ("^(?=.*\\d)a", "", ["ab1"], ["ab"]), ("^(?!hr)", "", ["x", ""], ["hrv"]),
        ("(?<=\\d)x", "", ["1x"], ["ax", "x"]),
        ("(?<!\\d)x", "", ["x", "ax"], ["1x"]), ("^(?!.*(?=b)b)", "", ["aa"], ["ab"]),
        ("(a*)*b", "", ["aab", "b"], ["aa"]),
        ("(?:a?){3}b", "", ["b", "aaab"], ["a"]), ("^(?:)*$", "", [""], ["a"]), ("a+?b", "", ["aab"], ["b"]),
        ("^.$", "", ["é", "😀", "\u{10FFFF}"], ["ab", ""]), ("}]", "", ["}]"], []),
    ]

    @Test(arguments: table.indices) func matchesAsItShould(_ index: Int) throws {
        let (pattern, flags, matching, others) = PatternTests.table[index]
        for text in matching { #expect(try PatternTests.matches(pattern, text, flags: flags), "/\(pattern)/ \(text)") }
        for text in others { #expect(try !PatternTests.matches(pattern, text, flags: flags), "/\(pattern)/ \(text)") }
    }

    static let refused = [
        "(", ")", "a)", "(a", "[a", "*", "+a", "a**", "a{2}{3}", "a{3,2}", "a{1001}", "\\", "[\\", "\\1", "\\k<a>",
        "(?>a)",
        "(?(a)b)", "\\q", "\\G", "\\p{Xx}", "\\pL", "\\x4", "\\u12", "\\ud800", "[z-a]", "[a-[b]]", "(?<a b>c)", "(?<",
        "(?z)", "(?",
        "(?#", "(?i", "[", "(?<>a)", "((((a{999}){999}){999}){999})",
    ]

    @Test(arguments: refused) func refuses(_ pattern: String) {
        #expect(throws: PatternError.self) { _ = try PatternTests.matches(pattern, "") }
    }

    @Test func takesNoLongerForPatternsThatDefeatBacktracking() throws {
        let text = String(repeating: "a", count: 500)
        for pattern in ["^(a+)+$", "(a|a)*b", "(a*)*(a*)*(a*)*c", "(?:a?){30}a{30}b", "(.*)(.*)(.*)(.*)(.*)x$"] {
            let start = ContinuousClock.now
            #expect(try PatternTests.matches(pattern, text) == (pattern == "^(a+)+$"))
            #expect(ContinuousClock.now - start < .seconds(60), "\(pattern)")
        }
        // Looking around is quadratic, so it is limited instead.
        #expect(try PatternTests.matches("(?=a)b|a", text))
        #expect(try !PatternTests.matches("(?=a)b|a", String(repeating: "a", count: 1_025)))
        let nothing = String(repeating: "(", count: 30) + String(repeating: "){1000}", count: 30)
        #expect(try PatternTests.matches(nothing, "a"))
    }

    /// Random patterns over few characters, against a plain reading of what they mean.
    @Test(arguments: Trials.seeds(4)) func agreesWithWhatPatternsMean(_ seed: UInt64) throws {
        var random = WindowRandom(seed: seed)
        let count = Trials.count(tenthOf: 1_000)
        var matched = 0
        for _ in 0..<count {
            let model = PatternModel.random(&random, depth: 0)
            for _ in 0..<5 {
                let text = (0..<random.int(0...6)).map { _ in "ab1 é".randomElement(using: &random) ?? "a" }
                let expected = (0...text.count).contains { !model.ends(text, $0).isEmpty }
                matched += expected ? 1 : 0
                if try PatternTests.matches(model.pattern, String(text)) == expected { continue }
                Issue.record("seed \(seed): /\(model.pattern)/ of '\(String(text))': \(expected) expected")
            }
        }
        #expect(matched > count && matched < 49 * count / 10)
    }
}

/// A pattern and, for a text and a start, all places where what it matches can end.
private struct PatternModel {
    var pattern: String
    var ends: ([Character], Int) -> Set<Int>

    private static func one(_ pattern: String, _ takes: @escaping (Character) -> Bool) -> PatternModel {
        PatternModel(pattern: pattern) { text, start in start < text.count && takes(text[start]) ? [start + 1] : [] }
    }

    private static func place(_ pattern: String, _ holds: @escaping ([Character], Int) -> Bool) -> PatternModel {
        PatternModel(pattern: pattern) { text, start in holds(text, start) ? [start] : [] }
    }

    private static func isWordEdge(_ text: [Character], _ place: Int) -> Bool {
        (place > 0 && text[place - 1] != " ") != (place < text.count && text[place] != " ")
    }

    private static func atoms() -> [PatternModel] {
        [
            one("a") { $0 == "a" }, one("b") { $0 == "b" }, one("1") { $0 == "1" }, one("é") { $0 == "é" },
            one(".") { _ in true },
            one("[ab]") { "ab".contains($0) }, one("[^a]") { $0 != "a" }, one("[a-b1]") { "ab1".contains($0) },
            one("[^\\d]") { $0 != "1" }, one("\\d") { $0 == "1" }, one("\\w") { $0 != " " }, one("\\s") { $0 == " " },
            one("\\D") { $0 != "1" }, one("\\S") { $0 != " " }, one("[\\W1]") { " 1".contains($0) },
        ]
    }

    private static func places() -> [PatternModel] {
        [
            place("^") { $1 == 0 }, place("$") { $0.count == $1 }, place("\\b", isWordEdge),
            place("\\B") { !isWordEdge($0, $1) }, place("(?:)") { _, _ in true },
        ]
    }

    static func random(_ random: inout WindowRandom, depth: Int) -> PatternModel {
        let parts = (0..<random.int(0...3)).map { _ in part(&random, depth: depth) }
        return PatternModel(pattern: parts.map(\.pattern).joined()) { text, start in
            parts.reduce([start]) { starts, part in Set(starts.flatMap { part.ends(text, $0) }) }
        }
    }

    private static func part(_ random: inout WindowRandom, depth: Int) -> PatternModel {
        switch random.int(0...(depth > 2 ? 7 : 12)) {
        case 0...5: return repeated(random.pick(atoms()), &random)
        case 6, 7: return random.pick(places())
        case 8: return look(&random, depth: depth)
        default:
            let left = PatternModel.random(&random, depth: depth + 1)
            let right = PatternModel.random(&random, depth: depth + 1)
            let group = PatternModel(pattern: "(\(left.pattern)|\(right.pattern))") { text, start in
                left.ends(text, start).union(right.ends(text, start))
            }
            return repeated(group, &random)
        }
    }

    private static func look(_ random: inout WindowRandom, depth: Int) -> PatternModel {
        let inner = PatternModel.random(&random, depth: depth + 1)
        let isNegative = random.once(in: 2)
        if random.once(in: 2) {
            return place("(?\(isNegative ? "!" : "=")\(inner.pattern))") { inner.ends($0, $1).isEmpty == isNegative }
        }
        return place("(?<\(isNegative ? "!" : "=")\(inner.pattern))") { text, end in
            (0...end).contains { inner.ends(text, $0).contains(end) } != isNegative
        }
    }

    private static func repeated(_ model: PatternModel, _ random: inout WindowRandom) -> PatternModel {
        let sign = ["", "", "", "*", "+", "?", "{2}", "{1,2}", "*?", "{2,}"][random.int(0...9)]
        let counts = [
            "": (1, 1), "*": (0, 9), "+": (1, 9), "?": (0, 1), "{2}": (2, 2), "{1,2}": (1, 2), "*?": (0, 9),
            "{2,}": (2, 9),
        ]
        let (low, high) = counts[sign] ?? (1, 1)
        return PatternModel(pattern: model.pattern + sign) { text, start in
            var reached: Set<Int> = [start]
            var all: Set<Int> = low == 0 ? [start] : []
            for count in 1...max(high, 1) {
                reached = Set(reached.flatMap { model.ends(text, $0) })
                if count >= low { all.formUnion(reached) }
            }
            return all
        }
    }
}

extension WindowRandom {
    fileprivate mutating func pick<Element>(_ choices: [Element]) -> Element { choices[int(0...choices.count - 1)] }
}
