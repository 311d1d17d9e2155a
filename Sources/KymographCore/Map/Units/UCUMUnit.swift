/// A unit of measure, read from its case-sensitive UCUM code (<https://ucum.org/ucum>, section 2).
package struct UCUMUnit: Sendable, Hashable {
    /// The code as it was written.
    package var code: String
    package let dimension: UCUMDimension
    /// How many base units one of it is.
    package let magnitude: ExactRatio
    /// Where the scale's zero is, in base units: not zero only for `Cel` and `[degF]`.
    package let zeroPoint: ExactRatio

    package init(code: String, dimension: UCUMDimension, magnitude: ExactRatio, zeroPoint: ExactRatio = .zero) {
        self.code = code
        self.dimension = dimension
        self.magnitude = magnitude
        self.zeroPoint = zeroPoint
    }

    /// The plain number 1.
    package static let one = UCUMUnit(code: "1", dimension: .number, magnitude: .one)

    /// Whether values in `other` can be converted to values in this unit without knowing what was measured.
    package func isCommensurable(with other: UCUMUnit) -> Bool { dimension == other.dimension }

    /// Whether it is a scale whose zero is not that of its base unit, so that it cannot be part of a product.
    package var isScale: Bool { zeroPoint != .zero }

    /// This unit times `count` powers of `other`; nil when the factor does not fit 128 bits.
    package func times(_ other: UCUMUnit, power count: Int = 1) -> UCUMUnit? {
        guard let factor = other.magnitude.power(count), let product = magnitude.times(factor) else { return nil }
        return UCUMUnit(code: code, dimension: dimension.times(other.dimension, power: count), magnitude: product)
    }
}
