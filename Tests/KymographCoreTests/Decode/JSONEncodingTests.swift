import KymographCore
import Testing

/// UTF-8 in strings and keys (Unicode 15, table 3-7), and bytes behind the end.
@Suite struct JSONEncodingTests {
    static let wellFormed: [[UInt8]] = [
        [0x7F], [0xC2, 0x80], [0xDF, 0xBF], [0xE0, 0xA0, 0x80], [0xEC, 0xBF, 0xBF], [0xED, 0x80, 0x80],
        [0xED, 0x9F, 0xBF], [0xEE, 0x80, 0x80], [0xEF, 0xBF, 0xBF], [0xEF, 0xBB, 0xBF], [0xF0, 0x90, 0x80, 0x80],
        [0xF1, 0x80, 0x80, 0x80], [0xF3, 0xBF, 0xBF, 0xBF], [0xF4, 0x80, 0x80, 0x80], [0xF4, 0x8F, 0xBF, 0xBF],
    ]

    static let illFormed: [[UInt8]] = [
        // Lone trail bytes and lone leads.
        [0x80], [0xBF], [0xC2], [0xE1], [0xF1], [0xC2, 0x41], [0xE1, 0x80], [0xE1, 0x80, 0x41], [0xF1, 0x80, 0x80],
        [0xF1, 0x80, 0x80, 0x41], [0xF1, 0x80, 0x41, 0x80], [0xE1, 0x41, 0x80],
        // Overlong forms.
        [0xC0, 0x80], [0xC0, 0xAF], [0xC1, 0xBF], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF], [0xF0, 0x80, 0x80, 0x80],
        [0xF0, 0x8F, 0xBF, 0xBF],
        // Surrogates.
        [0xED, 0xA0, 0x80], [0xED, 0xAF, 0xBF], [0xED, 0xB0, 0x80], [0xED, 0xBF, 0xBF],
        [0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80],
        // Beyond U+10FFFF, and bytes that never occur.
        [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xF7, 0xBF, 0xBF, 0xBF], [0xF8, 0x88, 0x80, 0x80, 0x80],
        [0xFC, 0x84, 0x80, 0x80, 0x80, 0x80], [0xFE], [0xFF],
    ]

    /// A string value and a key with `content` at every place relative to the eight-byte words of the scan.
    private func documents(_ content: [UInt8]) -> [[UInt8]] {
        (0...9).flatMap { shift in
            let text = Array(String(repeating: "a", count: shift).utf8) + content + Array("zz".utf8)
            return [
                Array("\"".utf8) + text + Array("\"".utf8),
                Array("{\"".utf8) + text + Array("\":1}".utf8),
                Array("[{\"k\":\"".utf8) + text + Array("\"}]".utf8),
            ]
        }
    }

    @Test(arguments: wellFormed) func acceptsWellFormed(_ content: [UInt8]) {
        for document in documents(content) { #expect(ScanOutcome(document).isValid, "\(document)") }
    }

    @Test(arguments: illFormed) func refusesIllFormed(_ content: [UInt8]) {
        for document in documents(content) { #expect(ScanOutcome(document).reason == .invalidUTF8, "\(document)") }
    }

    @Test func acceptsExactlyTheScalarsThatUTF8CanEncode() {
        for value in stride(from: UInt32(0x80), through: 0x10FFFF, by: 61) {
            guard let scalar = Unicode.Scalar(value) else { continue }
            #expect(ScanOutcome("\"\(Character(scalar))\"").isValid, "U+\(String(value, radix: 16))")
        }
    }

    @Test(arguments: wellFormed.filter { $0.count > 1 }) func refusesACharacterCutOffByTheEnd(_ content: [UInt8]) {
        for kept in 1..<content.count {
            let document = Array("\"".utf8) + content.prefix(kept)
            let tail = Array(content.dropFirst(kept)) + Array("\"".utf8)
            #expect(ScanOutcome(document, tail: tail) == .refused(.invalidUTF8, 1), "\(document)")
        }
    }

    // MARK: Behind the end

    static let tails: [String] = [
        "\"", "0", "9", "}", "]", "e", "e5", ".5", "true", "ull", "\\", "\u{0}", " ", ",1", ":1}", "u0041", "\n", "l",
        "se",
        "\"}]}]}", "{\"a\":1}",
    ]

    @Test(arguments: JSONGrammarTests.valid + JSONGrammarTests.invalid)
    func doesNotLookBehindTheEnd(_ document: String) {
        let bytes = Array(document.utf8)
        for end in 0...bytes.count {
            let prefix = bytes[0..<end]
            let alone = ScanOutcome(prefix)
            // The rest of the document itself is the most tempting thing to find there.
            let rest = Array(bytes[end...])
            for tail in JSONEncodingTests.tails.map({ Array($0.utf8) }) + [rest, rest + rest] {
                let outcome = ScanOutcome(prefix, tail: tail, names: ["a", "b"])
                #expect(outcome == alone, "\(String(decoding: prefix, as: UTF8.self)) before \(tail)")
            }
        }
    }
}
