/// A sum of decimals without loss: 128-bit digits at the finest scale seen. Overflow is remembered, never trapped on.
struct ExactSum {
    private var digits: Int128 = 0
    /// Scale of the digits, which is that of the finest number added.
    private var exponent: Int8 = 0
    private var isEmpty = true
    private var overflowed = false

    /// Nothing added.
    init() {}

    /// The sum `mantissa` × 10^`exponent`.
    init(_ mantissa: Int64, exponent: Int8) {
        digits = Int128(mantissa)
        self.exponent = exponent
        isEmpty = false
    }

    /// Adds `number`.
    @inline(__always)
    mutating func add(_ number: Decimal64) {
        if isEmpty {
            exponent = number.exponent
            isEmpty = false
        }
        if number.exponent == exponent {
            // 2^63 numbers of 2^63 each fit 128 bits: this addition cannot overflow in practice, and wraps if it does.
            digits &+= Int128(number.mantissa)
        } else {
            addAligned(number)
        }
    }

    private mutating func addAligned(_ number: Decimal64) {
        let finest = min(exponent, number.exponent)
        let mine = scaled(digits, by: Int(exponent) - Int(finest))
        let other = scaled(Int128(number.mantissa), by: Int(number.exponent) - Int(finest))
        guard let mine, let other else { return overflowed = true }
        let (sum, overflow) = mine.addingReportingOverflow(other)
        overflowed = overflowed || overflow
        digits = sum
        exponent = finest
    }

    private func scaled(_ value: Int128, by zeros: Int) -> Int128? {
        if value == 0 { return 0 }
        guard zeros <= 38 else { return nil }
        var result = value
        for _ in 0..<zeros {
            let (product, overflow) = result.multipliedReportingOverflow(by: 10)
            if overflow { return nil }
            result = product
        }
        return result
    }

    /// The sum, or nil when it does not fit a Decimal64.
    var total: Decimal64? {
        guard !overflowed, let mantissa = Int64(exactly: digits) else { return nil }
        return Decimal64(mantissa: mantissa, exponent: exponent)
    }

    /// The sum divided by `count`, rounded half to even to one digit finer than the finest number; nil when that does
    /// not fit a Decimal64.
    func mean(of count: Int) -> Decimal64? {
        guard !overflowed, exponent > Int8.min, let finer = scaled(digits, by: 1) else { return nil }
        guard let mantissa = ExactSum.divide(finer, by: Int64(count)) else { return nil }
        return Decimal64(mantissa: mantissa, exponent: exponent - 1)
    }

    private static func divide(_ value: Int128, by count: Int64) -> Int64? {
        if let narrow = Int64(exactly: value) {
            let (quotient, remainder) = narrow.quotientAndRemainder(dividingBy: count)
            return round(quotient, remainder: remainder, of: count)
        }
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: Int128(count))
        guard let narrow = Int64(exactly: quotient), narrow.magnitude < UInt64(Int64.max) else { return nil }
        return round(narrow, remainder: Int64(remainder), of: count)
    }

    private static func round(_ quotient: Int64, remainder: Int64, of divisor: Int64) -> Int64 {
        let twice = remainder.magnitude * 2
        let isUp = twice > divisor.magnitude || (twice == divisor.magnitude && !quotient.isMultiple(of: 2))
        return isUp ? quotient + (remainder < 0 ? -1 : 1) : quotient
    }
}
