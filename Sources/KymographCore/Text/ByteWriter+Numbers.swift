/// Exact numbers as JSON writes them.
extension ByteWriter {
    /// Writes `number` with the digits it was read with: `22.40` stays `22.40`. Never scientific for negative
    /// exponents; positive ones print as zeros while the whole has at most 18 digits, then as `1E20`, which is legal.
    package mutating func append(_ number: Decimal64) {
        if number.exponent == 0 && number.mantissa >= 0 { return append(digits: UInt64(number.mantissa)) }
        if number.mantissa < 0 { append(UInt8(ascii: "-")) }
        let magnitude = number.mantissa.magnitude
        let exponent = Int(number.exponent)
        if exponent == 0 || magnitude == 0 && exponent > 0 { return append(digits: magnitude) }
        exponent < 0 ? append(magnitude, decimals: -exponent) : append(magnitude, zeros: exponent)
    }

    private mutating func append(_ magnitude: UInt64, decimals: Int) {
        let digits = ByteWriter.digitCount(magnitude)
        if decimals >= digits {
            append("0.")
            append(zeros: decimals - digits)
            return append(digits: magnitude)
        }
        let start = extend(by: digits + 1)
        let point = start &+ digits &- decimals
        var rest = magnitude
        var index = count
        while index > start {
            index &-= 1
            if index == point {
                self[index] = UInt8(ascii: ".")
            } else {
                self[index] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            }
        }
    }

    private mutating func append(_ magnitude: UInt64, zeros: Int) {
        append(digits: magnitude)
        guard ByteWriter.digitCount(magnitude) + zeros > 18 else { return append(zeros: zeros) }
        append(UInt8(ascii: "E"))
        append(digits: UInt64(zeros))
    }

    private mutating func append(zeros: Int) {
        for _ in 0..<zeros { append(UInt8(ascii: "0")) }
    }

    /// Writes `value` in decimal.
    @inline(__always)
    mutating func append(digits value: UInt64) {
        if value < 10 { return append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value)) }
        if value < 100 { return appendTwo(Int(truncatingIfNeeded: value)) }
        appendMany(value)
    }

    private mutating func appendMany(_ value: UInt64) {
        _ = extend(by: ByteWriter.digitCount(value))
        var rest = value
        var index = count
        while rest > 0 {
            index &-= 1
            self[index] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }

    /// Writes `value` (0…99) with two digits.
    @inline(__always)
    mutating func appendTwo(_ value: Int) {
        append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / 10))
        append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value % 10))
    }

    /// Writes a length of time in milliseconds, with as many decimals (up to 6) as the nanoseconds need.
    package mutating func append(milliseconds nanoseconds: Int64) {
        append(digits: UInt64(nanoseconds / 1_000_000))
        var fraction = nanoseconds % 1_000_000
        guard fraction > 0 else { return }
        append(UInt8(ascii: "."))
        var divisor: Int64 = 100_000
        while fraction > 0 {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: fraction / divisor))
            fraction %= divisor
            divisor /= 10
        }
    }

    /// Bytes that ``append(milliseconds:)`` writes for a whole number of milliseconds, at least.
    static func millisecondsWidth(_ nanoseconds: Int64) -> Int {
        digitCount(UInt64(nanoseconds / 1_000_000))
    }

    /// Decimal digits of `value`.
    @inline(__always)
    static func digitCount(_ value: UInt64) -> Int {
        var digits = 1
        var rest = value
        while rest >= 10 {
            rest /= 10
            digits += 1
        }
        return digits
    }
}
