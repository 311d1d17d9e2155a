/// The ends of values as nearly all devices write them. What is written differently is left to the scanner, which knows
/// all of JSON.
///
/// The bytes behind the end of `bytes` are looked at too: an end that is not within is of no use.
enum PlainValue {
    /// Stands for "written differently".
    static let none = -1

    /// The closing quote of a text without escapes, control characters (DEL is one) and non-ASCII, whose first byte is
    /// at `start`.
    @inline(__always)
    static func textEnd(_ bytes: ByteView, _ start: Int) -> Int {
        guard start < bytes.count else { return none }
        let specials = bytes.specials(at: start)
        guard specials != 0 else { return longTextEnd(bytes, start &+ 16) }
        let end = start &+ specials.trailingZeroBitCount
        return bytes[end] == UInt8(ascii: "\"") ? end : none
    }

    @inline(never)
    private static func longTextEnd(_ bytes: ByteView, _ start: Int) -> Int {
        var index = start
        while index < bytes.count {
            let specials = bytes.specials(at: index)
            if specials != 0 {
                index &+= specials.trailingZeroBitCount
                return bytes[index] == UInt8(ascii: "\"") ? index : none
            }
            index &+= 16
        }
        return none
    }

    /// The end of a number of digits with or without fraction, without leading zero.
    @inline(__always)
    static func numberEnd(_ bytes: ByteView, _ start: Int) -> Int {
        var point = 0
        return numberEnd(bytes, start, &point)
    }

    /// The same, with the place of the decimal point; `point` stays as it is where there is none.
    @inline(__always)
    static func numberEnd(_ bytes: ByteView, _ start: Int, _ point: inout Int) -> Int {
        guard start < bytes.count else { return none }
        let index = JSONScanner.digits(bytes, start)
        let isZeroPadded = bytes[start] == UInt8(ascii: "0") && index > start &+ 1
        if index == start || isZeroPadded { return none }
        guard bytes[index] == UInt8(ascii: ".") else { return index }
        point = index
        let end = JSONScanner.digits(bytes, index &+ 1)
        return end == index &+ 1 ? none : end
    }

    // MARK: Digits

    /// Most digits of ``integer(_:_:count:)``.
    static let mostDigits = 16

    /// The number that the `count` (0…16) bytes at `start` say, which must be digits. `bytes` must be padded.
    @inline(__always)
    static func integer(_ bytes: ByteView, _ start: Int, count: Int) -> Int64 {
        if count <= 8 { return leading(bytes, start, count) }
        return leading(bytes, start, count &- 8) &* 100_000_000 &+ joined(bytes.word(at: start &+ count &- 8))
    }

    /// The number that a token says that is one to eight digits; nil for all others. `bytes` must be padded.
    @inline(__always)
    static func number(_ bytes: ByteView, _ token: Token) -> Decimal64? {
        let (start, count) = (Int(token.start), Int(token.length))
        guard count &- 1 < 8, count > 0, JSONScanner.digits(bytes, start) &- start >= count else { return nil }
        return Decimal64(mantissa: leading(bytes, start, count))
    }

    /// The number that at most eight digits say: the last bytes of a word that begins with zeros.
    @inline(__always)
    static func leading(_ bytes: ByteView, _ start: Int, _ count: Int) -> Int64 {
        if count == 0 { return 0 }
        return joined(bytes.word(at: start) &<< UInt64(truncatingIfNeeded: 64 &- 8 &* count))
    }

    /// The number that eight digits, or zero bytes, say, the first in the lowest byte.
    @inline(__always)
    static func joined(_ word: UInt64) -> Int64 {
        // Pairs, then fours, then all: each step joins neighbours.
        let digits = word & 0x0F0F_0F0F_0F0F_0F0F
        let pairs = ((digits &* 10) &+ (digits >> 8)) & 0x00FF_00FF_00FF_00FF
        let fours = ((pairs &* 100) &+ (pairs >> 16)) & 0x0000_FFFF_0000_FFFF
        return Int64(((fours &* 10_000) &+ (fours >> 32)) & 0xFFFF_FFFF)
    }
}
