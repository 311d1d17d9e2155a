import KymographCore

/// The text by which a link names a place: good for one query of one client only.
struct SearchCursor {
    /// What is known of the client's token: nobody else can make a cursor of it.
    let key: [UInt8]
    let query: SearchQuery

    /// Bytes of the code that are kept: nobody guesses 128 bits.
    private static let codeBytes = 16

    /// A text for what is behind `place`.
    func text(_ place: WalkPlace) -> String {
        var bytes: [UInt8] = []
        for number in [place.rank, place.start, place.series, place.part] {
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: number >> Int64(shift)))
            }
        }
        return Self.hexadecimal(bytes + code(bytes))
    }

    /// The place that `text` names.
    ///
    /// - Throws: ``SearchRefusal`` for a text that was made for another query or client, or by others.
    func place(_ text: String) throws(SearchRefusal) -> WalkPlace {
        let bytes = Self.bytes(text)
        guard let bytes, bytes.count == 32 + Self.codeBytes, isCode(Array(bytes[32...]), of: Array(bytes[..<32])) else {
            throw .malformed(
                SearchParameters.cursor, "it is none that was given for this search; begin again without it")
        }
        let numbers = stride(from: 0, to: 32, by: 8).map { start in
            bytes[start..<(start + 8)].reduce(Int64(0)) { $0 << 8 | Int64($1) }
        }
        return WalkPlace(rank: numbers[0], start: numbers[1], series: numbers[2], part: numbers[3])
    }

    /// The code of a place in this query. The number of Observations of a page may change.
    private func code(_ place: [UInt8]) -> [UInt8] {
        let parts = query.pairs.filter { $0.name != "_count" }.flatMap { [$0.name, $0.value] }
        let text = parts.map { "\($0.utf8.count):\($0)" }.joined()
        return Array(
            HMAC256.code(of: Array("kymo search cursor".utf8) + place + text.utf8, key: key)[..<Self.codeBytes])
    }

    private func isCode(_ code: [UInt8], of place: [UInt8]) -> Bool {
        let right = self.code(place)
        return zip(code, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func bytes(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count == 2 * (32 + codeBytes), digits.allSatisfy(isDigit) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { start in
            UInt8(String(decoding: digits[start...(start + 1)], as: UTF8.self), radix: 16) ?? 0
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte
    }
}
