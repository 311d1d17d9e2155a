/// A varint of one to four bytes, in a word: written by one store without a branch on the length, which no processor
/// can guess.
struct ShortVarint: BitwiseCopyable {
    /// Numbers below this are that short.
    static var limit: UInt64 { 1 << 28 }

    /// The bytes, the first one lowest; zeros behind them.
    let word: UInt64
    /// How many there are.
    let bytes: Int

    /// The varint of `value`, which is below ``limit``.
    @inline(__always)
    init(_ value: UInt64) {
        assert(value < ShortVarint.limit)
        let low = value & 0x7F | (value & 0x3F80) << 1
        let digits = low | (value & 0x1F_C000) << 2 | (value & 0xFE0_0000) << 3
        // Where the last byte begins.
        let last = UInt64(truncatingIfNeeded: 63 &- (digits | 1).leadingZeroBitCount) & 0x38
        word = digits | 0x0080_8080 & ((1 &<< last) &- 1)
        bytes = Int(truncatingIfNeeded: last &>> 3) &+ 1
    }
}
