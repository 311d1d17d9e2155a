/// Which tokens templates matched, so that elements of an array that nobody took are told.
extension Token {
    /// The bytes of the value with the quotes of a string.
    var outerRange: Range<Int> {
        kind == TokenKind.string ? (range.lowerBound - 1)..<(range.upperBound + 1) : range
    }

    /// Flag: a template matched this token.
    static let matched: UInt8 = 4
}

extension JSONScanner {
    /// Notes that a template matched `token`.
    mutating func markMatched(_ token: Int) { setFlag(Token.matched, of: token) }

    /// Whether a template matched any token of `range`.
    func isMatched(_ range: Range<Int>) -> Bool {
        range.contains { tape[$0].flags & Token.matched != 0 }
    }
}
