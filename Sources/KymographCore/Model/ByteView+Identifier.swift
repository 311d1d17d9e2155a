/// What may identify a device, a patient, an encounter, or readings that belong together.
extension ByteView {
    private static let highs: UInt64 = 0x8080_8080_8080_8080
    private static let ones: UInt64 = 0x0101_0101_0101_0101

    /// Whether all bytes are ASCII without control characters, as of nearly all identifiers. Must be padded.
    @inline(__always)
    var isPlainText: Bool {
        var index = 0
        while index < count {
            let word = self.word(at: index)
            // Wrong are those below 0x20, which borrow, and those whose successor has the top bit: 0x7F and above. What
            // a borrow or carry does reaches only bytes behind one that is wrong by itself.
            let wrong = ((word &- ByteView.ones &* 0x20) | (word &+ ByteView.ones) | word) & ByteView.highs
            if wrong != 0, index &+ wrong.trailingZeroBitCount / 8 < count { return false }
            index &+= 8
        }
        return true
    }

    /// Whether the bytes can be an identifier: UTF-8 without control characters, of which FHIR allows none.
    package var isIdentifier: Bool {
        var index = 0
        while index < count {
            let byte = self[index]
            if byte < 0x80 {
                if byte < 0x20 || byte == 0x7F { return false }
                index += 1
                continue
            }
            let length = UTF8Sequence.length(self, at: index)
            // U+0080…U+009F are control characters, too.
            if length == 0 || byte == 0xC2 && self[index + 1] < 0xA0 { return false }
            index += length
        }
        return true
    }

    /// Whether there is U+FFFD in the bytes, which stands for what could not be decoded.
    var hasReplacementCharacter: Bool {
        var index = 0
        while index + 3 <= count {
            if self[index] == 0xEF, self[index + 1] == 0xBF, self[index + 2] == 0xBD { return true }
            index += 1
        }
        return false
    }
}
