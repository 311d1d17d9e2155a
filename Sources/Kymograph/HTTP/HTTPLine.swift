/// Lines and tokens of HTTP/1 (RFC 9110, section 5.6; RFC 9112, section 2).
enum HTTPLine {
    static let lineFeed = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")

    /// The first line of `bytes` with its end, nil while it is not complete.
    ///
    /// - Throws: ``HTTPRefusal`` when a line feed has no carriage return before it.
    static func end(in bytes: ArraySlice<UInt8>) throws(HTTPRefusal) -> Int? {
        guard let feed = bytes.firstIndex(of: lineFeed) else { return nil }
        guard feed > bytes.startIndex, bytes[feed - 1] == carriageReturn else {
            throw .malformed("a line does not end with CR LF")
        }
        return feed + 1
    }

    /// Whether `byte` may be in a method or in a field's name.
    static func isToken(_ byte: UInt8) -> Bool {
        isLetterOrDigit(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }

    /// Whether `byte` may be in a field's value: blanks, what is visible, and what is not ASCII.
    static func isValue(_ byte: UInt8) -> Bool { byte == 0x09 || byte >= 0x20 && byte != 0x7F }

    /// Whether `byte` may be in a request's target.
    static func isTarget(_ byte: UInt8) -> Bool { byte > 0x20 && byte < 0x7F }

    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// `bytes` without blanks around them.
    static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var rest = bytes.drop(while: isBlank)
        while let last = rest.last, isBlank(last) { rest = rest.dropLast() }
        return rest
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
