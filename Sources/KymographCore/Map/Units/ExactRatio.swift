/// An exact rational number, `numerator / denominator × 10^exponent`, in one spelling only: reduced, the denominator
/// positive and without factors 2 and 5, the numerator without trailing zeros.
///
/// For units at load time; every operation gives nil when the result does not fit 128 bits.
package struct ExactRatio: Hashable, Sendable {
    /// With the sign.
    let numerator: Int128
    /// At least 1.
    let denominator: Int128
    let exponent: Int

    package static let zero = ExactRatio(checked: 0, 1, 0)
    package static let one = ExactRatio(checked: 1, 1, 0)

    private init(checked numerator: Int128, _ denominator: Int128, _ exponent: Int) {
        self.numerator = numerator
        self.denominator = denominator
        self.exponent = exponent
    }

    /// Makes `numerator / denominator × 10^exponent`; nil for a denominator below 1 and for overflow.
    package init?(_ numerator: Int128, _ denominator: Int128 = 1, exponent: Int = 0) {
        guard denominator > 0, numerator > Int128.min else { return nil }
        guard numerator != 0 else {
            self = .zero
            return
        }
        let common = ExactRatio.commonDivisor(numerator, denominator)
        var (top, bottom, power) = (numerator / common, denominator / common, exponent)
        for (factor, other) in [(Int128(2), Int128(5)), (5, 2)] {
            while bottom % factor == 0 {
                let (product, overflow) = top.multipliedReportingOverflow(by: other)
                if overflow { return nil }
                (top, bottom, power) = (product, bottom / factor, power - 1)
            }
        }
        while top % 10 == 0 { (top, power) = (top / 10, power + 1) }
        self.init(checked: top, bottom, power)
    }

    /// Reads digits with or without a decimal point; nil for anything else.
    package init?(decimal text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, let value = Int128(parts.joined()) else { return nil }
        self.init(value, exponent: parts.count == 2 ? -parts[1].count : 0)
    }

    /// The product.
    package func times(_ other: ExactRatio) -> ExactRatio? {
        let left = ExactRatio.commonDivisor(numerator, other.denominator)
        let right = ExactRatio.commonDivisor(other.numerator, denominator)
        let top = (numerator / left).multipliedReportingOverflow(by: other.numerator / right)
        let bottom = (denominator / right).multipliedReportingOverflow(by: other.denominator / left)
        guard !top.overflow, !bottom.overflow else { return nil }
        return ExactRatio(top.partialValue, bottom.partialValue, exponent: exponent + other.exponent)
    }

    /// One divided by this number; nil for zero.
    var reciprocal: ExactRatio? {
        guard numerator != 0 else { return nil }
        let sign: Int128 = numerator < 0 ? -1 : 1
        return ExactRatio(denominator * sign, numerator * sign, exponent: -exponent)
    }

    /// The quotient; nil also when `other` is zero.
    func divided(by other: ExactRatio) -> ExactRatio? { other.reciprocal.flatMap { times($0) } }

    /// The power; `count` may be negative.
    func power(_ count: Int) -> ExactRatio? {
        guard let base = count < 0 ? reciprocal : self else { return nil }
        var result: ExactRatio? = .one
        for _ in 0..<count.magnitude { result = result?.times(base) }
        return result
    }

    /// The difference.
    func minus(_ other: ExactRatio) -> ExactRatio? {
        let low = min(exponent, other.exponent)
        guard let left = raised(by: exponent - low, other.denominator),
            let right = other.raised(by: other.exponent - low, denominator)
        else { return nil }
        let bottom = denominator.multipliedReportingOverflow(by: other.denominator)
        let top = left.subtractingReportingOverflow(right)
        guard !top.overflow, !bottom.overflow else { return nil }
        return ExactRatio(top.partialValue, bottom.partialValue, exponent: low)
    }

    /// The numerator times `factor` and `power` tens.
    private func raised(by power: Int, _ factor: Int128) -> Int128? {
        var result = numerator.multipliedReportingOverflow(by: factor)
        var left = power
        while left > 0, !result.overflow {
            result = result.partialValue.multipliedReportingOverflow(by: 10)
            left -= 1
        }
        return result.overflow ? nil : result.partialValue
    }

    /// The greatest common divisor, at least 1.
    static func commonDivisor(_ left: Int128, _ right: Int128) -> Int128 {
        var (a, b) = (abs(left), abs(right))
        while b != 0 { (a, b) = (b, a % b) }
        return max(a, 1)
    }
}
