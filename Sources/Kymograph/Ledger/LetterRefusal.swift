/// Why a dead letter was left as it is.
public struct LetterRefusal: Codable, Sendable {
    /// The letter's number.
    public var letter: Int64
    /// Why, in a sentence.
    public var reason: String

    /// A refusal of letter `number`.
    public init(_ number: Int64, _ reason: String) { (letter, self.reason) = (number, reason) }
}
