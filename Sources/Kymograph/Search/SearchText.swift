import KymographCore

/// The pairs of a URL's query or a form, decoded strictly (RFC 3986, section 2.1; HTML, "application/x-www-form-
/// urlencoded"): what could be read in two ways is refused.
enum SearchText {
    /// Most pairs.
    private static let mostPairs = 50

    /// The pairs of `text` in order.
    static func pairs(_ text: some StringProtocol) throws(SearchRefusal) -> [(name: String, value: String)] {
        var pairs: [(name: String, value: String)] = []
        // Bytes: what combines with a separator makes another character of it, and would hide a parameter.
        for part in Array(text.utf8).split(separator: UInt8(ascii: "&")) {
            let halves = part.split(
                separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = decoded(halves[0]), !name.isEmpty else {
                throw SearchRefusal(400, "value", "the name of a parameter is empty, or has a wrong escape")
            }
            guard halves.count == 2, let value = decoded(halves[1]), !value.isEmpty else {
                throw .malformed(shown(name), "it has no value, or one with a wrong escape or a control character")
            }
            pairs.append((name, value))
            guard pairs.count <= mostPairs else {
                throw SearchRefusal(400, "too-long", "there are more than \(mostPairs) parameters")
            }
        }
        return pairs
    }

    /// A name as it may be repeated to whoever has sent it.
    static func shown(_ name: String) -> String {
        let isPlain = name.utf8.count <= 64 && name.utf8.allSatisfy { isUnreserved($0) || $0 == UInt8(ascii: ":") }
        return isPlain ? name : "(parameter)"
    }

    /// `text` without its escapes; nil when one is wrong, or the text is no UTF-8 or has control characters.
    static func decoded(_ text: ArraySlice<UInt8>) -> String? {
        guard let bytes = PercentEscapes.strictlyDecoded(text, plusIsBlank: true),
            bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// `text` with escapes for all that is not unreserved.
    static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            isUnreserved(byte)
                ? String(UnicodeScalar(byte)) : (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }

    /// Divides a value at each `separator` that has no backslash before it, and leaves backslashes where they are.
    static func divided(_ value: String, at separator: Unicode.Scalar) -> [String] {
        var (parts, isEscaped): ([[UInt8]], Bool) = ([[]], false)
        // Bytes: a character may be a comma and what combines with it.
        for byte in value.utf8 {
            if byte == UInt8(ascii: separator), !isEscaped {
                parts.append([])
            } else {
                parts[parts.count - 1].append(byte)
            }
            isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
        }
        return parts.map { String(decoding: $0, as: UTF8.self) }
    }

    /// A part of a value without its backslashes; nil when one stands before what needs none (FHIR search, "Escaping
    /// Search Parameters").
    static func unescaped(_ part: String) -> String? {
        var (bytes, isEscaped): ([UInt8], Bool) = ([], false)
        for byte in part.utf8 {
            guard isEscaped || byte != UInt8(ascii: "\\") else {
                isEscaped = true
                continue
            }
            if isEscaped, !"\\,|$".utf8.contains(byte) { return nil }
            bytes.append(byte)
            isEscaped = false
        }
        return isEscaped ? nil : String(decoding: bytes, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
            || "-._~".utf8.contains(byte)
    }
}
