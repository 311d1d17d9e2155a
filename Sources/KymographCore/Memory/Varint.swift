/// Numbers of variable length: seven bits in a byte, the lowest first, and a bit that tells whether more follow.
package enum Varint {
    /// Places small magnitudes of either sign at small numbers.
    @inline(__always)
    package static func zigzag(_ value: Int64) -> UInt64 {
        UInt64(bitPattern: (value << 1) ^ (value >> 63))
    }

    /// The inverse of ``zigzag(_:)``.
    @inline(__always)
    package static func unzigzag(_ value: UInt64) -> Int64 {
        Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    /// Appends `value`.
    @inline(__always)
    package static func append(_ value: UInt64, to writer: inout ByteWriter) {
        guard value < ShortVarint.limit else { return appendLong(value, to: &writer) }
        let varint = ShortVarint(value)
        writer.append(word: varint.word, bytes: varint.bytes)
    }

    private static func appendLong(_ value: UInt64, to writer: inout ByteWriter) {
        var rest = value
        while rest >= 128 {
            writer.append(UInt8(truncatingIfNeeded: rest) | 128)
            rest >>= 7
        }
        writer.append(UInt8(truncatingIfNeeded: rest))
    }

    /// Appends `value`, which is less than 2^56, in one byte more than it takes: the last one is 0. It is read as any.
    static func append(padded value: UInt64, to writer: inout ByteWriter) {
        var rest = value
        repeat {
            writer.append(UInt8(truncatingIfNeeded: rest) | 128)
            rest >>= 7
        } while rest > 0
        writer.append(0)
    }

    /// The number at `offset` of `bytes`, which moves behind it; nil where they end within it.
    package static func read(_ bytes: ByteView, _ offset: inout Int) -> UInt64? {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while offset < bytes.count && shift < 64 {
            let byte = bytes[offset]
            offset += 1
            value |= UInt64(byte & 127) << shift
            if byte < 128 { return value }
            shift += 7
        }
        return nil
    }
}

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
