extension UnitConversion {
    /// Significant digits that a result has at least, when it is not exact with fewer; on a scale with an offset,
    /// decimals.
    private static let leastDigits = 4
    private static let leastDecimals = 2

    /// Converts `value`; nil when the result does not fit 18 digits and the exponents of a ``Decimal64``, or an
    /// intermediate result 128 bits.
    ///
    /// Between equal units the value stays as it is. Otherwise the exact result is rounded half to even:
    /// * with `digits` (0…17) to so many decimals;
    /// * without, to one significant digit more than the value has, at least 4, but never left of the decimal point;
    ///   on a scale with an offset, to one decimal more than the value has, at least 2. An exact result drops its
    ///   trailing zeros down to the value's own significant digits or decimals: `98.6 [degF]` is `37.0 Cel`, and
    ///   `1 [in_i]` is `2.54 cm`.
    package func convert(_ value: Decimal64, digits: Int? = nil) -> Decimal64? {
        if isIdentity { return value }
        guard var exact = quotient(of: value) else { return nil }
        if exact.dividend == 0 {
            return UnitConversion.decimal(0, exponent: digits.map { -$0 } ?? min(0, Int(value.exponent)), false)
        }
        exact.raise()
        if let digits {
            guard let result = exact.rounded(at: -digits) else { return nil }
            return UnitConversion.decimal(result.magnitude, exponent: -digits, exact.isNegative)
        }
        return significant(exact, value)
    }

    /// The exact result.
    private func quotient(of value: Decimal64) -> ExactQuotient? {
        // Two 64-bit numbers: the product fits 127 bits and the sign.
        var sum = Int128(value.mantissa) * Int128(numerator)
        var power = Int(value.exponent) + Int(exponent)
        if offset != 0 {
            let low = min(power, Int(offsetExponent))
            guard let scaled = UnitConversion.raised(sum, by: power - low),
                let shift = UnitConversion.raised(Int128(offset), by: Int(offsetExponent) - low)
            else { return nil }
            let (total, overflow) = scaled.addingReportingOverflow(shift)
            guard !overflow else { return nil }
            (sum, power) = (total, low)
        }
        return ExactQuotient(
            isNegative: sum < 0, dividend: sum.magnitude, divisor: UInt128(denominator), exponent: power)
    }

    private static func raised(_ value: Int128, by places: Int) -> Int128? {
        guard places <= 38 else { return value == 0 ? 0 : nil }
        let (product, overflow) = value.multipliedReportingOverflow(by: Int128(ExactQuotient.power(places)))
        return overflow ? nil : product
    }

    /// Rounds as the value's own precision asks; `exact` is raised.
    private func significant(_ exact: ExactQuotient, _ value: Decimal64) -> Decimal64? {
        let known = ExactQuotient.digits(of: UInt128(value.mantissa.magnitude))
        let decimals = max(0, -Int(value.exponent))
        var place = lastPlace(top: exact.top, digits: known, decimals: decimals)
        guard let rounded = exact.rounded(at: place) else { return nil }
        var magnitude = rounded.magnitude
        while rounded.isExact, place < 0, magnitude % 10 == 0,
            offset == 0 ? ExactQuotient.digits(of: UInt128(magnitude)) > known : -place > decimals
        {
            (magnitude, place) = (magnitude / 10, place + 1)
        }
        return UnitConversion.decimal(magnitude, exponent: place, exact.isNegative)
    }

    /// Where the last digit of a result goes whose first is at `top`, by the digits or decimals of the value.
    private func lastPlace(top: Int, digits: Int, decimals: Int) -> Int {
        let place =
            offset == 0
            ? top - max(digits + 1, UnitConversion.leastDigits) : -max(decimals + 1, UnitConversion.leastDecimals)
        // Left of the decimal point nothing is rounded while it fits 18 digits.
        return max(min(place, 0), top - 18)
    }

    /// The decimal, or nil when it has more than 18 digits or an exponent out of range.
    private static func decimal(_ magnitude: UInt64, exponent: Int, _ isNegative: Bool) -> Decimal64? {
        var (magnitude, exponent) = (magnitude, exponent)
        // Rounding up 18 nines gave one digit more, which is a zero.
        if magnitude == 1_000_000_000_000_000_000 { (magnitude, exponent) = (magnitude / 10, exponent + 1) }
        guard magnitude < 1_000_000_000_000_000_000, Decimal64.exponentRange.contains(exponent) else { return nil }
        let mantissa = isNegative ? -Int64(magnitude) : Int64(magnitude)
        return Decimal64(mantissa: mantissa, exponent: Int8(exponent))
    }
}
