/// One step of a compiled regular expression, of the kind that Thompson's simulation runs.
package struct PatternInstruction: BitwiseCopyable {
    package enum Operation: UInt8, BitwiseCopyable {
        /// Takes one character that is in the set of items `first`, `second` in number.
        case set
        /// Takes one character that is not in that set.
        case otherThanSet
        /// Goes on at `first` and at `second`.
        case split
        /// Goes on at `first`.
        case jump
        /// Goes on when the ``PatternAssertion`` numbered `first` holds here.
        case assertion
        /// Goes on at `second` when the instructions at `first` match from here.
        case lookAhead
        /// Goes on at `second` when they do not.
        case notAhead
        /// Goes on at `second` when the instructions at `first` match something that ends here.
        case lookBehind
        /// Goes on at `second` when they do not.
        case notBehind
        /// The whole is matched.
        case match
    }

    var operation: Operation
    package var first: Int32 = 0
    package var second: Int32 = 0

    package init(operation: Operation, first: Int32 = 0, second: Int32 = 0) {
        (self.operation, self.first, self.second) = (operation, first, second)
    }
}

/// What can be true of a place between two characters.
package enum PatternAssertion: Int32 {
    case textStart, lineStart, textEnd, lastLineEnd, lineEnd, wordEdge, noWordEdge
}

/// Part of a character set: a range of scalars, and Unicode general categories.
package struct PatternItem: BitwiseCopyable, Hashable {
    /// First and last scalar; the range is empty when `low` is above `high`.
    package var low: UInt32 = 1
    package var high: UInt32 = 0
    /// Bits of ``UnicodeCategory``.
    var categories: UInt32 = 0
    /// Whether the item is everything but that, as in `[\D]`.
    package var isInverted = false

    package init(low: UInt32 = 1, high: UInt32 = 0, categories: UInt32 = 0) {
        (self.low, self.high, self.categories) = (low, high, categories)
    }

    @inline(__always)
    func contains(_ scalar: UInt32, category: UInt32) -> Bool {
        ((scalar >= low && scalar <= high) || categories & category != 0) != isInverted
    }
}

/// Where a pattern's instructions are.
package struct PatternReference: BitwiseCopyable {
    var start: Int32
    var count: Int32
    /// Whether it looks ahead or behind, which costs more than one pass over the text.
    var looksAround: Bool

    package init(start: Int32, count: Int32, looksAround: Bool) {
        (self.start, self.count, self.looksAround) = (start, count, looksAround)
    }
}

/// All regular expressions of a mapping set, flat.
package struct PatternProgram: Sendable {
    package var instructions: [PatternInstruction] = []
    package var items: [PatternItem] = []
    package var patterns: [PatternReference] = []
}

/// Unicode general categories as bits of a mask.
package enum UnicodeCategory {
    /// The two-letter names, in the order of the bits.
    static let names = [
        "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po",
        "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co", "Cn",
    ]

    /// The mask of a category (`Lu`) or of a group of them (`L`); nil when there is none of this name.
    package static func mask(_ name: String) -> UInt32? {
        let bits = names.indices.filter { names[$0] == name || (name.utf8.count == 1 && names[$0].hasPrefix(name)) }
        return bits.isEmpty ? nil : bits.reduce(0) { $0 | 1 << UInt32($1) }
    }

    package static func mask(all names: String...) -> UInt32 { names.reduce(0) { $0 | (mask($1) ?? 0) } }

    /// `\d`, `\w` and `\s` of the reference's regular expressions, apart from control characters.
    package static let digits = mask(all: "Nd")
    package static let words = mask(all: "L", "Mn", "Nd", "Pc")
    package static let spaces = mask(all: "Z")

    /// The bit of a scalar's category.
    static func bit(_ scalar: UInt32) -> UInt32 {
        guard let scalar = Unicode.Scalar(scalar) else { return 0 }
        return 1 << number(scalar.properties.generalCategory)
    }

    private static func number(_ category: Unicode.GeneralCategory) -> UInt32 {
        switch category {
        case .uppercaseLetter: 0
        case .lowercaseLetter: 1
        case .titlecaseLetter: 2
        case .modifierLetter: 3
        case .otherLetter: 4
        case .nonspacingMark: 5
        case .spacingMark: 6
        case .enclosingMark: 7
        case .decimalNumber: 8
        case .letterNumber: 9
        case .otherNumber: 10
        case .connectorPunctuation: 11
        case .dashPunctuation: 12
        case .openPunctuation: 13
        case .closePunctuation: 14
        case .initialPunctuation: 15
        case .finalPunctuation: 16
        case .otherPunctuation: 17
        case .mathSymbol: 18
        case .currencySymbol: 19
        case .modifierSymbol: 20
        case .otherSymbol: 21
        case .spaceSeparator: 22
        case .lineSeparator: 23
        case .paragraphSeparator: 24
        case .control: 25
        case .format: 26
        case .surrogate: 27
        case .privateUse: 28
        case .unassigned: 29
        @unknown default: 29
        }
    }
}
