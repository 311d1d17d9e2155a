/// Packets that text carries: hexadecimal or base64. Anything else is refused, because text that is neither has lost
/// bytes on its way: those above 0x7F became two.
package enum PacketText {
    /// Writes the bytes that the hexadecimal digits of `text` spell; between bytes may be one blank, hyphen or colon.
    /// False when it is something else.
    package static func appendHex(_ text: ByteView, to bytes: inout ByteWriter) -> Bool {
        var index = 0
        while index < text.count {
            if index > 0, isSeparator(text[index]) { index += 1 }
            guard index + 2 <= text.count, let high = JSONUnescape.hexValue(text[index]),
                let low = JSONUnescape.hexValue(text[index + 1])
            else { return false }
            bytes.append(UInt8(high << 4 | low))
            index += 2
        }
        return true
    }

    private static func isSeparator(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ":")
    }

    /// Writes the bytes of base64 (RFC 4648, section 4), with or without padding. False when it is something else.
    package static func appendBase64(_ text: ByteView, to bytes: inout ByteWriter) -> Bool {
        var count = text.count
        while count > 0, text.count - count < 2, text[count - 1] == UInt8(ascii: "=") { count -= 1 }
        guard count % 4 != 1, count == text.count || text.count % 4 == 0 else { return false }
        var group: UInt32 = 0
        for index in 0..<count {
            guard let sextet = sextet(text[index]) else { return false }
            group = group << 6 | sextet
            // Each but the first of four completes a byte.
            let place = index & 3
            if place > 0 { bytes.append(UInt8(truncatingIfNeeded: group >> UInt32(6 - 2 * place))) }
        }
        return true
    }

    private static func sextet(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
