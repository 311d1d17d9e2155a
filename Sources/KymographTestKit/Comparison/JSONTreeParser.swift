/// A plain recursive JSON parser (RFC 8259) for tests; speed does not matter here.
struct JSONTreeParser {
    let bytes: [UInt8]
    private var index = 0
    private var depth = 0

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func document() throws(JSONTreeError) -> JSONTree {
        let tree = try value()
        skipSpace()
        guard index == bytes.count else { throw fault("the end") }
        return tree
    }

    private mutating func value() throws(JSONTreeError) -> JSONTree {
        skipSpace()
        switch peek {
        case UInt8(ascii: "{"): return try nested { parser throws(JSONTreeError) in try parser.object() }
        case UInt8(ascii: "["): return try nested { parser throws(JSONTreeError) in try parser.array() }
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func nested(
        _ body: (inout JSONTreeParser) throws(JSONTreeError) -> JSONTree
    ) throws(JSONTreeError) -> JSONTree {
        guard depth < 200 else { throw fault("less depth") }
        depth += 1
        index += 1
        let tree = try body(&self)
        depth -= 1
        return tree
    }

    private mutating func object() throws(JSONTreeError) -> JSONTree {
        var members: [String: JSONTree] = [:]
        if take("}") { return .object(members) }
        repeat {
            skipSpace()
            let name = try string()
            guard take(":") else { throw fault("':'") }
            members[name] = try value()
        } while take(",")
        guard take("}") else { throw fault("'}' or ','") }
        return .object(members)
    }

    private mutating func array() throws(JSONTreeError) -> JSONTree {
        var elements: [JSONTree] = []
        if take("]") { return .array(elements) }
        repeat {
            elements.append(try value())
        } while take(",")
        guard take("]") else { throw fault("']' or ','") }
        return .array(elements)
    }

    private mutating func number() throws(JSONTreeError) -> JSONTree {
        let start = index
        while let byte = peek, "+-.0123456789eE".utf8.contains(byte) { index += 1 }
        let digits = String(decoding: bytes[start..<index], as: UTF8.self)
        guard digits.wholeMatch(of: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/) != nil else {
            index = start
            throw fault("a value")
        }
        return .number(digits)
    }

    private mutating func word(_ word: String, _ tree: JSONTree) throws(JSONTreeError) -> JSONTree {
        guard bytes[index...].starts(with: word.utf8) else { throw fault("a value") }
        index += word.utf8.count
        return tree
    }

    private mutating func string() throws(JSONTreeError) -> String {
        guard peek == UInt8(ascii: "\"") else { throw fault("a string") }
        index += 1
        var text: [UInt8] = []
        while let byte = peek, byte != UInt8(ascii: "\"") {
            guard byte >= 0x20 else { throw fault("no control character") }
            index += 1
            if byte == UInt8(ascii: "\\") {
                text += Array(String(try escape()).utf8)
            } else {
                text.append(byte)
            }
        }
        guard peek != nil else { throw fault("'\"'") }
        index += 1
        guard let valid = String(validating: text, as: UTF8.self) else { throw fault("UTF-8") }
        return valid
    }

    private mutating func escape() throws(JSONTreeError) -> Character {
        guard let byte = peek else { throw fault("an escape") }
        index += 1
        switch byte {
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Character(Unicode.Scalar(byte))
        case UInt8(ascii: "u"): return Character(try codePoint())
        default: throw fault("a known escape")
        }
    }

    private mutating func codePoint() throws(JSONTreeError) -> Unicode.Scalar {
        let high = try codeUnit()
        if let scalar = Unicode.Scalar(high) { return scalar }
        guard (0xD800..<0xDC00).contains(high), bytes[index...].starts(with: "\\u".utf8) else {
            throw fault("a pair of surrogates")
        }
        index += 2
        let low = try codeUnit()
        guard (0xDC00..<0xE000).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
        else { throw fault("a low surrogate") }
        return scalar
    }

    private mutating func codeUnit() throws(JSONTreeError) -> UInt32 {
        let digits = bytes[index...].prefix(4)
        guard digits.count == 4, let unit = UInt32(String(decoding: digits, as: UTF8.self), radix: 16) else {
            throw fault("four hexadecimal digits")
        }
        index += 4
        return unit
    }

    private var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func take(_ wanted: Unicode.Scalar) -> Bool {
        skipSpace()
        guard peek == UInt8(ascii: wanted) else { return false }
        index += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
    }

    private func fault(_ expected: String) -> JSONTreeError {
        JSONTreeError(message: "expected \(expected)", offset: index)
    }
}
