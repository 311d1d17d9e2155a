import KymographCore
import KymographTestKit
import Testing
import TrialSupport

@Suite struct NamePatternTests {
    @Test(arguments: [
        ("heartRate", "heartRate", true), ("heartRate", "heartrate", false), ("heart", "heartRate", false),
        ("*", "", true), ("*", "anything", true), ("", "", true), ("", "x", false),
        ("ward-3-*", "ward-3-12", true), ("ward-3-*", "ward-31", false), ("*-7", "bed-7", true),
        ("a*a", "a", false), ("a*a", "aa", true), ("a*b*c", "aXbXbXc", true), ("*é*", "café au lait", true),
    ])
    func matches(pattern: String, name: String, isMatch: Bool) {
        #expect(NamePattern(pattern).matches(name.utf8) == isMatch)
    }

    /// Against the definition, taken at its word.
    @Test func isWhatItSays() {
        func matches(_ pattern: Substring, _ name: Substring) -> Bool {
            guard let first = pattern.first else { return name.isEmpty }
            if first != "*" { return name.first == first && matches(pattern.dropFirst(), name.dropFirst()) }
            return (0...name.count).contains { matches(pattern.dropFirst(), name.dropFirst($0)) }
        }
        var random = SeededGenerator(seed: Trials.seed(31))
        func text(_ letters: [String], _ most: Int) -> String {
            (0..<Int.random(in: 0..<most, using: &random)).map { _ in
                letters[Int.random(in: 0..<letters.count, using: &random)]
            }.joined()
        }
        var found = 0
        for _ in 0..<20_000 {
            let (pattern, name) = (text(["a", "b", "*"], 7), text(["a", "b"], 9))
            let expected = matches(pattern[...], name[...])
            #expect(NamePattern(pattern).matches(name.utf8) == expected, "\(pattern) \(name)")
            found += expected ? 1 : 0
        }
        #expect(found > 1_000)
    }
}
