import KymographCore

/// A piece of a JMESPath expression.
struct JMESPathLexeme: Equatable {
    enum Kind: Equatable {
        case name(String)
        /// A member name in double quotes.
        case quotedName(String)
        /// A text in single quotes.
        case text(String)
        /// JSON in backticks.
        case literal(String)
        case number(Int32)
        case symbol(JMESPathSymbol)
        case end
    }

    var kind: Kind
    /// Bytes before it.
    var offset: Int
}

/// Splits a JMESPath expression (jmespath.org, "Grammar").
struct JMESPathLexer {
    private let text: [UInt8]
    private var index = 0

    /// The pieces of `expression`; the last one is the end.
    static func split(_ expression: String) throws(ExpressionError) -> [JMESPathLexeme] {
        var lexer = JMESPathLexer(text: Array(expression.utf8))
        var lexemes: [JMESPathLexeme] = []
        while true {
            lexer.skipSpace()
            let offset = lexer.index
            let kind = try lexer.next()
            lexemes.append(JMESPathLexeme(kind: kind, offset: offset))
            if kind == .end { return lexemes }
        }
    }

    private init(text: [UInt8]) {
        self.text = text
    }

    private mutating func skipSpace() {
        while index < text.count,
            text[index] == 0x20 || text[index] == 0x09 || text[index] == 0x0A || text[index] == 0x0D
        {
            index += 1
        }
    }

    private mutating func next() throws(ExpressionError) -> JMESPathLexeme.Kind {
        guard index < text.count else { return .end }
        let byte = text[index]
        if JMESPathLexer.startsName(byte) { return .name(name()) }
        switch byte {
        case UInt8(ascii: "\""): return .quotedName(try quotedName())
        case UInt8(ascii: "'"): return .text(try rawText())
        case UInt8(ascii: "`"): return .literal(try literal())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number())
        default: return .symbol(try symbol())
        }
    }

    private static func startsName(_ byte: UInt8) -> Bool {
        let letter = byte | 0x20
        return (letter >= UInt8(ascii: "a") && letter <= UInt8(ascii: "z")) || byte == UInt8(ascii: "_")
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    private mutating func name() -> String {
        let start = index
        while index < text.count, JMESPathLexer.startsName(text[index]) || JMESPathLexer.isDigit(text[index]) {
            index += 1
        }
        return String(decoding: text[start..<index], as: UTF8.self)
    }

    private mutating func number() throws(ExpressionError) -> Int32 {
        let start = index
        index += 1
        while index < text.count, JMESPathLexer.isDigit(text[index]) { index += 1 }
        let written = String(decoding: text[start..<index], as: UTF8.self)
        guard written != "-" else { throw ExpressionError(message: "'-' without a number", offset: start) }
        guard let number = Int32(written), number != JMESPathSlice.absent else {
            throw ExpressionError(message: "the index \(written) is too large", offset: start)
        }
        return number
    }

    private mutating func symbol() throws(ExpressionError) -> JMESPathSymbol {
        let following = index + 1 < text.count ? text[index + 1] : 0
        if let symbol = JMESPathSymbol(text[index], following) {
            index += 2
            return symbol
        }
        if let symbol = JMESPathSymbol(text[index]) {
            index += 1
            return symbol
        }
        if text[index] == UInt8(ascii: "=") {
            throw ExpressionError(message: "'=' is no operator; use '=='", offset: index)
        }
        if text[index] == UInt8(ascii: "$") {
            throw ExpressionError(
                message: "'$' belongs to JSONPath; JMESPath starts with a member name or '@'", offset: index)
        }
        let shown = String(decoding: text[index...].prefix(4), as: UTF8.self).prefix(1)
        throw ExpressionError(message: "unexpected '\(shown)'; quote member names with double quotes", offset: index)
    }

    // MARK: What is quoted

    /// The bytes up to `quote`, which a backslash protects; `index` is behind it afterwards.
    private mutating func quoted(_ quote: UInt8, _ what: String) throws(ExpressionError) -> ArraySlice<UInt8> {
        let start = index
        index += 1
        while index < text.count, text[index] != quote { index += text[index] == UInt8(ascii: "\\") ? 2 : 1 }
        guard index < text.count else { throw ExpressionError(message: "\(what) is not closed", offset: start) }
        index += 1
        return text[start + 1..<index - 1]
    }

    private mutating func quotedName() throws(ExpressionError) -> String {
        let start = index
        let content = try quoted(UInt8(ascii: "\""), "the quoted name")
        let padded = PaddedBytes(copying: Array(content) + [UInt8(ascii: "\"")])
        let scanned = JSONStringScan.scan(padded.view, from: 0)
        guard scanned.failure == JSONStringScan.valid else {
            throw ExpressionError(
                message: "the quoted name is no JSON string", offset: min(start + 1 + scanned.end, text.count))
        }
        guard scanned.end == content.count else {
            throw ExpressionError(message: "the quoted name is no JSON string", offset: start + 1 + scanned.end)
        }
        return JSONUnescape.string(padded.view(0..<content.count))
    }

    /// In single quotes a backslash protects the quote and nothing else.
    private mutating func rawText() throws(ExpressionError) -> String {
        let content = Array(try quoted(UInt8(ascii: "'"), "the text in single quotes"))
        return JMESPathLexer.replacing(UInt8(ascii: "'"), in: content)
    }

    private mutating func literal() throws(ExpressionError) -> String {
        let content = Array(try quoted(UInt8(ascii: "`"), "the literal in backticks"))
        return JMESPathLexer.replacing(UInt8(ascii: "`"), in: content)
    }

    /// Drops the backslash before each `quote`.
    private static func replacing(_ quote: UInt8, in content: [UInt8]) -> String {
        var result: [UInt8] = []
        var index = 0
        while index < content.count {
            if content[index] == UInt8(ascii: "\\"), index + 1 < content.count {
                if content[index + 1] != quote { result.append(content[index]) }
                index += 1
            }
            result.append(content[index])
            index += 1
        }
        return String(decoding: result, as: UTF8.self)
    }
}
