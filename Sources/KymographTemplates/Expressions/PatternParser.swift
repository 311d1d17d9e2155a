import KymographCore

/// Parses regular expressions in the syntax of the reference system (.NET), as far as they can be searched for in time
/// proportional to the text.
///
/// Taken: literals, `.`, sets with ranges, `\d \w \s` and their opposites, `\p{…}`, `^ $ \A \z \Z \b \B`, groups of all
/// kinds that capture or not, alternatives, `* + ? {n,m}` greedy or lazy, looking ahead and behind, `(?ims)`. Refused
/// with a message: what needs backtracking without bound (back references, atomic groups, conditions).
struct PatternParser {
    /// What the letters behind the pattern switch on.
    struct Options {
        var ignoresCase = false
        var isMultiline = false
        var dotTakesAll = false
    }

    static let deepestNesting = 32
    private static let mostRepeats = 1_000

    let text: [Unicode.Scalar]
    var index = 0
    var options = Options()
    private var depth = 0

    /// Letters other than `i`, `m` and `s` change nothing in a search, and are left aside as in the reference.
    init(_ pattern: [UInt8], flags: [UInt8]) {
        text = Array(String(decoding: pattern, as: UTF8.self).unicodeScalars)
        options.ignoresCase = flags.contains(UInt8(ascii: "i"))
        options.isMultiline = flags.contains(UInt8(ascii: "m"))
        options.dotTakesAll = flags.contains(UInt8(ascii: "s"))
    }

    var scalar: Unicode.Scalar? { index < text.count ? text[index] : nil }

    mutating func skip(_ expected: String) -> Bool {
        guard text[index...].starts(with: expected.unicodeScalars) else { return false }
        index += expected.unicodeScalars.count
        return true
    }

    func error(_ message: String, at place: Int? = nil) -> PatternError {
        let bytes = text[..<min(place ?? index, text.count)].reduce(0) { $0 + UTF8.width($1) }
        return PatternError(message: message, offset: bytes)
    }

    /// The whole pattern.
    mutating func whole() throws(PatternError) -> PatternNode {
        let node = try alternatives()
        guard index == text.count else { throw error("a ')' without '('") }
        return node
    }

    private mutating func alternatives() throws(PatternError) -> PatternNode {
        depth += 1
        defer { depth -= 1 }
        guard depth <= PatternParser.deepestNesting else { throw error("groups are nested too deep") }
        let outer = options
        defer { options = outer }
        var nodes = [try sequence()]
        while skip("|") { nodes.append(try sequence()) }
        return nodes.count == 1 ? nodes[0] : .alternatives(nodes)
    }

    private mutating func sequence() throws(PatternError) -> PatternNode {
        var nodes: [PatternNode] = []
        while let next = scalar, next != "|", next != ")" {
            let place = index
            guard let atom = try atom() else { continue }
            nodes.append(try quantified(atom, at: place))
        }
        return .sequence(nodes)
    }

    // MARK: Quantifiers

    private mutating func quantified(_ atom: PatternNode, at place: Int) throws(PatternError) -> PatternNode {
        guard let (minimum, maximum) = try quantifier() else { return atom }
        // Lazy or greedy makes no difference to whether there is a match.
        _ = skip("?")
        let second = index
        if try quantifier() != nil { throw error("nothing to repeat before this", at: second) }
        return .repeated(atom, minimum: minimum, maximum: maximum)
    }

    private mutating func quantifier() throws(PatternError) -> (Int, Int?)? {
        if skip("*") { return (0, nil) }
        if skip("+") { return (1, nil) }
        if skip("?") { return (0, 1) }
        guard scalar == "{" else { return nil }
        return try counts()
    }

    /// `{n}`, `{n,}` or `{n,m}`; anything else after a brace makes it a literal.
    private mutating func counts() throws(PatternError) -> (Int, Int?)? {
        let start = index
        index += 1
        guard let minimum = try count() else {
            index = start
            return nil
        }
        var maximum: Int? = minimum
        if skip(",") { maximum = try count() }
        guard skip("}") else {
            index = start
            return nil
        }
        if let maximum, maximum < minimum { throw error("the counts are in the wrong order", at: start) }
        return (minimum, maximum)
    }

    private mutating func count() throws(PatternError) -> Int? {
        let start = index
        var value = 0
        while let next = scalar, next.isASCII, ("0"..."9").contains(next) {
            value = min(value * 10 + Int(next.value - 48), PatternParser.mostRepeats + 1)
            index += 1
        }
        guard value <= PatternParser.mostRepeats else { throw error("more than 1,000 repeats", at: start) }
        return index > start ? value : nil
    }

    // MARK: Atoms

    /// One atom; nil for a comment or for options that hold from here on.
    private mutating func atom() throws(PatternError) -> PatternNode? {
        guard let next = scalar else { return nil }
        let place = index
        index += 1
        switch next {
        case "(": return try group(at: place)
        case "[": return try set(at: place)
        case ".":
            let lineFeed = PatternItem(low: 0x0A, high: 0x0A)
            return .set(options.dotTakesAll ? [] : [lineFeed], isNegated: true)
        case "^": return .assertion(options.isMultiline ? .lineStart : .textStart)
        case "$": return .assertion(options.isMultiline ? .lineEnd : .lastLineEnd)
        case "\\": return try escape(at: place)
        case "*", "+", "?": throw error("nothing to repeat before this", at: place)
        case "{":
            index = place
            if try counts() != nil { throw error("nothing to repeat before this", at: place) }
            index = place + 1
        default: break
        }
        return literal(next)
    }

    func literal(_ scalar: Unicode.Scalar) -> PatternNode {
        .set(cased([PatternItem(low: scalar.value, high: scalar.value)]), isNegated: false)
    }

    private mutating func group(at place: Int) throws(PatternError) -> PatternNode? {
        guard skip("?") else { return try closed(at: place) { .sequence([$0]) } }
        if skip(":") { return try closed(at: place) { $0 } }
        if skip("=") { return try closed(at: place) { .look($0, .lookAhead) } }
        if skip("!") { return try closed(at: place) { .look($0, .notAhead) } }
        if skip("<=") { return try closed(at: place) { .look($0, .lookBehind) } }
        if skip("<!") { return try closed(at: place) { .look($0, .notBehind) } }
        if skip("#") { return try comment(at: place) }
        if skip("<") { return try named(until: ">", at: place) }
        if skip("'") { return try named(until: "'", at: place) }
        if scalar == ">" || scalar == "(" {
            throw error("atomic groups and conditions are not supported: they cannot be searched in bounded time")
        }
        return try switched(at: place)
    }

    private mutating func closed(
        at place: Int, _ make: (PatternNode) -> PatternNode
    ) throws(PatternError) -> PatternNode {
        let node = try alternatives()
        guard skip(")") else { throw error("the group is not closed", at: place) }
        return make(node)
    }

    private mutating func comment(at place: Int) throws(PatternError) -> PatternNode? {
        while let next = scalar, next != ")" { index = min(index + (next == "\\" ? 2 : 1), text.count) }
        guard skip(")") else { throw error("the comment is not closed", at: place) }
        return nil
    }

    private mutating func named(until end: Unicode.Scalar, at place: Int) throws(PatternError) -> PatternNode {
        let start = index
        while let next = scalar, next != end {
            guard isWord(next) else { throw error("a group's name is made of letters, digits and '_'") }
            index += 1
        }
        guard index > start, scalar == end else { throw error("a group's name is expected", at: start) }
        index += 1
        return try closed(at: place) { $0 }
    }

    private func isWord(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || scalar.properties.isAlphabetic
            || scalar.properties.numericType != nil
    }

    /// `(?im-s)` and `(?im-s:…)`.
    private mutating func switched(at place: Int) throws(PatternError) -> PatternNode? {
        let outer = options
        var isOn = true
        while let next = scalar, next != ")", next != ":" {
            switch next {
            case "i": options.ignoresCase = isOn
            case "m": options.isMultiline = isOn
            case "s": options.dotTakesAll = isOn
            case "n": break
            case "-": isOn = false
            default: throw error("'\(next)' is not supported here")
            }
            index += 1
        }
        if skip(")") { return nil }
        guard skip(":") else { throw error("the group is not closed", at: place) }
        let node = try closed(at: place) { $0 }
        options = outer
        return node
    }
}
