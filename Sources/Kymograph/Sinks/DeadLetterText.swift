import KymographCore

/// The JSON of dead letters. The edges have their own few lines of JSON writing, so that Core's stays about FHIR.
extension ByteWriter {
    /// Writes one dead letter and its newline.
    mutating func append(
        deadLetter reason: String, source: String, receivedAt: Instant, bytes: ByteView, detail: String
    ) {
        append("{\"reason\":\"")
        append(Array(reason.utf8))
        append("\",\"source\":\"")
        append(escaping: source)
        append("\",\"receivedAt\":\"")
        append(timestamp: receivedAt)
        append("\",\"bytes\":\"")
        append(base64: bytes)
        append("\",\"detail\":\"")
        append(escaping: detail)
        append("\"}\n")
    }

    /// Writes `text` as the inside of a JSON string (RFC 8259, section 7).
    mutating func append(escaping text: String) {
        for byte in text.utf8 {
            switch byte {
            case 0x22, 0x5C:
                append(UInt8(0x5C))
                append(byte)
            case 0..<0x20, 0x7F: append(escapingControl: byte)
            default: append(byte)
            }
        }
    }

    private mutating func append(escapingControl byte: UInt8) {
        append("\\u00")
        append(ByteWriter.hexDigit(byte >> 4))
        append(ByteWriter.hexDigit(byte & 15))
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? 0x30 + value : 0x61 + value - 10
    }

    /// Writes `bytes` in base64 with padding (RFC 4648, section 4).
    mutating func append(base64 bytes: ByteView) {
        reserve((bytes.count + 2) / 3 * 4)
        var index = 0
        while index + 3 <= bytes.count {
            let group = UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2])
            appendSextets(group, count: 4)
            index += 3
        }
        switch bytes.count - index {
        case 1:
            appendSextets(UInt32(bytes[index]) << 16, count: 2)
            append("==")
        case 2:
            appendSextets(UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8, count: 3)
            append("=")
        default: break
        }
    }

    private mutating func appendSextets(_ group: UInt32, count: Int) {
        for place in 0..<count {
            append(ByteWriter.base64Digit(UInt8(truncatingIfNeeded: group >> UInt32(18 - 6 * place)) & 63))
        }
    }

    private static func base64Digit(_ sextet: UInt8) -> UInt8 {
        switch sextet {
        case 0..<26: 0x41 + sextet
        case 26..<52: 0x61 + sextet - 26
        case 52..<62: 0x30 + sextet - 52
        case 62: 0x2B
        default: 0x2F
        }
    }
}
