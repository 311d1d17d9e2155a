/// Reads numbers without losing a digit.
package enum DecimalParser {
    /// The outcome of reading a number.
    package enum Result: Equatable {
        /// The exact number.
        case number(Decimal64)
        /// Not a JSON number.
        case malformed
        /// A number with more than 18 significant digits, or an exponent outside ``Decimal64/exponentRange``.
        case inexact
    }

    /// Reads all of `bytes` as a JSON number; no blanks, no leading plus, no thousands separators.
    @inline(__always)
    package static func parse(_ bytes: ByteView) -> Result {
        // Most readings are one to four plain digits, most epoch times thirteen.
        if bytes.count <= 18, let plain = plainInteger(bytes) { return .number(Decimal64(mantissa: plain)) }
        return parseGeneral(bytes)
    }

    /// The value of at most 18 bytes that are nothing but digits, without leading zero; else nil.
    @inline(__always)
    static func plainInteger(_ bytes: ByteView) -> Int64? {
        let count = bytes.count
        guard count > 0, bytes[0] != UInt8(ascii: "0") || count == 1 else { return nil }
        if count <= 8 { return eightDigits(leading(bytes, count)) }
        guard let last = eightDigits(bytes.word(at: count &- 8)) else { return nil }
        let left = count &- 8
        if left <= 8 { return eightDigits(leading(bytes, left)).map { $0 &* 100_000_000 &+ last } }
        guard let middle = eightDigits(bytes.word(at: left &- 8)),
            let first = eightDigits(leading(bytes, left &- 8))
        else { return nil }
        return (first &* 100_000_000 &+ middle) &* 100_000_000 &+ last
    }

    /// The first `count` (1…8) bytes as the last ones of a word that begins with digits zero.
    @inline(__always)
    private static func leading(_ bytes: ByteView, _ count: Int) -> UInt64 {
        let shift = UInt64(truncatingIfNeeded: 8 &* (8 &- count))
        let zeros: UInt64 = 0x3030_3030_3030_3030
        return first(bytes, count) &<< shift | zeros & ~(UInt64.max &<< shift)
    }

    /// The first `count` (1…8) bytes, without reading beyond them: numbers also come from places that are not padded.
    @inline(__always)
    private static func first(_ bytes: ByteView, _ count: Int) -> UInt64 {
        func at(_ place: Int, _ bits: UInt64) -> UInt64 { bits &<< UInt64(truncatingIfNeeded: 8 &* place) }
        if count == 8 { return bytes.word(at: 0) }
        // Overlapping parts say the same.
        if count >= 4 { return UInt64(bytes.half(at: 0)) | at(count &- 4, UInt64(bytes.half(at: count &- 4))) }
        let (middle, last) = (count &>> 1, count &- 1)
        return UInt64(bytes[0]) | at(middle, UInt64(bytes[middle])) | at(last, UInt64(bytes[last]))
    }

    /// The value of eight digits, the first in the lowest byte; nil when one of them is none.
    @inline(__always)
    private static func eightDigits(_ word: UInt64) -> Int64? {
        let highs: UInt64 = 0xF0F0_F0F0_F0F0_F0F0
        let areDigits = (word & highs) | (((word &+ 0x0606_0606_0606_0606) & highs) >> 4)
        guard areDigits == 0x3333_3333_3333_3333 else { return nil }
        return PlainValue.joined(word)
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
