/// Reads the text of a JSON string whose escapes were validated by the scanner.
package enum JSONUnescape {
    /// Appends `bytes` (a string's content between its quotes) to `writer` with escapes resolved.
    ///
    /// A surrogate without its partner, which RFC 8259 section 8.2 leaves open, becomes U+FFFD.
    package static func append(_ bytes: ByteView, into writer: inout ByteWriter) {
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\\") {
                index += appendEscape(bytes, at: index, to: &writer)
            } else {
                writer.append(byte)
                index += 1
            }
        }
    }

    /// Whether `bytes`, which are JSON or a part of it, hold a surrogate without its partner.
    static func hasLoneSurrogate(_ bytes: ByteView) -> Bool {
        var index = 0
        while index + 1 < bytes.count {
            guard bytes[index] == UInt8(ascii: "\\") else {
                index += 1
                continue
            }
            guard bytes[index + 1] == UInt8(ascii: "u"), index + 6 <= bytes.count else {
                index += 2
                continue
            }
            let first = unit(bytes, at: index + 2)
            if first & 0xF800 == 0xD800 {
                guard isPair(first, bytes, at: index) else { return true }
                index += 6
            }
            index += 6
        }
        return false
    }

    /// The unescaped text, for load time.
    package static func string(_ bytes: ByteView) -> String {
        var writer = ByteWriter(capacity: bytes.count)
        append(bytes, into: &writer)
        return writer.view.string
    }

    /// The value of a hexadecimal digit, or nil.
    package static func hexValue(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }

    /// Appends one escape and returns how many bytes it took.
    private static func appendEscape(_ bytes: ByteView, at index: Int, to writer: inout ByteWriter) -> Int {
        switch bytes[index + 1] {
        case UInt8(ascii: "b"): writer.append(0x08)
        case UInt8(ascii: "f"): writer.append(0x0C)
        case UInt8(ascii: "n"): writer.append(0x0A)
        case UInt8(ascii: "r"): writer.append(0x0D)
        case UInt8(ascii: "t"): writer.append(0x09)
        case UInt8(ascii: "u"): return appendUnicode(bytes, at: index, to: &writer)
        default: writer.append(bytes[index + 1])
        }
        return 2
    }

    private static func appendUnicode(_ bytes: ByteView, at index: Int, to writer: inout ByteWriter) -> Int {
        let first = unit(bytes, at: index + 2)
        guard isPair(first, bytes, at: index) else {
            append(Unicode.Scalar(first) ?? "\u{FFFD}", to: &writer)
            return 6
        }
        let second = unit(bytes, at: index + 8)
        append(Unicode.Scalar(0x10000 + ((first & 0x3FF) << 10) + (second & 0x3FF)) ?? "\u{FFFD}", to: &writer)
        return 12
    }

    /// Whether the escape at `index`, of `first`, and the one behind it are a pair of surrogates.
    private static func isPair(_ first: UInt32, _ bytes: ByteView, at index: Int) -> Bool {
        first & 0xFC00 == 0xD800 && index + 12 <= bytes.count && bytes[index + 6] == UInt8(ascii: "\\")
            && bytes[index + 7] == UInt8(ascii: "u") && unit(bytes, at: index + 8) & 0xFC00 == 0xDC00
    }

    private static func unit(_ bytes: ByteView, at index: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 << 4 | (hexValue(bytes[index + $1]) ?? 0) }
    }

    private static func append(_ scalar: Unicode.Scalar, to writer: inout ByteWriter) {
        for byte in String(scalar).utf8 { writer.append(byte) }
    }
}
