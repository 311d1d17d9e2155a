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

    /// Bytes that are no UTF-8 take nothing with them, and those of them that are C1 are escaped. Each character stands
    /// for a byte.
    @Test(arguments: [
        ("\u{C2}A\u{9B}31m", "\u{C2}A\\u009b31m"), ("\u{C2}\na", "\u{C2}\na"), ("\u{C2}\u{1B}", "\u{C2}\\u001b"),
        ("\u{E2}\u{1B}[", "\u{E2}\\u001b["), ("\u{EF}\u{E2}\u{80}\u{AE}", "\u{EF}\\u202e"),
        // Overlong, a surrogate, and beyond U+10FFFF.
        ("\u{C0}\u{9B}", "\u{C0}\\u009b"), ("\u{E0}\u{82}\u{9B}", "\u{E0}\\u0082\\u009b"),
        ("\u{ED}\u{A0}\u{9B}", "\u{ED}\u{A0}\\u009b"), ("\u{F4}\u{90}\u{A0}\u{9B}", "\u{F4}\\u0090\u{A0}\\u009b"),
        // Bytes of C1 within what is valid: À, Û and a lift.
        ("\u{C3}\u{80}\u{C3}\u{9B}", "\u{C3}\u{80}\u{C3}\u{9B}"),
        ("\u{F0}\u{9F}\u{9B}\u{97}", "\u{F0}\u{9F}\u{9B}\u{97}"),
        // Cut off at the end.
        ("\u{C2}", "\u{C2}"), ("\u{E2}\u{80}", "\u{E2}\\u0080"), ("a\u{E2}\u{A0}", "a\u{E2}\u{A0}"),
        ("\u{F0}\u{9F}\u{A9}", "\u{F0}\\u009f\u{A9}"),
    ])
    func brokenSequences(bytes: String, shown: String) {
        let output = PrintableText.lines(bytes.unicodeScalars.map { UInt8($0.value) })
        #expect(output == shown.unicodeScalars.map { UInt8($0.value) }, "\(output)")
    }

    /// By the decoder of the standard library: what it replaces by U+FFFD keeps its bytes, but for those of C1.
    @Test(arguments: Trials.seeds(100)) func anyBytes(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let pieces: [[UInt8]] = [
            [0xC2], [0xE2, 0x80], [0xE2], [0xF0, 0x9F], [0xEF, 0xBB], [0xC3, 0xA9], Array("🩺À".utf8),
        ]
        let bytes = (0..<200).flatMap { _ in
            Bool.random(using: &generator)
                ? pieces.randomElement(using: &generator) ?? [] : [UInt8.random(in: 0...0xFF, using: &generator)]
        }
        var expected: [UInt8] = []
        var rest = bytes[...]
        while let first = rest.first {
            let length = (1...4).first { String(validating: rest.prefix($0), as: UTF8.self)?.unicodeScalars.count == 1 }
            let scalar = length.flatMap { String(decoding: rest.prefix($0), as: UTF8.self).unicodeScalars.first }
            let value = scalar ?? Unicode.Scalar(first)
            let stays = value == "\n" || value == "\t" || !Self.isHostile(value)
            expected += stays ? Array(rest.prefix(length ?? 1)) : Array(Self.escape(value).utf8)
            rest = rest.dropFirst(length ?? 1)
        }
        #expect(PrintableText.lines(bytes) == expected, "seed \(seed)")
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
            Self.isHostile(scalar) ? Self.escape(scalar) : String(scalar)
        }
        #expect(shown.utf8.elementsEqual(expected.joined().utf8), "seed \(seed)")
        let json = Array("{\"a\":\(KymographCore.JSONText.quoted(text))}".utf8)
        let value = try JSONTree(parsing: PrintableText.lines(json))["a"]?.text
        #expect(value.map { $0.utf8.elementsEqual(text.utf8) } == true, "seed \(seed)")
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }

    /// By the properties of Unicode, and by the list of UAX #9.
    private static func isHostile(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: return true
        default: return scalar.properties.isBidiControl || scalar.value == 0xFEFF
        }
    }
}
