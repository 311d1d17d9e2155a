import Testing

@testable import Kymograph

/// How the log names many letters: each of them, since nothing else names those that were discarded.
@Suite struct NumberRangesTests {
    @Test(arguments: [
        ([], ""), ([7], "7"), ([7, 8], "7-8"), ([1, 2, 3, 5, 7, 8], "1-3, 5, 7-8"),
        ([1, 3, 5], "1, 3, 5"), ([Int64.max - 1, Int64.max], "9223372036854775806-9223372036854775807"),
    ])
    func texts(numbers: [Int64], text: String) { #expect(NumberRanges.text(of: numbers) == text) }

    @Test func manyAreFewWords() { #expect(NumberRanges.text(of: Array(3...9_999)) == "3-9999") }
}
