/// `± dividend / divisor × 10^exponent`, exact, on its way to a decimal.
struct ExactQuotient {
    var isNegative: Bool
    var dividend: UInt128
    /// 1 to 2^63 - 1.
    var divisor: UInt128
    var exponent: Int

    /// Powers of ten that fit 128 bits.
    private static let powers: [UInt128] = (0...38).map { power in
        (0..<power).reduce(UInt128(1)) { product, _ in product * 10 }
    }

    /// 10 to the power of `count`, 0…38.
    @inline(__always)
    static func power(_ count: Int) -> UInt128 { powers[count] }

    /// Decimal digits of `value`; 1 for zero.
    static func digits(of value: UInt128) -> Int {
        var count = 1
        while count < 39, value >= powers[count] { count += 1 }
        return count
    }

    /// Moves tens into the dividend until it is at least the divisor; it must not be zero.
    ///
    /// Cannot overflow: before each step the dividend is below the divisor, hence below 2^63.
    mutating func raise() {
        while dividend < divisor {
            dividend *= 10
            exponent -= 1
        }
    }

    /// Where the first digit is: 1 for units, 2 for tens, 0 for tenths. The quotient must be raised.
    var top: Int { ExactQuotient.digits(of: dividend / divisor) + exponent }

    /// The quotient in units of 10^`target`, rounded half to even, and whether nothing was lost; nil beyond 10^18.
    ///
    /// The quotient must be raised.
    func rounded(at target: Int) -> (magnitude: UInt64, isExact: Bool)? {
        let places = exponent - target
        return places >= 0 ? extended(by: places) : cut(by: -places)
    }

    private func extended(by places: Int) -> (magnitude: UInt64, isExact: Bool)? {
        guard places <= 18 else { return nil }
        let (whole, rest) = dividend.quotientAndRemainder(dividingBy: divisor)
        let (shifted, overflow) = whole.multipliedReportingOverflow(by: ExactQuotient.power(places))
        guard !overflow, shifted <= ExactQuotient.power(18) else { return nil }
        // rest < 2^63 and 10^18 < 2^60.
        let (more, left) = (rest * ExactQuotient.power(places)).quotientAndRemainder(dividingBy: divisor)
        let isUp = left * 2 > divisor || (left * 2 == divisor && (shifted + more) % 2 == 1)
        return ExactQuotient.fitting(shifted + more + (isUp ? 1 : 0), isExact: left == 0)
    }

    private func cut(by places: Int) -> (magnitude: UInt64, isExact: Bool)? {
        // The quotient is below 2^128, which is less than half of 10^39.
        guard places <= 38 else { return (0, false) }
        let (whole, rest) = dividend.quotientAndRemainder(dividingBy: divisor)
        let power = ExactQuotient.power(places)
        let (kept, lost) = whole.quotientAndRemainder(dividingBy: power)
        let half = power / 2
        let isUp = lost > half || (lost == half && (rest > 0 || kept % 2 == 1))
        return ExactQuotient.fitting(kept + (isUp ? 1 : 0), isExact: lost == 0 && rest == 0)
    }

    private static func fitting(_ value: UInt128, isExact: Bool) -> (magnitude: UInt64, isExact: Bool)? {
        value <= power(18) ? (UInt64(value), isExact) : nil
    }
}
