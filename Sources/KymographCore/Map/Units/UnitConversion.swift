/// Why values of one unit cannot be converted to another, and what to do about it.
package struct UnitMismatch: Error, Equatable, Sendable {
    /// What is wrong.
    package var message: String
    /// What to do.
    package var advice: String
}

/// An exact linear rule from one unit to another: `(value × numerator × 10^exponent + offset) / denominator`, the
/// offset with an exponent of its own. Flat, and made at load.
package struct UnitConversion: BitwiseCopyable, Sendable, Equatable {
    package let numerator: Int64
    /// At least 1.
    package let denominator: Int64
    package let exponent: Int16
    package let offset: Int64
    package let offsetExponent: Int16

    /// Whether both units are the same, so that a value keeps its digits.
    package var isIdentity: Bool { numerator == 1 && denominator == 1 && exponent == 0 && offset == 0 }

    /// The rule from `source` to `target`; with a `substance` also between mass and amount of it.
    ///
    /// - Throws: when the units measure different things, or the factor is beyond 63 bits.
    package init(
        from source: UCUMUnit, to target: UCUMUnit, substance: Substance? = nil
    ) throws(UnitMismatch) {
        let molar = try UnitConversion.molarFactor(source, target, substance)
        let tooLarge = UnitMismatch(
            message: "the factor from '\(source.code)' to '\(target.code)' is beyond exact arithmetic",
            advice: "choose a unit that is nearer to the source's")
        guard let factor = source.magnitude.times(molar)?.divided(by: target.magnitude),
            let shift = source.zeroPoint.minus(target.zeroPoint)?.divided(by: target.magnitude)
        else { throw tooLarge }
        // Both over one denominator.
        let common = ExactRatio.commonDivisor(factor.denominator, shift.denominator)
        let (bottom, overflow) = (factor.denominator / common).multipliedReportingOverflow(by: shift.denominator)
        guard !overflow, let numerator = Int64(exactly: factor.numerator * (shift.denominator / common)),
            let denominator = Int64(exactly: bottom),
            let offset = Int64(exactly: shift.numerator * (factor.denominator / common)),
            let exponent = Int16(exactly: factor.exponent), let offsetExponent = Int16(exactly: shift.exponent)
        else { throw tooLarge }
        self.numerator = numerator
        self.denominator = denominator
        self.exponent = exponent
        self.offset = offset
        self.offsetExponent = offsetExponent
    }

    /// Whether a conversion between the two needs to know the substance.
    package static func needsSubstance(_ source: UCUMUnit, _ target: UCUMUnit) -> Bool {
        source.dimension != target.dimension
            && (source.dimension.withMassForAmount == target.dimension
                || target.dimension.withMassForAmount == source.dimension)
    }

    /// What the magnitude is multiplied with to get from amount to mass, or back; 1 when both measure the same.
    private static func molarFactor(
        _ source: UCUMUnit, _ target: UCUMUnit, _ substance: Substance?
    ) throws(UnitMismatch) -> ExactRatio {
        if source.dimension == target.dimension { return .one }
        guard needsSubstance(source, target) else {
            throw UnitMismatch(
                message: kinds(source, target),
                advice: "convert between units of one kind, or read the value in the unit in which it is sent")
        }
        guard let substance, let mass = substance.gramsPerMole, let inverse = mass.reciprocal else {
            let known = Substance.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
            throw UnitMismatch(
                message: kinds(source, target),
                advice: "between mass and amount the molar mass counts: state \"substance\"; known is only \(known)")
        }
        return source.dimension.withMassForAmount == target.dimension ? mass : inverse
    }

    private static func kinds(_ source: UCUMUnit, _ target: UCUMUnit) -> String {
        "'\(source.code)' is \(source.dimension.text) and '\(target.code)' is \(target.dimension.text)"
    }
}
