/// Finds the end of a JSON string eight bytes at a time and validates it: escapes, control characters, UTF-8.
package enum JSONStringScan {
    /// The place of the closing quote and whether the string holds escapes, or why it is wrong and where.
    package struct Result: BitwiseCopyable {
        package var end: Int
        var flags: UInt8
        /// A ``Rejection`` raw value, or ``JSONStringScan/valid``.
        package var failure: UInt8
    }

    /// Stands for "no failure".
    package static let valid: UInt8 = .max

    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highs: UInt64 = 0x8080_8080_8080_8080

    /// Scans from `start`, the first byte after the opening quote.
    @inline(__always)
    package static func scan(_ bytes: ByteView, from start: Int) -> Result {
        var index = start
        while index < bytes.count {
            let mask = specials(bytes.word(at: index))
            if mask == 0 {
                index += 8
                continue
            }
            index += mask.trailingZeroBitCount >> 3
            if index >= bytes.count { break }
            if bytes[index] == UInt8(ascii: "\"") { return Result(end: index, flags: 0, failure: valid) }
            return scanSlowly(bytes, from: index)
        }
        return failed(.invalidJSON, bytes.count)
    }

    /// A mask whose lowest set byte is the first quote, backslash, control character or non-ASCII byte.
    ///
    /// What a subtraction borrows reaches only bytes behind the first that counts, and a byte whose top bit is set by
    /// itself counts anyway.
    @inline(__always)
    private static func specials(_ word: UInt64) -> UInt64 {
        let quotes = (word ^ (ones &* 0x22)) &- ones
        let backslashes = (word ^ (ones &* 0x5C)) &- ones
        let controls = word &- ones &* 0x20
        return (quotes | backslashes | controls | word) & highs
    }

    /// Whether none of eight bytes of UTF-8 has to be escaped in a JSON string. May say no for non-ASCII alone.
    @inline(__always)
    static func needsNoEscape(_ word: UInt64) -> Bool { specials(word) == 0 }

    private static func failed(_ reason: Rejection, _ index: Int) -> Result {
        Result(end: index, flags: 0, failure: reason.rawValue)
    }

    /// Goes on byte by byte once something other than plain ASCII was met.
    @inline(never)
    private static func scanSlowly(_ bytes: ByteView, from start: Int) -> Result {
        var index = start
        var flags: UInt8 = 0
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\"") { return Result(end: index, flags: flags, failure: valid) }
            if byte < 0x20 { return failed(.invalidJSON, index) }
            if byte == UInt8(ascii: "\\") {
                let length = escapeLength(bytes, at: index)
                if length == 0 { return failed(.invalidJSON, index) }
                flags = Token.escaped
                index += length
            } else if byte < 0x80 {
                index += 1
            } else {
                let length = UTF8Sequence.length(bytes, at: index)
                if length == 0 { return failed(.invalidUTF8, index) }
                index += length
            }
        }
        return failed(.invalidJSON, bytes.count)
    }

    /// The length of the escape at `index`, or 0 when it is none.
    private static func escapeLength(_ bytes: ByteView, at index: Int) -> Int {
        guard index + 1 < bytes.count else { return 0 }
        switch bytes[index + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return 2
        case UInt8(ascii: "u"):
            guard index + 6 <= bytes.count else { return 0 }
            return (index + 2..<index + 6).allSatisfy { JSONUnescape.hexValue(bytes[$0]) != nil } ? 6 : 0
        default:
            return 0
        }
    }
}
