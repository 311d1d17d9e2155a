package import KymographCore

/// Reads UCUM codes: a recursive descent over the grammar of UCUM section 2.2 (■1 to ■11).
struct UCUMParser {
    /// Parentheses within parentheses that are read; no unit has more than two.
    private static let deepest = 16
    /// Exponents beyond this are slips of the pen.
    private static let largestExponent = 64

    private let bytes: [UInt8]
    private var index = 0
    private var depth = 0

    init(_ code: String) { bytes = Array(code.utf8) }

    /// Reads the whole code.
    mutating func parse() throws(ExpressionError) -> UCUMUnit {
        guard !bytes.isEmpty else { throw failure("the unit is empty; the unit of plain numbers is '1'") }
        if let bad = bytes.firstIndex(where: { $0 <= 0x20 || $0 > 0x7E }) {
            throw failure("a UCUM code is ASCII without blanks\(hint(String(decoding: bytes, as: UTF8.self)))", at: bad)
        }
        let unit = try term(mayStartWithSlash: true)
        guard index == bytes.count else { throw failure("unexpected '\(found)'") }
        return unit
    }

    private mutating func term(mayStartWithSlash: Bool) throws(ExpressionError) -> UCUMUnit {
        var start = index
        var product: UCUMUnit
        if mayStartWithSlash, take("/") {
            product = try join(.one, try component(), power: -1, from: start)
        } else {
            product = try component()
        }
        while let power = separator() {
            if product.isScale { throw scaleFailure(at: start) }
            start = index
            product = try join(product, try component(), power: power, from: start)
        }
        return product
    }

    /// 1 behind `.`, -1 behind `/`.
    private mutating func separator() -> Int? {
        if take(".") { return 1 }
        return take("/") ? -1 : nil
    }

    private func join(
        _ product: UCUMUnit, _ unit: UCUMUnit, power: Int, from start: Int
    ) throws(ExpressionError) -> UCUMUnit {
        if unit.isScale { throw scaleFailure(at: start) }
        guard let joined = product.times(unit, power: power) else { throw tooLarge(at: start) }
        return joined
    }

    private mutating func component() throws(ExpressionError) -> UCUMUnit {
        let start = index
        if take("(") {
            depth += 1
            guard depth <= UCUMParser.deepest else { throw failure("too many parentheses", at: start) }
            let unit = try term(mayStartWithSlash: false)
            guard take(")") else { throw failure("expected ')', found '\(found)'") }
            depth -= 1
            return unit
        }
        if peek == UInt8(ascii: "{") {
            try annotation()
            return .one
        }
        let unit = try annotatable()
        if peek == UInt8(ascii: "{") { try annotation() }
        return unit
    }

    /// `{…}`: says what was counted, and has no meaning for the unit.
    private mutating func annotation() throws(ExpressionError) {
        let start = index
        while let byte = peek, byte != UInt8(ascii: "}") { index += 1 }
        guard take("}") else { throw failure("the annotation is not closed; expected '}'", at: start) }
    }

    /// A whole number, or a unit with its exponent.
    private mutating func annotatable() throws(ExpressionError) -> UCUMUnit {
        let start = index
        if let digits = number(), peek != UInt8(ascii: "*"), peek != UInt8(ascii: "^") {
            guard !startsSymbol else { throw failure("expected '.' between the number and the unit") }
            guard let value = Int128(digits), value > 0, let ratio = ExactRatio(value) else {
                throw failure("'\(digits)' is no factor", at: start)
            }
            return UCUMUnit(code: digits, dimension: .number, magnitude: ratio)
        }
        index = start
        let name = try symbol()
        guard let unit = try UCUMParser.unit(name) else { throw unknown(name, at: start) }
        guard let power = try exponent() else { return unit }
        return try join(.one, unit, power: power, from: start)
    }

    private mutating func exponent() throws(ExpressionError) -> Int? {
        let start = index
        let isNegative = take("-")
        let isSigned = isNegative || take("+")
        guard let digits = number() else {
            if isSigned { throw failure("expected digits behind the sign, found '\(found)'") }
            return nil
        }
        guard let value = Int(digits), value <= UCUMParser.largestExponent else {
            throw failure("the exponent \(digits) is beyond \(UCUMParser.largestExponent)", at: start)
        }
        return isNegative ? -value : value
    }

    private mutating func number() -> String? {
        let start = index
        while let byte = peek, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { index += 1 }
        return start == index ? nil : String(decoding: bytes[start..<index], as: UTF8.self)
    }

    /// A unit's letters with its prefix: up to a digit or sign, but all of what is in brackets.
    private mutating func symbol() throws(ExpressionError) -> String {
        let start = index
        if bytes[index...].starts(with: "10*".utf8) || bytes[index...].starts(with: "10^".utf8) { index += 3 }
        while startsSymbol, let byte = peek {
            guard byte == UInt8(ascii: "[") else {
                index += 1
                continue
            }
            guard let close = bytes[index...].firstIndex(of: UInt8(ascii: "]")) else {
                throw failure("the bracket is not closed; expected ']'")
            }
            index = close + 1
        }
        guard index > start else { throw failure("expected a unit, found '\(found)'") }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    // MARK: Characters

    private var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

    /// Whether a unit's letter is next.
    private var startsSymbol: Bool {
        guard let peek else { return false }
        return !"./(){}]+-0123456789".utf8.contains(peek)
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard let peek, UInt32(peek) == character.value else { return false }
        index += 1
        return true
    }

    // MARK: Errors

    private var found: String { peek.map { String(UnicodeScalar($0)) } ?? "end of unit" }

    private func failure(_ message: String, at offset: Int? = nil) -> ExpressionError {
        ExpressionError(message: message, offset: offset ?? index)
    }

    private func scaleFailure(at offset: Int) -> ExpressionError {
        failure("Cel and [degF] are scales with a zero of their own and stand alone; differences are in K", at: offset)
    }

    private func tooLarge(at offset: Int) -> ExpressionError {
        failure("the factor of this unit is beyond exact arithmetic", at: offset)
    }

    private func unknown(_ name: String, at offset: Int) -> ExpressionError {
        for prefix in UCUMTable.prefixes where name.hasPrefix(prefix.code) {
            let rest = String(name.dropFirst(prefix.code.count))
            guard rest.hasPrefix("["), UCUMTable.entries[rest] != nil else { continue }
            return failure("'\(rest)' takes no prefix, so '\(name)' is no unit", at: offset)
        }
        return failure("unknown unit '\(name)'\(wholeHint(name) ?? hint(name))", at: offset)
    }

    /// The code that is probably meant by the whole: `/min` by `beats/min`, of which `beats` is but a part.
    private func wholeHint(_ name: String) -> String? {
        let whole = String(decoding: bytes, as: UTF8.self)
        guard whole != name, let meant = UCUMTraps.meant(by: whole) else { return nil }
        let counted = UCUMTable.meant[name].flatMap { $0.hasPrefix("{") && whole.hasPrefix(name) ? $0 : nil }
        let other = counted.map { " or '\($0)\(whole.dropFirst(name.count))'" } ?? ""
        return "; the UCUM code is '\(meant)'\(other)"
    }

    /// The code that is probably meant.
    private func hint(_ name: String) -> String {
        if let meant = UCUMTable.meant[name] { return "; the UCUM code is '\(meant)'" }
        let near = NearestName.of(name, among: UCUMTable.entries.keys.sorted())
        guard let near, near.lowercased() == name.lowercased() else { return "" }
        return "; codes are case-sensitive: did you mean '\(near)'?"
    }

    // MARK: Units of the table

    /// The unit of the table that `name` is, with or without prefix; nil when there is none.
    private static func unit(_ name: String) throws(ExpressionError) -> UCUMUnit? {
        if let entry = UCUMTable.entries[name] { return try unit(entry) }
        for prefix in UCUMTable.prefixes where name.hasPrefix(prefix.code) {
            guard let entry = UCUMTable.entries[String(name.dropFirst(prefix.code.count))], entry.takesPrefix else {
                continue
            }
            let unit = try unit(entry)
            let scaled = ExactRatio(1, exponent: prefix.exponent).flatMap { unit.magnitude.times($0) }
            guard let scaled else { return nil }
            return UCUMUnit(code: name, dimension: unit.dimension, magnitude: scaled, zeroPoint: unit.zeroPoint)
        }
        return nil
    }

    private static func unit(_ entry: UCUMTable.Entry) throws(ExpressionError) -> UCUMUnit {
        guard let value = entry.value else {
            return UCUMUnit(code: entry.code, dimension: UCUMDimension(base: entry.code), magnitude: .one)
        }
        var parser = UCUMParser(entry.unit)
        let definition = try parser.parse()
        guard let magnitude = definition.magnitude.times(value) else { throw parser.tooLarge(at: 0) }
        let zero = UCUMTable.zeroPoints[entry.code].flatMap { $0 } ?? .zero
        return UCUMUnit(code: entry.code, dimension: definition.dimension, magnitude: magnitude, zeroPoint: zero)
    }
}

extension UCUMUnit {
    /// Reads `code`: units with prefixes, whole numbers, `.`, `/`, exponents, parentheses and annotations.
    ///
    /// - Throws: what is wrong and where; for a usual misspelling such as `mmHg` the code that is meant.
    package static func parse(_ code: String) throws(ExpressionError) -> UCUMUnit {
        var parser = UCUMParser(code)
        var unit = try parser.parse()
        unit.code = code
        return unit
    }
}
