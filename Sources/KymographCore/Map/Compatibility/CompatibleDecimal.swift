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
        let signs = [UInt8(ascii: "-"), UInt8(ascii: "+")]
        if let first = range.first, signs.contains(text[first]) {
            isNegative = text[first] == signs[0]
            range.removeFirst()
        } else if let last = range.last, signs.contains(text[last]) {
            isNegative = text[last] == signs[0]
            range.removeLast()
            // Blanks may stand before a sign at the end, but not behind one at the start.
            trim(text, &range)
        }
    }

    /// Appends the digits as a JSON number; false when there is anything else.
    private static func appendDigits(_ text: ByteView, _ range: Range<Int>, to writer: inout ByteWriter) -> Bool {
        var whole: [UInt8] = []
        var fraction: [UInt8] = []
        var inFraction = false
        for index in range {
            let byte = text[index]
            if byte &- UInt8(ascii: "0") < 10 {
                if inFraction { fraction.append(byte) } else { whole.append(byte) }
            } else if byte == UInt8(ascii: "."), !inFraction {
                inFraction = true
            } else if byte != UInt8(ascii: ",") || inFraction || whole.isEmpty {
                return false
            }
        }
        guard !whole.isEmpty || !fraction.isEmpty else { return false }
        let digits = whole.drop { $0 == UInt8(ascii: "0") }
        writer.append(digits.isEmpty ? [UInt8(ascii: "0")] : Array(digits))
        if !fraction.isEmpty {
            writer.append(".")
            writer.append(fraction)
        }
        return true
    }
}

extension Range where Bound == Int {
    fileprivate mutating func removeFirst() { self = (lowerBound + 1)..<upperBound }
    fileprivate mutating func removeLast() { self = lowerBound..<(upperBound - 1) }
}
