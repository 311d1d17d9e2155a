/// What the first segment of a message says, as it was written: what a reply needs, however the rest is.
package struct HL7Header {
    /// The delimiters; the usual ones when the message names none.
    package private(set) var delimiters = HL7Delimiters()
    /// Whether the message begins with a segment MSH that names its delimiters.
    package let isReadable: Bool
    /// The message, up to the end of its first segment.
    private let segment: ByteView

    /// Reads the beginning of `bytes`, which must be padded.
    package init(of bytes: ByteView) {
        if let named = HL7Delimiters(of: bytes) {
            delimiters = named
            isReadable = true
        } else {
            isReadable = false
        }
        segment = isReadable ? bytes[0..<Self.segmentEnd(bytes)] : bytes[0..<0]
    }

    /// Field MSH-`number`, from 3 on; empty when there is none.
    package func field(_ number: Int) -> ByteView {
        assert(number >= 3)
        // The separator is itself the first field.
        return segment.part(number - 1, between: delimiters.field)
    }

    /// Component `number`, from 1 on, of the first repetition of a field.
    package func component(_ number: Int, of field: Int) -> ByteView {
        let first = self.field(field).part(0, between: delimiters.repetition)
        return first.part(number - 1, between: delimiters.component)
    }

    /// Line ends are carriage returns, or line feeds in a message without any.
    private static func segmentEnd(_ bytes: ByteView) -> Int {
        bytes.firstIndex(of: 0x0D, from: 0) ?? bytes.firstIndex(of: 0x0A, from: 0) ?? bytes.count
    }
}

extension ByteView {
    /// The part `number`, from 0 on, of those that `separator` divides; empty when there are fewer. The view must be
    /// padded.
    func part(_ number: Int, between separator: UInt8) -> ByteView {
        var (start, left) = (0, number)
        while left > 0 {
            guard let end = firstIndex(of: separator, from: start) else { return self[count..<count] }
            (start, left) = (end + 1, left - 1)
        }
        return self[start..<(firstIndex(of: separator, from: start) ?? count)]
    }

    /// Whether this is the value that HL7 v2 calls null: nothing, and said to be so.
    var isHL7Null: Bool { count == 2 && self[0] == UInt8(ascii: "\"") && self[1] == UInt8(ascii: "\"") }
}
