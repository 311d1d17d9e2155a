/// A dead letter as a line for a stream of NDJSON.
package enum LetterLine {
    /// `bytes` with a line end; nil when no line says the same.
    package static func line(_ bytes: [UInt8]) -> [UInt8]? {
        // A carriage return at the end of the letter is none of the line's end.
        payload(bytes).map { $0 + ($0.last == UInt8(ascii: "\r") ? [0x0D, 0x0A] : [0x0A]) }
    }

    /// The bytes that come of ``line(_:)`` where lines are read. Between the tokens of JSON a line feed is as good as a
    /// blank, everywhere else it is not, and other bytes than text were never a line of readings.
    static func payload(_ bytes: [UInt8]) -> [UInt8]? {
        let first = bytes.first { !isSpace($0) }
        let isJSON = first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
        return isJSON ? withoutLineFeeds(bytes) : isText(bytes) ? bytes : nil
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    private static func isText(_ bytes: [UInt8]) -> Bool {
        !bytes.isEmpty && bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
            && String(validating: bytes, as: UTF8.self) != nil
    }

    /// JSON on one line; nil when a line feed is within a text, or may end a comment.
    private static func withoutLineFeeds(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.contains(UInt8(ascii: "\n")) else { return bytes }
        var line = bytes
        var (isInText, isEscaped) = (false, false)
        for (index, byte) in bytes.enumerated() {
            if isInText {
                if byte == UInt8(ascii: "\n") { return nil }
                if byte == UInt8(ascii: "\""), !isEscaped { isInText = false }
                isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
            } else {
                switch byte {
                case UInt8(ascii: "\n"): line[index] = 0x20
                case UInt8(ascii: "\""): isInText = true
                // Comments and texts in single quotes: mappings may be lenient with what is no strict JSON.
                case UInt8(ascii: "/"), UInt8(ascii: "'"): return nil
                default: break
                }
            }
        }
        return line
    }
}
