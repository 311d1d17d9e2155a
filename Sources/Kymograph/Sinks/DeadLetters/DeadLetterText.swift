import KymographCore

/// The JSON of dead letters.
extension ByteWriter {
    /// Writes one dead letter and its newline.
    mutating func append(
        deadLetter reason: String, source: String, receivedAt: Instant, bytes: ByteView, detail: String
    ) {
        append("{\"reason\":\"")
        append(Array(reason.utf8))
        append("\",\"source\":\"")
        appendJSON(source)
        append("\",\"receivedAt\":\"")
        append(receivedAt)
        append("\",\"bytes\":\"")
        append(base64: bytes)
        append("\",\"detail\":\"")
        appendJSON(detail)
        append("\"}\n")
    }

    /// Writes `bytes` in base64 with padding (RFC 4648, section 4).
    package mutating func append(base64 bytes: ByteView) {
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
