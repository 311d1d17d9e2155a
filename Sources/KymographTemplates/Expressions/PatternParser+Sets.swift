import KymographCore

/// Escapes and character sets.
extension PatternParser {
    private static let digits = PatternItem(categories: UnicodeCategory.digits)
    private static let words = PatternItem(categories: UnicodeCategory.words)
    private static let spaces = [
        PatternItem(low: 0x09, high: 0x0D, categories: UnicodeCategory.spaces), PatternItem(low: 0x85, high: 0x85),
    ]

    /// An escape outside a set; the backslash at `place` was taken.
    mutating func escape(at place: Int) throws(PatternError) -> PatternNode {
        guard let next = scalar else { throw error("nothing after the backslash", at: place) }
        switch next {
        case "A": return taken(.textStart)
        case "z": return taken(.textEnd)
        case "Z": return taken(.lastLineEnd)
        case "b": return taken(.wordEdge)
        case "B": return taken(.noWordEdge)
        case "1"..."9", "k":
            throw error("back references are not supported: they cannot be searched in bounded time", at: place)
        default: break
        }
        if let (items, isNegated) = try shorthand(at: place) { return .set(items, isNegated: isNegated) }
        return literal(try character(at: place))
    }

    private mutating func taken(_ assertion: PatternAssertion) -> PatternNode {
        index += 1
        return .assertion(assertion)
    }

    /// `\d` and its like; nil for another escape.
    private mutating func shorthand(at place: Int) throws(PatternError) -> ([PatternItem], Bool)? {
        guard let next = scalar else { return nil }
        var items: [PatternItem]
        switch next {
        case "d", "D": items = [PatternParser.digits]
        case "w", "W": items = [PatternParser.words]
        case "s", "S": items = PatternParser.spaces
        case "p", "P": items = [PatternItem(categories: try category(at: place))]
        default: return nil
        }
        index += 1
        return (items, "DWSP".unicodeScalars.contains(next))
    }

    /// Reads `{name}` behind the letter, up to its brace.
    private mutating func category(at place: Int) throws(PatternError) -> UInt32 {
        guard index + 1 < text.count, text[index + 1] == "{", let end = text[index...].firstIndex(of: "}") else {
            throw error("'{' and the name of a Unicode category are expected, as in \\p{L}", at: place)
        }
        var name = String.UnicodeScalarView()
        name.append(contentsOf: text[(index + 2)..<end])
        guard let mask = UnicodeCategory.mask(String(name)) else {
            throw error("'\(String(name))' is no Unicode general category", at: place)
        }
        index = end
        return mask
    }

    /// An escape that stands for one character.
    private mutating func character(at place: Int) throws(PatternError) -> Unicode.Scalar {
        guard let next = scalar else { throw error("nothing after the backslash", at: place) }
        index += 1
        switch next {
        case "t": return "\t"
        case "n": return "\n"
        case "r": return "\r"
        case "f": return "\u{0C}"
        case "v": return "\u{0B}"
        case "a": return "\u{07}"
        case "e": return "\u{1B}"
        case "0": return "\u{0}"
        case "x": return try hexadecimal(2, at: place)
        case "u": return try hexadecimal(4, at: place)
        case "a"..."z", "A"..."Z", "0"..."9", "_":
            throw error("'\\\(next)' is no escape that is supported", at: place)
        default: return next
        }
    }

    private mutating func hexadecimal(_ digits: Int, at place: Int) throws(PatternError) -> Unicode.Scalar {
        var value: UInt32 = 0
        for _ in 0..<digits {
            guard let next = scalar, next.isASCII, let digit = JSONUnescape.hexValue(UInt8(next.value)) else {
                throw error("\(digits) hexadecimal digits are expected", at: place)
            }
            value = value << 4 | digit
            index += 1
        }
        guard let scalar = Unicode.Scalar(value) else { throw error("a surrogate is no character", at: place) }
        return scalar
    }

    // MARK: Sets

    /// A set; the bracket at `place` was taken.
    mutating func set(at place: Int) throws(PatternError) -> PatternNode {
        let isNegated = skip("^")
        var items: [PatternItem] = []
        var isFirst = true
        while let next = scalar, next != "]" || isFirst {
            isFirst = false
            try addMember(to: &items, at: place)
        }
        guard skip("]") else { throw error("the set is not closed", at: place) }
        return .set(cased(items), isNegated: isNegated)
    }

    private mutating func addMember(to items: inout [PatternItem], at place: Int) throws(PatternError) {
        let start = index
        if skip("\\"), let (more, isNegated) = try shorthand(at: start) {
            items += isNegated ? try inverted(more, at: start) : more
            return
        }
        index = start
        let low = try setCharacter()
        let dash = index
        guard skip("-") else {
            items.append(PatternItem(low: low.value, high: low.value))
            return
        }
        if scalar == "[" { throw error("sets without another set are not supported", at: dash) }
        guard let end = scalar, end != "]" else {
            index = dash
            items.append(PatternItem(low: low.value, high: low.value))
            return
        }
        let high = try setCharacter()
        guard low <= high else { throw error("the range is in the wrong order", at: start) }
        items.append(PatternItem(low: low.value, high: high.value))
    }

    private mutating func setCharacter() throws(PatternError) -> Unicode.Scalar {
        let place = index
        guard let next = scalar else { throw error("the set is not closed") }
        index += 1
        guard next == "\\" else { return next }
        if skip("b") { return "\u{08}" }
        return try character(at: place)
    }

    /// The opposite of a shorthand as items of a set that is joined with "or".
    private func inverted(_ items: [PatternItem], at place: Int) throws(PatternError) -> [PatternItem] {
        if items.count == 1 {
            var item = items[0]
            item.isInverted = true
            return [item]
        }
        // No space: everything that is neither of the two ranges nor of the category.
        let others = ~UnicodeCategory.spaces & ~UnicodeCategory.mask(all: "Cc")
        return [
            PatternItem(low: 0, high: 0x08, categories: others), PatternItem(low: 0x0E, high: 0x1F),
            PatternItem(low: 0x7F, high: 0x84), PatternItem(low: 0x86, high: 0x9F),
        ]
    }

    // MARK: Case

    /// The items and, where case is to be ignored, their other cases. Ranges of more than 2,000 characters are left as
    /// they are: they are whole scripts.
    func cased(_ items: [PatternItem]) -> [PatternItem] {
        guard options.ignoresCase else { return items }
        var all = items
        for item in items where item.low <= item.high && item.high - item.low < 2_000 {
            for value in item.low...item.high {
                for other in PatternParser.otherCases(value) where !items.contains(where: { $0.isRange(with: other) }) {
                    all.append(PatternItem(low: other, high: other))
                }
            }
        }
        return all
    }

    private static func otherCases(_ value: UInt32) -> [UInt32] {
        guard let scalar = Unicode.Scalar(value) else { return [] }
        let mappings = [scalar.properties.lowercaseMapping, scalar.properties.uppercaseMapping]
        return mappings.compactMap { mapping in
            let scalars = mapping.unicodeScalars
            guard scalars.count == 1, let only = scalars.first, only != scalar else { return nil }
            return only.value
        }
    }
}

extension PatternItem {
    fileprivate func isRange(with value: UInt32) -> Bool { value >= low && value <= high }
}
