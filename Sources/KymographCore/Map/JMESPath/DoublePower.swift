/// Powers of doubles. The standard library has none, and the core imports no other; computed with pairs of doubles, so
/// that the result is the nearest double but for a few last places.
enum DoublePower {
    /// `base` to the power of `exponent`, with the special cases of IEEE 754 (section 9.2.1).
    static func power(_ base: Double, _ exponent: Double) -> Double {
        if exponent == 0 || base == 1 { return 1 }
        if base.isNaN || exponent.isNaN { return .nan }
        let isOdd = exponent.magnitude < 0x1p53 && exponent.truncatingRemainder(dividingBy: 2).magnitude == 1
        let sign: Double = base.sign == .minus && isOdd ? -1 : 1
        if exponent.isInfinite {
            if base.magnitude == 1 { return 1 }
            return (base.magnitude > 1) == (exponent > 0) ? .infinity : 0
        }
        if base.isInfinite || base == 0 { return sign * (base.isInfinite == (exponent > 0) ? .infinity : 0) }
        if base < 0 && exponent.rounded() != exponent { return .nan }
        return sign * exponential(DoublePair.product(logarithm(base.magnitude), exponent))
    }

    /// The natural logarithm of a positive, finite number.
    private static func logarithm(_ value: Double) -> DoublePair {
        var exponent = Double(value.exponent)
        var significand = value.significand
        if significand > 1.4142135623730951 {
            significand /= 2
            exponent += 1
        }
        // ln m = 2 (s + s³/3 + s⁵/5 + …) with s = (m - 1) / (m + 1), |s| < 0.172.
        let s = DoublePair.quotient(DoublePair(significand - 1), DoublePair.sum(significand, 1))
        let square = DoublePair.product(s, s)
        var series = DoublePair(0)
        for term in stride(from: 45.0, through: 1, by: -2) {
            series = DoublePair.sum(
                DoublePair.product(series, square), DoublePair.quotient(DoublePair(1), DoublePair(term)))
        }
        let mantissa = DoublePair.product(DoublePair.product(series, s), 2)
        return DoublePair.sum(DoublePair.product(DoublePair.naturalLogarithmOf2, exponent), mantissa)
    }

    private static func exponential(_ value: DoublePair) -> Double {
        if value.high > 720 { return .infinity }
        if value.high < -760 { return 0 }
        let power = (value.high / DoublePair.naturalLogarithmOf2.high).rounded()
        let rest = DoublePair.sum(value, DoublePair.product(DoublePair.naturalLogarithmOf2, -power))
        var series = DoublePair(1)
        for term in stride(from: 26.0, through: 1, by: -1) {
            let step = DoublePair.quotient(DoublePair.product(series, rest), DoublePair(term))
            series = DoublePair.sum(DoublePair(1), step)
        }
        // In two steps, because 2^power alone may be out of range.
        let half = Int(power) / 2
        return (series.high + series.low) * Double(sign: .plus, exponent: half, significand: 1)
            * Double(sign: .plus, exponent: Int(power) - half, significand: 1)
    }
}

/// A number as the sum of two doubles, about 106 bits (T. J. Dekker, "A floating-point technique for extending the
/// available precision", 1971).
private struct DoublePair {
    var high: Double
    var low: Double

    static let naturalLogarithmOf2 = DoublePair(high: 0x1.62e42fefa39efp-1, low: 0x1.abc9e3b39803fp-56)

    init(_ value: Double) {
        high = value
        low = 0
    }

    private init(high: Double, low: Double) {
        self.high = high
        self.low = low
    }

    static func sum(_ one: Double, _ other: Double) -> DoublePair {
        let sum = one + other
        let part = sum - one
        return DoublePair(high: sum, low: (one - (sum - part)) + (other - part))
    }

    static func sum(_ one: DoublePair, _ other: DoublePair) -> DoublePair {
        let high = sum(one.high, other.high)
        let low = sum(one.low, other.low)
        let first = renormalised(high.high, high.low + low.high)
        return renormalised(first.high, first.low + low.low)
    }

    static func product(_ one: DoublePair, _ other: Double) -> DoublePair {
        product(one, DoublePair(other))
    }

    static func product(_ one: DoublePair, _ other: DoublePair) -> DoublePair {
        let high = one.high * other.high
        let error = (-high).addingProduct(one.high, other.high)
        return renormalised(high, error + (one.high * other.low + one.low * other.high))
    }

    static func quotient(_ one: DoublePair, _ other: DoublePair) -> DoublePair {
        let first = one.high / other.high
        let rest = sum(one, product(other, -first))
        let second = rest.high / other.high
        let last = sum(rest, product(other, -second)).high / other.high
        return sum(sum(first, second), DoublePair(last))
    }

    private static func renormalised(_ high: Double, _ low: Double) -> DoublePair {
        let sum = high + low
        return DoublePair(high: sum, low: low - (sum - high))
    }
}
