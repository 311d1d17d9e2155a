import KymographCore

/// Texts of a URL (RFC 3986, section 2.1).
enum PercentText {
    /// `text` without its escapes; what is no escape stays as it is, and what is no UTF-8 is replaced.
    static func decoded(_ text: Substring) -> String { decoded(Array(text.utf8)[...]) }

    /// The pairs of a query.
    static func pairs(_ query: String) -> [String: String] {
        var pairs: [String: String] = [:]
        // Bytes: what combines with a separator makes another character of it.
        for pair in Array(query.utf8).split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            pairs[decoded(parts[0])] = parts.count > 1 ? decoded(parts[1]) : ""
        }
        return pairs
    }

    private static func decoded(_ text: ArraySlice<UInt8>) -> String {
        var (bytes, rest): ([UInt8], ArraySlice<UInt8>) = ([], text)
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2).compactMap(JSONUnescape.hexValue)
            if byte == UInt8(ascii: "%"), digits.count == 2 {
                bytes.append(UInt8(digits[0] << 4 | digits[1]))
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
