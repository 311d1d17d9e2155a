/// What a unit measures: the powers of its base units.
package struct UCUMDimension: Hashable, Sendable {
    /// Power by code of the base unit; none is zero.
    private let powers: [String: Int]

    /// A plain number.
    package static let number = UCUMDimension(powers: [:])

    private init(powers: [String: Int]) { self.powers = powers }

    /// The dimension of a base unit.
    package init(base: String) { powers = [base: 1] }

    /// The dimension of this unit times `count` powers of `other`.
    func times(_ other: UCUMDimension, power count: Int = 1) -> UCUMDimension {
        var result = powers
        for (base, power) in other.powers {
            let sum = (result[base] ?? 0) + power * count
            result[base] = sum == 0 ? nil : sum
        }
        return UCUMDimension(powers: result)
    }

    /// This dimension with mass in place of amount of substance.
    var withMassForAmount: UCUMDimension {
        times(UCUMDimension(base: "mol"), power: -1).times(UCUMDimension(base: "g"))
    }

    /// The powers as a UCUM code, such as `g.m-3`; `1` for a plain number.
    private var code: String {
        if powers.isEmpty { return "1" }
        return powers.sorted { $0.key < $1.key }.map { $0.value == 1 ? $0.key : "\($0.key)\($0.value)" }
            .joined(separator: ".")
    }

    /// For messages: the usual name where there is one, and the code.
    var text: String { UCUMDimension.names[code].map { "\($0) (\(code))" } ?? "of dimension \(code)" }

    private static let names = [
        "1": "a plain number", "m": "a length", "g": "a mass", "s": "a time", "K": "a temperature",
        "mol": "an amount of substance", "rad": "an angle", "m2": "an area", "m3": "a volume", "m.s-1": "a speed",
        "m.s-2": "an acceleration", "m3.s-1": "a volume flow", "s-1": "a frequency", "g.m-3": "a mass concentration",
        "m-3.mol": "an amount concentration", "m-3": "a number concentration", "g.m-1.s-2": "a pressure",
        "g.m.s-2": "a force", "g.m2.s-2": "an energy", "g.m2.s-3": "a power", "C.s-1": "an electric current",
        "C-1.g.m2.s-2": "a voltage", "mol.s-1": "a catalytic activity", "g.m-2": "a mass by area",
        "eq": "an amount of equivalents", "eq.m-3": "a concentration of equivalents",
    ]
}
