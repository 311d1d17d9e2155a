import KymographCore
import KymographTestKit
import Testing
import TrialSupport

@testable import Kymograph

/// Places of YAML's lines and columns in bytes.
@Suite struct TextPlacesTests {
    /// What ends a line for YAML, and what does not.
    private static let parts = ["a", "é", "𝛑", "\n", "\r", "\r\n", "\u{85}", "\u{2028}", "\u{2029}", "\u{2027}"]

    /// Every line and column of random texts, and some beyond the end, as one finds them by reading from the start.
    @Test(arguments: Trials.seeds(tenthOf: 100)) func areThoseOfReadingFromTheStart(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let text = (0..<Int.random(in: 0..<40, using: &random)).map { _ in
            Self.parts[Int.random(in: 0..<Self.parts.count, using: &random)]
        }.joined()
        let bytes = Array(text.utf8)
        let places = TextPlaces(bytes)
        for line in 1...12 {
            for column in 1...12 {
                let offset = Self.offset(line, column, in: text)
                let found = places.position(line: line, column: column)
                #expect(found == Self.position(offset, in: bytes), "\(line):\(column) of \(bytes)")
            }
        }
        for offset in 0...bytes.count + 1 {
            #expect(places.position(offset) == Self.position(offset, in: bytes), "\(offset) of \(bytes)")
        }
    }

    /// The byte at a line and column that count scalars.
    private static func offset(_ line: Int, _ column: Int, in text: String) -> Int {
        var (rest, offset) = (Array(text.unicodeScalars)[...], 0)
        func take() -> Unicode.Scalar? {
            guard let scalar = rest.popFirst() else { return nil }
            offset += String(scalar).utf8.count
            return scalar
        }
        for _ in 1..<line {
            while let scalar = take() {
                if scalar == "\r", rest.first == "\n" { _ = take() }
                if ["\n", "\r", "\u{85}", "\u{2028}", "\u{2029}"].contains(scalar) { break }
            }
        }
        for _ in 1..<column { _ = take() }
        return offset
    }

    /// The place of a byte, whose lines end with line feeds.
    private static func position(_ offset: Int, in bytes: [UInt8]) -> SourcePosition {
        let before = bytes.prefix(offset)
        let start = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        return SourcePosition(
            offset: before.count, line: before.count { $0 == 0x0A } + 1, column: before.count - start + 1)
    }
}
