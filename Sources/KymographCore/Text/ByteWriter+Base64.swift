/// Base64 (RFC 4648).
extension ByteWriter {
    /// Writes `bytes` in base64 with padding (RFC 4648, section 4), four characters for each three bytes.
    package mutating func appendBase64(_ bytes: ByteView) {
        appendBase64(bytes, last: (UInt8(ascii: "+"), UInt8(ascii: "/")), isPadded: true)
    }

    /// Writes `bytes` in the form for URLs, without padding (RFC 4648, section 5).
    package mutating func appendBase64URL(_ bytes: ByteView) {
        appendBase64(bytes, last: (UInt8(ascii: "-"), UInt8(ascii: "_")), isPadded: false)
    }

    private mutating func appendBase64(_ bytes: ByteView, last signs: (UInt8, UInt8), isPadded: Bool) {
        reserve(bytes.count / 3 * 4 + 4)
        var index = 0
        while index < bytes.count {
            let left = min(bytes.count - index, 3)
            var word = UInt32(bytes[index]) << 16
            if left > 1 { word |= UInt32(bytes[index + 1]) << 8 }
            if left > 2 { word |= UInt32(bytes[index + 2]) }
            for place in 0..<4 {
                if place <= left {
                    append(ByteWriter.base64(UInt8(word >> UInt32(18 - 6 * place) & 63), signs))
                } else if isPadded {
                    append(UInt8(ascii: "="))
                }
            }
            index += 3
        }
    }

    private static func base64(_ value: UInt8, _ signs: (UInt8, UInt8)) -> UInt8 {
        switch value {
        case 0..<26: UInt8(ascii: "A") + value
        case 26..<52: UInt8(ascii: "a") + (value - 26)
        case 52..<62: UInt8(ascii: "0") + (value - 52)
        case 62: signs.0
        default: signs.1
        }
    }
}
