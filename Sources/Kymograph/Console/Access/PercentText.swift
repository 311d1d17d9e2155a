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
        String(decoding: PercentEscapes.decoded(text, plusIsBlank: true), as: UTF8.self)
    }
}
