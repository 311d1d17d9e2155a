import Foundation
import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// What is shown to people commands no terminal, and looks like what it is.
@Suite struct PrintableTextTests {
    @Test(arguments: [
        ("plain, größer, 日本, 🩺", "plain, größer, 日本, 🩺"), ("\u{1B}[2J", #"\u001b[2J"#), ("a\u{7F}b", #"a\u007fb"#),
        ("\u{9B}31m", #"\u009b31m"#), ("\u{202E}1-p\u{202C}", #"\u202e1-p\u202c"#),
        ("\u{2066}x\u{2069}", #"\u2066x\u2069"#),
        ("a\u{2028}b\u{2029}", #"a\u2028b\u2029"#), ("\u{FEFF}\u{200E}\u{200F}\u{61C}", #"\ufeff\u200e\u200f\u061c"#),
        ("\0", #"\u0000"#), ("", ""),
        ("\u{A0}\u{2027}\u{202F}\u{2065}\u{206A}", "\u{A0}\u{2027}\u{202F}\u{2065}\u{206A}"),
    ])
    func isEscaped(text: String, shown: String) {
        #expect(PrintableText.line(text) == shown && PrintableText.lines(text) == shown)
        #expect(PrintableText.lines(Array(text.utf8)) == Array(shown.utf8))
    }

    @Test func linesStayOrNot() {
        #expect(PrintableText.lines("a\tb\r\nc\n") == "a\tb\\u000d\nc\n")
        #expect(PrintableText.line("a\tb\r\nc\n") == #"a\u0009b\u000d\u000ac\u000a"#)
    }

    /// Bytes that are no UTF-8 end nothing too early, and what is within them is found.
    @Test func brokenSequences() {
        #expect(
            PrintableText.lines([0xC2]) == [0xC2] && PrintableText.lines([0x61, 0xE2, 0x80]) == [0x61, 0xE2, 0x80])
        #expect(!PrintableText.lines([0xE2, 0x1B, 0x5B]).contains(0x1B))
        #expect(!PrintableText.lines([0xEF, 0xE2, 0x80, 0xAE]).contains(0xAE))
    }

    /// Nothing that is escaped is left, all else is as it was, and JSON stays the same document.
    @Test(arguments: Trials.seeds(100)) func anyText(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let scalars = (0..<200).map { _ in
            let most: UInt32 = [0xFF, 0x3000, 0xFFFF].randomElement(using: &generator) ?? 0xFF
            return Unicode.Scalar(UInt32.random(in: 0...most, using: &generator)) ?? "a"
        }
        let text = String(String.UnicodeScalarView(scalars))
        let shown = PrintableText.line(text)
        #expect(!shown.unicodeScalars.contains { Self.isHostile($0) }, "seed \(seed)")
        let expected = scalars.map { scalar in
            let digits = String(scalar.value, radix: 16)
            return Self.isHostile(scalar)
                ? "\\u" + String(repeating: "0", count: 4 - digits.count) + digits : String(scalar)
        }
        #expect(shown.utf8.elementsEqual(expected.joined().utf8), "seed \(seed)")
        let json = Array("{\"a\":\(KymographCore.JSONText.quoted(text))}".utf8)
        let value = try JSONTree(parsing: PrintableText.lines(json))["a"]?.text
        #expect(value.map { $0.utf8.elementsEqual(text.utf8) } == true, "seed \(seed)")
    }

    /// By the properties of Unicode, and by the list of UAX #9.
    private static func isHostile(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: return true
        default: return scalar.properties.isBidiControl || scalar.value == 0xFEFF
        }
    }
}
