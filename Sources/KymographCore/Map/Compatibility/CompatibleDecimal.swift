/// Numbers of Quantities as the reference system reads them: a decimal with blanks around it, a sign before or behind
/// it, and commas between digits; without exponent (mapping dialect, section 6.2; quirk 28).
enum CompatibleDecimal {
    /// Reads all of `text`; `scratch` is overwritten.
    static func parse(_ text: ByteView, scratch: inout ByteWriter) -> DecimalParser.Result {
        var range = 0..<text.count
        trim(text, &range)
        var isNegative = false
        takeSign(text, &range, &isNegative)
        scratch.removeAll()
        if isNegative { scratch.append("-") }
        guard appendDigits(text, range, to: &scratch) else { return .malformed }
        // Numbers are read eight bytes at a time.
        scratch.reserve(ByteView.padding)
        return DecimalParser.parse(scratch.view)
    }

    private static func trim(_ text: ByteView, _ range: inout Range<Int>) {
        while let first = range.first, text[first] <= 0x20 { range.removeFirst() }
        while let last = range.last, text[last] <= 0x20 { range.removeLast() }
    }

    private static func takeSign(_ text: ByteView, _ range: inout Range<Int>, _ isNegative: inout Bool) {
        if let first = range.first, isSign(text[first]) {
            isNegative = text[first] == UInt8(ascii: "-")
            range.removeFirst()
        } else if let last = range.last, isSign(text[last]) {
            isNegative = text[last] == UInt8(ascii: "-")
            range.removeLast()
            // Blanks may stand before a sign at the end, but not behind one at the start.
            trim(text, &range)
        }
    }

    private static func isSign(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+") }

    /// Appends the digits as a JSON number; false when there is anything else.
    private static func appendDigits(_ text: ByteView, _ range: Range<Int>, to writer: inout ByteWriter) -> Bool {
        let start = writer.count
        var hasDigits = false
        var index = range.lowerBound
        while index < range.upperBound, text[index] != UInt8(ascii: ".") {
            let byte = text[index]
            index += 1
            if byte == UInt8(ascii: ","), hasDigits { continue }
            guard byte &- UInt8(ascii: "0") < 10 else { return false }
            hasDigits = true
            // JSON has no zeros in front.
            if byte != UInt8(ascii: "0") || writer.count > start { writer.append(byte) }
        }
        if writer.count == start { writer.append(UInt8(ascii: "0")) }
        // A point with nothing behind it says nothing.
        if index + 1 >= range.upperBound { return hasDigits }
        return appendFraction(text, index..<range.upperBound, to: &writer)
    }

    /// Appends the point and the digits behind it; false when there is anything else.
    private static func appendFraction(_ text: ByteView, _ range: Range<Int>, to writer: inout ByteWriter) -> Bool {
        for index in (range.lowerBound + 1)..<range.upperBound where text[index] &- UInt8(ascii: "0") >= 10 {
            return false
        }
        writer.append(text[range])
        return true
    }
}

extension Range where Bound == Int {
    fileprivate mutating func removeFirst() { self = (lowerBound + 1)..<upperBound }
    fileprivate mutating func removeLast() { self = lowerBound..<(upperBound - 1) }
}
