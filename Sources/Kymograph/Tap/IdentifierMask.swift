/// Names for identifiers that say which are the same, and nothing else: keyed hashes (SipHash) whose key is random, of
/// one tap, and never leaves it.
struct IdentifierMask: Sendable {
    private let key: (UInt64, UInt64)

    /// What stands for texts of which nothing is to be known.
    static let text = "masked"

    init() {
        var random = SystemRandomNumberGenerator()
        key = (random.next(), random.next())
    }

    /// `masked-` and eight hexadecimal digits.
    func name(of identifier: [UInt8]) -> String {
        var hasher = Hasher()
        hasher.combine(key.0)
        hasher.combine(key.1)
        hasher.combine(identifier)
        let digits = String(UInt32(truncatingIfNeeded: hasher.finalize()), radix: 16)
        return "masked-" + String(repeating: "0", count: 8 - digits.count) + digits
    }
}
