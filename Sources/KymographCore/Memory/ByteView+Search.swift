extension ByteView {
    /// The end of the line that `start` is in: the place of its line feed, or of the end. The view must be padded.
    func lineEnd(from start: Int) -> Int { firstIndex(of: 0x0A, from: start) ?? count }

    /// The place of the first `byte` from `start` on, or nil. The view must be padded.
    func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        let (ones, highs) = (0x0101_0101_0101_0101 as UInt64, 0x8080_8080_8080_8080 as UInt64)
        let pattern = ones &* UInt64(byte)
        var index = start
        while index < count {
            let difference = word(at: index) ^ pattern
            // The lowest high bit that is set marks the first byte that is zero; those above it may be wrong.
            let zeros = (difference &- ones) & ~difference & highs
            if zeros != 0 {
                let found = index + zeros.trailingZeroBitCount / 8
                return found < count ? found : nil
            }
            index += 8
        }
        return nil
    }
}
