/// A decimal number exactly as the device wrote it: `mantissa × 10^exponent`.
///
/// `22.40` keeps its two decimals, because FHIR says that the precision of a decimal is significant (R4 datatypes,
/// "decimal") and IEEE 11073 SFLOAT/FLOAT are mantissa and exponent themselves. There is no Double between the wire and
/// the Observation. Numbers with more than 18 significant digits, or an exponent outside -100…100, are not
/// representable.
package struct Decimal64: Hashable, Sendable, BitwiseCopyable {
    /// The digits with their sign.
    package var mantissa: Int64
    /// The power of ten, -100…100.
    package var exponent: Int8

    /// Makes `mantissa × 10^exponent`.
    @inline(__always)
    package init(mantissa: Int64, exponent: Int8 = 0) {
        self.mantissa = mantissa
        self.exponent = exponent
    }

    /// Largest and smallest exponent that ``DecimalParser`` accepts.
    package static let exponentRange: ClosedRange<Int> = -100...100

    /// Powers of ten that fit in Int64.
    static let powers: [Int64] = (0...18).map { power in (0..<power).reduce(1) { product, _ in product * 10 } }

    /// The mantissa this number would have at `exponent`, which must be lower or equal; nil when it overflows.
    package func mantissa(at target: Int8) -> Int64? {
        let shift = Int(exponent) - Int(target)
        precondition(shift >= 0)
        if shift == 0 || mantissa == 0 { return mantissa }
        guard shift <= 18 else { return nil }
        let (product, overflow) = mantissa.multipliedReportingOverflow(by: Decimal64.powers[shift])
        return overflow ? nil : product
    }

    /// Whether both have the same numeric value, however many zeros were written (`60` and `60.0`).
    package func isEqualInValue(to other: Decimal64) -> Bool {
        if exponent == other.exponent { return mantissa == other.mantissa }
        let low = min(exponent, other.exponent)
        guard let mine = mantissa(at: low), let theirs = other.mantissa(at: low) else { return false }
        return mine == theirs
    }

    /// Whether this number is smaller than `other` in value.
    package func isLess(than other: Decimal64) -> Bool {
        if exponent == other.exponent { return mantissa < other.mantissa }
        let low = min(exponent, other.exponent)
        switch (mantissa(at: low), other.mantissa(at: low)) {
        case (let mine?, let theirs?): return mine < theirs
        case (nil, let theirs?): return theirs > 0 ? mantissa < 0 : mantissa < 0 || (mantissa == 0 && theirs > 0)
        case (let mine?, nil): return other.mantissa > 0 || (other.mantissa == 0 && mine < 0)
        case (nil, nil): return false
        }
    }
}

extension Decimal64 {
    /// The whole nanoseconds of a length of time; 0 for one that is negative or beyond 292 years.
    var wholeNanoseconds: Int64 {
        if exponent >= 0 { return max(mantissa(at: 0) ?? 0, 0) }
        guard exponent >= -18 else { return 0 }
        return max(mantissa / Decimal64.powers[-Int(exponent)], 0)
    }
}
