import KymographCore

/// Identifiers in full within the details of dead letters: bytes other than letters, digits, `-`, `.`, `_` and `~` as
/// in URLs (RFC 3986, section 2.1).
enum IdentifierEscapes {
    static func text(_ bytes: [UInt8]) -> String { bytes.map(text).joined() }

    /// The identifier that ``text(_:)`` has written so; nil for anything else.
    static func bytes(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard let bytes = PercentEscapes.strictlyDecoded(text), !bytes.isEmpty,
            self.text(bytes).utf8.elementsEqual(text)
        else { return nil }
        return bytes
    }

    private static func text(_ byte: UInt8) -> String {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            String(UnicodeScalar(byte))
        default: (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
        }
    }
}
