/// Checks non-ASCII UTF-8 one character at a time (Unicode 15, table 3-7: well-formed byte sequences).
enum UTF8Sequence {
    /// The length of the well-formed multi-byte character at `index`, or 0 when it is ill-formed or cut off.
    @inline(__always)
    static func length(_ bytes: ByteView, at index: Int) -> Int {
        let lead = bytes[index]
        let left = bytes.count - index
        if lead < 0xC2 { return 0 }
        if lead < 0xE0 { return left >= 2 && isTrail(bytes[index + 1]) ? 2 : 0 }
        if lead < 0xF0 { return left >= 3 && isThree(lead, bytes, index) ? 3 : 0 }
        return left >= 4 && isFour(lead, bytes, index) ? 4 : 0
    }

    @inline(__always)
    private static func isTrail(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }

    private static func isThree(_ lead: UInt8, _ bytes: ByteView, _ index: Int) -> Bool {
        let second = bytes[index + 1]
        let low: UInt8 = lead == 0xE0 ? 0xA0 : 0x80
        let high: UInt8 = lead == 0xED ? 0x9F : 0xBF
        return second >= low && second <= high && isTrail(bytes[index + 2])
    }

    private static func isFour(_ lead: UInt8, _ bytes: ByteView, _ index: Int) -> Bool {
        let second = bytes[index + 1]
        let low: UInt8 = lead == 0xF0 ? 0x90 : 0x80
        let high: UInt8 = lead == 0xF4 ? 0x8F : 0xBF
        return lead <= 0xF4 && second >= low && second <= high && isTrail(bytes[index + 2])
            && isTrail(bytes[index + 3])
    }
}

extension ByteView {
    /// Whether the bytes are well-formed UTF-8.
    package var isUTF8: Bool {
        var index = 0
        while index < count {
            let length = self[index] < 0x80 ? 1 : UTF8Sequence.length(self, at: index)
            if length == 0 { return false }
            index += length
        }
        return true
    }
}
