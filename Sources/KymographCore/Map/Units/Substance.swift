/// A substance whose molar mass is known, so that mass and amount of it can be converted into each other.
///
/// Only what is written here is converted: a molar mass taken for granted would give a plausible wrong number.
package enum Substance: String, CaseIterable, Sendable {
    /// D-glucose, C6H12O6: 180.156 g/mol, from the abridged standard atomic weights of IUPAC (C 12.011, H 1.008,
    /// O 15.999).
    case glucose

    /// Grams of one mole.
    var gramsPerMole: ExactRatio? {
        switch self {
        case .glucose: ExactRatio(180_156, exponent: -3)
        }
    }
}
