/// Swift source with the content of comments and strings blanked out, so that braces and words can be counted.
struct CodeText {
    private let source: [UInt8]
    private var result: [UInt8] = []
    private var index = 0

    /// Blanks comments and strings of `text`; line feeds stay where they are.
    static func of(_ text: String) -> String {
        var reader = CodeText(source: Array(text.utf8))
        reader.readCode(until: nil)
        return String(decoding: reader.result, as: UTF8.self)
    }

    private init(source: [UInt8]) { self.source = source }

    private func at(_ text: String) -> Bool { source[index...].starts(with: text.utf8) }

    private mutating func keep(_ count: Int = 1) {
        result += source[index..<min(index + count, source.count)]
        index += count
    }

    private mutating func blank(_ count: Int = 1) {
        for byte in source[index..<min(index + count, source.count)] { result.append(byte == 10 ? 10 : 32) }
        index += count
    }

    /// Reads code, to the closing bracket of an interpolation when one is given.
    private mutating func readCode(until end: UInt8?) {
        var depth = 0
        while index < source.count {
            if at("//") {
                while index < source.count, source[index] != 10 { blank() }
            } else if at("/*") {
                while index < source.count, !at("*/") { blank() }
                blank(2)
            } else if let hashes = stringStart() {
                readString(hashes)
            } else {
                let byte = source[index]
                if byte == UInt8(ascii: "(") { depth += 1 }
                if byte == UInt8(ascii: ")") {
                    if depth == 0, byte == end { return }
                    depth -= 1
                }
                keep()
            }
        }
    }

    /// How many number signs open a string here; nil when none starts.
    private func stringStart() -> Int? {
        var place = index
        while place < source.count, source[place] == UInt8(ascii: "#") { place += 1 }
        return place < source.count && source[place] == UInt8(ascii: "\"") ? place - index : nil
    }

    private mutating func readString(_ hashes: Int) {
        let marks = String(repeating: "#", count: hashes)
        blank(hashes)
        let quote = at("\"\"\"") ? "\"\"\"" : "\""
        blank(quote.utf8.count)
        while index < source.count, !at(quote + marks) {
            if at("\\" + marks + "(") {
                blank(hashes + 2)
                readCode(until: UInt8(ascii: ")"))
                blank()
            } else {
                blank(at("\\" + marks) ? hashes + 2 : 1)
            }
        }
        blank(quote.utf8.count + hashes)
    }
}
