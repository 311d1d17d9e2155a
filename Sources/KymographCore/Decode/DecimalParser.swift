/// Reads numbers without losing a digit.
public enum DecimalParser {
    /// The outcome of reading a number.
    public enum Result: Equatable {
        /// The exact number.
        case number(Decimal64)
        /// Not a JSON number.
        case malformed
        /// A number with more than 18 significant digits, or an exponent outside ``Decimal64/exponentRange``.
        case inexact
    }

    /// Reads all of `bytes` as a JSON number; no blanks, no leading plus, no thousands separators.
    @inline(__always)
    public static func parse(_ bytes: ByteView) -> Result {
        // Most readings are one to four plain digits, most epoch times thirteen.
        if bytes.count <= 18, let plain = plainInteger(bytes) { return .number(Decimal64(mantissa: plain)) }
        return parseGeneral(bytes)
    }

    /// The value of at most 18 bytes that are nothing but digits, without leading zero; else nil.
    @inline(__always)
    static func plainInteger(_ bytes: ByteView) -> Int64? {
        guard bytes.count > 0, bytes[0] != UInt8(ascii: "0") || bytes.count == 1 else { return nil }
        var value: Int64 = 0
        var index = 0
        while index < bytes.count {
            let digit = bytes[index] &- UInt8(ascii: "0")
            if digit > 9 { return nil }
            value = value * 10 + Int64(digit)
            index += 1
        }
        return value
    }

    private static func parseGeneral(_ bytes: ByteView) -> Result {
        guard bytes.count > 0, JSONScanner.numberEnd(bytes, 0) == bytes.count else { return .malformed }
        var index = bytes[0] == UInt8(ascii: "-") ? 1 : 0
        var mantissa: Int64 = 0
        var digits = 0
        var scale = 0
        var inFraction = false
        while index < bytes.count, bytes[index] | 0x20 != UInt8(ascii: "e") {
            let byte = bytes[index]
            index += 1
            if byte == UInt8(ascii: ".") {
                inFraction = true
                continue
            }
            if inFraction { scale += 1 }
            if mantissa != 0 || byte != UInt8(ascii: "0") { digits += 1 }
            if digits > 18 { return .inexact }
            mantissa = mantissa * 10 + Int64(byte - UInt8(ascii: "0"))
        }
        guard let power = exponent(bytes, from: index) else { return .inexact }
        let total = power - scale
        guard Decimal64.exponentRange.contains(total) else { return .inexact }
        let signed = bytes[0] == UInt8(ascii: "-") ? -mantissa : mantissa
        return .number(Decimal64(mantissa: signed, exponent: Int8(total)))
    }

    /// The written exponent from the `e` at `index` (0 when there is none), or nil when it is beyond four digits.
    private static func exponent(_ bytes: ByteView, from index: Int) -> Int? {
        guard index < bytes.count else { return 0 }
        let negative = bytes[index + 1] == UInt8(ascii: "-")
        var at = index + (negative || bytes[index + 1] == UInt8(ascii: "+") ? 2 : 1)
        var value = 0
        while at < bytes.count {
            value = value * 10 + Int(bytes[at] - UInt8(ascii: "0"))
            if value > 9_999 { return nil }
            at += 1
        }
        return negative ? -value : value
    }

    /// As ``exponent(_:from:)``; what is beyond four digits is 10,000, which is out of every range.
    static func clampedExponent(_ bytes: ByteView, from index: Int) -> Int {
        if let power = exponent(bytes, from: index) { return power }
        return bytes[index + 1] == UInt8(ascii: "-") ? -10_000 : 10_000
    }
}
