/// Lays JSON out for people: two spaces a level, members in their order. The text must be valid JSON without layout.
package enum PrettyJSON {
    /// `text` with line breaks and indentation, and a final line feed.
    package static func format(_ text: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        var level = 0
        var inString = false
        var isEscaped = false
        for (index, byte) in text.enumerated() {
            if inString {
                output.append(byte)
                inString = isEscaped || byte != UInt8(ascii: "\"")
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
                continue
            }
            inString = byte == UInt8(ascii: "\"")
            append(byte, next: index + 1 < text.count ? text[index + 1] : 0, last: output.last, &level, to: &output)
        }
        return output + [0x0A]
    }

    private static func append(_ byte: UInt8, next: UInt8, last: UInt8?, _ level: inout Int, to output: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            level += 1
            output.append(byte)
            // Empty containers stay on one line; the closing brackets are two after the opening ones.
            if next != byte + 2 { breakLine(level, &output) }
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            level -= 1
            if last != byte - 2 { breakLine(level, &output) }
            output.append(byte)
        case UInt8(ascii: ","):
            output.append(byte)
            breakLine(level, &output)
        case UInt8(ascii: ":"):
            output += [byte, UInt8(ascii: " ")]
        default:
            output.append(byte)
        }
    }

    private static func breakLine(_ level: Int, _ output: inout [UInt8]) {
        output.append(0x0A)
        output += [UInt8](repeating: UInt8(ascii: " "), count: level * 2)
    }
}
