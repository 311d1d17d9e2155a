/// Text as a terminal or a line of a log may show it: what moves a cursor, changes colours, begins a line or turns the
/// order of letters around is written as JSON escapes it, `\u001b` for ESC.
///
/// Escaped are the control characters of Unicode (C0, DEL, C1), the separators of lines and paragraphs, U+FEFF, and the
/// marks, embeddings, overrides and isolates of the bidirectional algorithm (UAX #9), by which one identifier can look
/// like another. So are bytes of C1 (0x80…0x9F) outside of valid UTF-8: a terminal of eight bits takes 0x9B for ESC [.
package enum PrintableText {
    /// `text` in one line.
    package static func line(_ text: String) -> String { escaped(text, keepsLines: false) }

    /// `text` with its line feeds and tabs.
    package static func lines(_ text: String) -> String { escaped(text, keepsLines: true) }

    /// The same of UTF-8. A JSON document stays the same document: such characters are only in its strings, where the
    /// escape means the character.
    package static func lines(_ bytes: [UInt8]) -> [UInt8] { escaped(bytes, keepsLines: true) ?? bytes }

    private static func escaped(_ text: String, keepsLines: Bool) -> String {
        escaped(Array(text.utf8), keepsLines: keepsLines).map { String(decoding: $0, as: UTF8.self) } ?? text
    }

    /// `bytes` with what is escaped; nil when nothing is.
    private static func escaped(_ bytes: [UInt8], keepsLines: Bool) -> [UInt8]? {
        bytes.withByteView { escaped($0, keepsLines: keepsLines) }
    }

    private static func escaped(_ bytes: ByteView, keepsLines: Bool) -> [UInt8]? {
        var output: [UInt8] = []
        var (index, clean) = (0, 0)
        while index < bytes.count {
            let (value, length) = character(bytes, at: index)
            if isEscaped(value), !keepsLines || value != 0x0A && value != 0x09 {
                output.append(contentsOf: bytes[clean..<index])
                appendEscape(value, to: &output)
                clean = index + length
            }
            index += length
        }
        if clean == 0 { return nil }
        output.append(contentsOf: bytes[clean..<bytes.count])
        return output
    }

    /// What begins at `index`, and its bytes. A byte that is of no valid sequence stands for itself. None of the
    /// characters of four bytes is escaped: they are 0xFFFF.
    @inline(__always)
    private static func character(_ bytes: ByteView, at index: Int) -> (value: UInt16, length: Int) {
        let lead = bytes[index]
        guard lead >= 0x80 else { return (UInt16(lead), 1) }
        let length = UTF8Sequence.length(bytes, at: index)
        switch length {
        case 2: return (bits(lead, 0x1F) << 6 | bits(bytes[index + 1]), 2)
        case 3: return (bits(lead, 0x0F) << 12 | bits(bytes[index + 1]) << 6 | bits(bytes[index + 2]), 3)
        case 4: return (0xFFFF, 4)
        default: return (UInt16(lead), 1)
        }
    }

    @inline(__always)
    private static func bits(_ byte: UInt8, _ mask: UInt8 = 0x3F) -> UInt16 { UInt16(byte & mask) }

    @inline(__always)
    private static func isEscaped(_ value: UInt16) -> Bool {
        switch value {
        case 0x20..<0x7F: false
        case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: true
        default: false
        }
    }

    private static func appendEscape(_ value: UInt16, to output: inout [UInt8]) {
        output += Array("\\u".utf8)
        for shift in [12, 8, 4, 0] { output.append(Array("0123456789abcdef".utf8)[Int(value >> UInt16(shift) & 15)]) }
    }
}
