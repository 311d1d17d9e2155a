/// Text as a terminal or a line of a log may show it: what moves a cursor, changes colours, begins a line or turns the
/// order of letters around is written as JSON escapes it, `\u001b` for ESC.
///
/// Escaped are the control characters of Unicode (C0, DEL, C1), the separators of lines and paragraphs, U+FEFF, and the
/// marks, embeddings, overrides and isolates of the bidirectional algorithm (UAX #9), by which one identifier can look
/// like another.
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
        var output: [UInt8] = []
        var (index, clean) = (0, 0)
        while index < bytes.count {
            guard let control = control(bytes, at: index), !keepsLines || control.value != 0x0A && control.value != 0x09
            else {
                index += 1
                continue
            }
            output += bytes[clean..<index]
            appendEscape(control.value, to: &output)
            index += control.length
            clean = index
        }
        return clean > 0 ? output + bytes[clean...] : nil
    }

    /// What begins at `index` and is escaped, and its bytes.
    @inline(__always)
    private static func control(_ bytes: [UInt8], at index: Int) -> (value: UInt16, length: Int)? {
        let byte = bytes[index]
        switch byte {
        case 0..<0x20, 0x7F: return (UInt16(byte), 1)
        // The first bytes of those that have more than one.
        case 0xC2, 0xD8, 0xE2, 0xEF: return longControl(bytes, at: index)
        default: return nil
        }
    }

    private static func longControl(_ bytes: [UInt8], at index: Int) -> (value: UInt16, length: Int)? {
        let length = bytes[index] < 0xE0 ? 2 : 3
        guard index + length <= bytes.count else { return nil }
        let value = bytes[(index + 1)..<(index + length)].reduce(UInt16(bytes[index] & (length == 2 ? 0x1F : 0x0F))) {
            $0 << 6 | UInt16($1 & 0x3F)
        }
        switch value {
        case 0x80..<0xA0, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: return (value, length)
        default: return nil
        }
    }

    private static func appendEscape(_ value: UInt16, to output: inout [UInt8]) {
        output += Array("\\u".utf8)
        for shift in [12, 8, 4, 0] { output.append(Array("0123456789abcdef".utf8)[Int(value >> UInt16(shift) & 15)]) }
    }
}
