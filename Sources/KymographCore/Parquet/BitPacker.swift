/// Packs numbers of equal width, the lowest bits first.
struct BitPacker {
    private var word: UInt64 = 0
    /// Bits of `word` in use: 0…63.
    private var filled = 0

    /// Appends the lowest `width` (0…64) bits of `value`, whose other bits are 0.
    @inline(__always)
    mutating func append(_ value: UInt64, width: Int, to writer: inout ByteWriter) {
        word |= value &<< UInt64(truncatingIfNeeded: filled)
        let total = filled &+ width
        guard total >= 64 else { return filled = total }
        writer.append(word: word)
        word = filled == 0 ? 0 : value &>> UInt64(truncatingIfNeeded: 64 &- filled)
        filled = total &- 64
    }

    /// Writes what is left, up to a whole byte.
    mutating func finish(to writer: inout ByteWriter) {
        writer.append(word: word, bytes: (filled + 7) / 8)
        (word, filled) = (0, 0)
    }

    /// Bits that `value` takes.
    @inline(__always)
    static func width(of value: UInt64) -> Int { 64 &- value.leadingZeroBitCount }
}
