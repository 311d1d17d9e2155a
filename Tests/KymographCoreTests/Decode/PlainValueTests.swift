@testable import KymographCore
import Testing

/// Where plain values end is where the scanner says that values end, and what is not plain is left to it.
@Suite struct PlainValueTests {
    private static let someTexts = [
        "", "a", "dev-00045", "fifteen-letters", "sixteen-letters-", "seventeen-letters", "a\\n", "\u{1}", "é",
        "abcdefg\\\"", "0123456789ab\t", "a text that takes more than thirty-two bytes",
    ]
    private static let someNumbers = [
        "1", "0", "01", "1700000000000", "123456789012345", "1234567890123456", "12345678901234567", "12.5", "0.25",
        "-3", "", "1e5", "1700000000000.5", "1.",
    ]

    @Test(arguments: someTexts) func texts(_ text: String) {
        let storage = PaddedBytes(copying: (text + "\",\"next\":1}").utf8)
        let scanned = JSONStringScan.scan(storage.view, from: 0)
        let isPlain = text.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }
        #expect(PlainValue.textEnd(storage.view, 0) == (isPlain ? scanned.end : PlainValue.none))
        if isPlain { #expect(scanned.end == text.utf8.count) }
    }

    @Test(arguments: someNumbers) func numbers(_ number: String) {
        let storage = PaddedBytes(copying: (number + ",\"next\":1}").utf8)
        var point = 0
        let end = PlainValue.numberEnd(storage.view, 0, &point)
        let isPlain = number.wholeMatch(of: /(0|[1-9][0-9]*)(\.[0-9]+)?/) != nil
        // An exponent is what is behind a plain number.
        let expected = isPlain ? number.utf8.count : number == "1e5" ? 1 : PlainValue.none
        #expect(end == expected)
        if isPlain {
            #expect(end == JSONScanner.numberEnd(storage.view, 0))
            #expect(
                point
                    == (number.utf8.firstIndex(of: UInt8(ascii: ".")).map {
                        number.utf8.distance(from: number.utf8.startIndex, to: $0)
                    } ?? 0))
        }
    }
}
