/// Writes texts of a message into JSON strings: escapes decoded, in UTF-8.
struct HL7Text: ~Copyable {
    var delimiters = HL7Delimiters()
    var charset = HL7Charset.ascii
    /// A text whose escapes are being decoded.
    private var decoded = ByteWriter(capacity: 256)
    /// Bytes that an escape spells.
    private var spelled = ByteWriter(capacity: 64)

    init() {}

    /// Writes `text` with quotes around it.
    mutating func append(_ text: ByteView, to writer: inout ByteWriter) {
        writer.append("\"")
        appendContent(text, to: &writer)
        writer.append("\"")
    }

    private mutating func appendContent(_ text: ByteView, to writer: inout ByteWriter) {
        if charset != .latin1, text.firstIndex(of: delimiters.escape, from: 0) == nil { return writer.appendJSON(text) }
        decoded.removeAll()
        decode(text)
        writer.appendJSON(decoded.view)
    }

    /// Decodes `text`, byte by byte: an escape that is none, or that nobody knows, stays as it is.
    private mutating func decode(_ text: ByteView) {
        var index = 0
        while index < text.count {
            guard text[index] == delimiters.escape,
                let end = text.firstIndex(of: delimiters.escape, from: index + 1), decode(name: text[(index + 1)..<end])
            else {
                appendByte(text[index])
                index += 1
                continue
            }
            index = end + 1
        }
    }

    private mutating func appendByte(_ byte: UInt8) {
        guard charset == .latin1, byte >= 0x80 else { return decoded.append(byte) }
        decoded.append(0xC0 | byte >> 6)
        decoded.append(0x80 | byte & 0x3F)
    }

    /// Writes what the escape `name` stands for; false when it stands for nothing that is text.
    private mutating func decode(name: ByteView) -> Bool {
        if name.equals(ByteView(".br")) {
            decoded.append(0x0A)
            return true
        }
        let isHex = name.count >= 3 && name.count % 2 == 1 && name[0] == UInt8(ascii: "X")
        if isHex { return decode(hex: name[1..<name.count]) }
        guard name.count == 1, let byte = byte(named: name[0]) else { return false }
        decoded.append(byte)
        return true
    }

    private func byte(named name: UInt8) -> UInt8? {
        switch name {
        case UInt8(ascii: "F"): delimiters.field
        case UInt8(ascii: "S"): delimiters.component
        case UInt8(ascii: "T"): delimiters.subcomponent
        case UInt8(ascii: "R"): delimiters.repetition
        case UInt8(ascii: "E"): delimiters.escape
        case UInt8(ascii: "P") where delimiters.truncation != 0: delimiters.truncation
        default: nil
        }
    }

    /// Writes the bytes that `digits` spell, if they are text of the message's character set.
    private mutating func decode(hex digits: ByteView) -> Bool {
        spelled.removeAll()
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = Self.digit(digits[index]), let low = Self.digit(digits[index + 1]) else { return false }
            spelled.append(high << 4 | low)
        }
        let bytes = spelled.view.array
        guard bytes.allSatisfy({ $0 < 0x80 }) || charset == .latin1 || isText(bytes) else { return false }
        for byte in bytes { appendByte(byte) }
        return true
    }

    private func isText(_ bytes: [UInt8]) -> Bool {
        charset == .utf8 && String(validating: bytes, as: UTF8.self) != nil
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
