/// Text inside JSON strings (RFC 8259 section 7).
extension ByteWriter {
    /// Writes `text`, which must be UTF-8, with quotes, backslashes and control characters escaped; without quotes
    /// around it.
    package mutating func appendJSON(_ text: ByteView) {
        // Nearly no identifier has anything to escape.
        if ByteWriter.needNoEscape(text) { append(text) } else { appendEscaped(text) }
    }

    /// Whether all bytes of `text` are known to need none: eight at a time, the last eight with some of those before.
    @inline(__always)
    private static func needNoEscape(_ text: ByteView) -> Bool {
        guard text.count >= 8 else { return false }
        var index = 0
        while index < text.count &- 8 {
            guard JSONStringScan.needsNoEscape(text.word(at: index)) else { return false }
            index &+= 8
        }
        return JSONStringScan.needsNoEscape(text.word(at: text.count &- 8))
    }

    @inline(never)
    private mutating func appendEscaped(_ text: ByteView) {
        var clean = 0
        for index in 0..<text.count where ByteWriter.needsEscape(text[index]) {
            append(text[clean..<index])
            appendEscape(text[index])
            clean = index + 1
        }
        append(text[clean..<text.count])
    }

    /// Writes `text` escaped, for constants at compile time.
    package mutating func appendJSON(_ text: String) {
        let bytes = Array(text.utf8)
        appendJSON(bytes)
    }

    /// Writes `bytes` escaped.
    package mutating func appendJSON(_ bytes: [UInt8]) {
        bytes.withByteView { appendJSON($0) }
    }

    @inline(__always)
    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func appendEscape(_ byte: UInt8) {
        append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: append(UInt8(ascii: "b"))
        case 0x09: append(UInt8(ascii: "t"))
        case 0x0A: append(UInt8(ascii: "n"))
        case 0x0C: append(UInt8(ascii: "f"))
        case 0x0D: append(UInt8(ascii: "r"))
        case 0x00..<0x20:
            append("u00")
            appendHex(byte)
        default: append(byte)
        }
    }

    /// Writes `byte` as two lower-case hexadecimal digits.
    @inline(__always)
    package mutating func appendHex(_ byte: UInt8) {
        append(ByteWriter.hexDigit(byte >> 4))
        append(ByteWriter.hexDigit(byte & 15))
    }

    @inline(__always)
    private static func hexDigit(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + (nibble - 10)
    }
}
