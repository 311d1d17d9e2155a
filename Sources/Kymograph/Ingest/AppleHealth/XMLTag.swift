import KymographCore

/// The parts of one tag of XML, such as `<Record type="…" value="72"/>`, as places in its bytes.
struct XMLTag {
    enum Kind {
        /// `<a>`
        case opening
        /// `</a>`
        case closing
        /// `<a/>`
        case whole
    }

    struct Attribute {
        var name: Range<Int>
        /// Without its quotes; references are not decoded.
        var value: Range<Int>
    }

    /// More attributes than any element of an export has: each is compared with those before.
    private static let mostAttributes = 256

    private(set) var kind = Kind.opening
    private(set) var name: Range<Int>
    private(set) var attributes: [Attribute] = []

    /// Reads `bytes`, from `<` to `>`; nil when they are no tag (XML 1.0, section 3.1).
    init?(_ bytes: ByteView) {
        var start = 1
        var end = bytes.count - 1
        guard end > 1, bytes[0] == UInt8(ascii: "<"), bytes[end] == UInt8(ascii: ">") else { return nil }
        if bytes[1] == UInt8(ascii: "/") {
            (kind, start) = (.closing, 2)
        } else if bytes[end - 1] == UInt8(ascii: "/") {
            (kind, end) = (.whole, end - 1)
        }
        name = start..<Self.endOfName(bytes, start, end)
        guard !name.isEmpty, readAttributes(bytes, from: name.upperBound, to: end) else { return nil }
    }

    /// The value of the attribute called `name`; nil when there is none.
    func value(of name: ByteView, in bytes: ByteView) -> Range<Int>? {
        attributes.first { bytes[$0.name].equals(name) }?.value
    }

    /// Whether all attributes are well-formed, and not too many.
    private mutating func readAttributes(_ bytes: ByteView, from start: Int, to end: Int) -> Bool {
        var place = start
        while true {
            let start = Self.passBlanks(bytes, place, end)
            guard start < end else { return true }
            let name = start..<Self.endOfName(bytes, start, end)
            guard start > place, !name.isEmpty, name.upperBound + 1 < end, bytes[name.upperBound] == UInt8(ascii: "=")
            else { return false }
            place = name.upperBound
            let quote = bytes[place + 1]
            guard Self.isQuote(quote), let close = bytes.firstIndex(of: quote, from: place + 2), close < end else {
                return false
            }
            // No name twice (XML 1.0, section 3.1): a reader would have to choose.
            guard attributes.count < Self.mostAttributes,
                !attributes.contains(where: { bytes[$0.name].equals(bytes[name]) })
            else { return false }
            attributes.append(Attribute(name: name, value: (place + 2)..<close))
            place = close + 1
        }
    }

    static func isQuote(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") }

    private static func passBlanks(_ bytes: ByteView, _ start: Int, _ end: Int) -> Int {
        var place = start
        while place < end, isBlank(bytes[place]) { place += 1 }
        return place
    }

    /// Behind the name that begins at `start`.
    private static func endOfName(_ bytes: ByteView, _ start: Int, _ end: Int) -> Int {
        var place = start
        while place < end, !isBlank(bytes[place]), bytes[place] != UInt8(ascii: "="), bytes[place] != UInt8(ascii: "/"),
            !isQuote(bytes[place])
        {
            place += 1
        }
        return place
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
}

/// Character and entity references in values (XML 1.0, section 4.1).
enum XMLText {
    private static let named: [(name: StaticString, byte: UInt8)] = [
        ("lt", UInt8(ascii: "<")), ("gt", UInt8(ascii: ">")), ("amp", UInt8(ascii: "&")),
        ("quot", UInt8(ascii: "\"")), ("apos", UInt8(ascii: "'")),
    ]

    /// The longest reference, `&#x10FFFF;`, without its `&`; leading zeros have no limit, and are not supported.
    private static let longest = 9

    /// Appends `value` to `writer` with its references decoded; false when one of them is none.
    static func append(_ value: ByteView, to writer: inout ByteWriter) -> Bool {
        var place = 0
        while place < value.count {
            guard let reference = value.firstIndex(of: UInt8(ascii: "&"), from: place) else {
                writer.append(value[place..<value.count])
                return true
            }
            writer.append(value[place..<reference])
            guard let end = value.firstIndex(of: UInt8(ascii: ";"), from: reference), end - reference <= longest,
                append(reference: value[(reference + 1)..<end], to: &writer)
            else { return false }
            place = end + 1
        }
        return true
    }

    private static func append(reference: ByteView, to writer: inout ByteWriter) -> Bool {
        if let known = named.first(where: { reference.equals(ByteView($0.name)) }) {
            writer.append(known.byte)
            return true
        }
        guard reference.count > 1, reference[0] == UInt8(ascii: "#") else { return false }
        let isHexadecimal = reference[1] == UInt8(ascii: "x")
        let digits = String(decoding: reference.array.dropFirst(isHexadecimal ? 2 : 1), as: UTF8.self)
        guard let code = UInt32(digits, radix: isHexadecimal ? 16 : 10), code > 0,
            let scalar = Unicode.Scalar(code), digits.first != "+"
        else { return false }
        for byte in String(scalar).utf8 { writer.append(byte) }
        return true
    }
}
