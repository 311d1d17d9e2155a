import KymographCore

/// What text without quotes can be in JSON beside text.
enum PlainText {
    /// The most digits that a number has: so many are the same when a reader keeps it as a double, as an identifier
    /// may have to be.
    private static let mostDigits = 15

    /// Whether `value` is a JSON number (RFC 8259, section 6) without an exponent and with at most 15 digits.
    static func isNumber(_ value: ByteView) -> Bool {
        let digits = value.count > 0 && value[0] == UInt8(ascii: "-") ? value[1..<value.count] : value
        let point = (0..<digits.count).first { digits[$0] == UInt8(ascii: ".") } ?? digits.count
        guard point > 0, point != digits.count - 1, digits.count <= mostDigits + (point < digits.count ? 1 : 0),
            digits[0] != UInt8(ascii: "0") || point == 1
        else { return false }
        return (0..<digits.count).allSatisfy { $0 == point || isDigit(digits[$0]) }
    }

    /// Whether `value` is `true` or `false`.
    static func isBoolean(_ value: ByteView) -> Bool {
        value.equals(ByteView("true")) || value.equals(ByteView("false"))
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
}
