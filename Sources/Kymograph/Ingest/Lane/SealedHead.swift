import KymographCore

/// What stands before the payload of a sealed datagram: `K1 | key id 4 | sequence 8`, both big-endian.
struct SealedHead {
    /// Its bytes.
    static let bytes = 14
    /// Those of the tag, behind the payload.
    static let tagBytes = 16
    private static let keyStart = 2
    private static let sequenceStart = 6

    /// The id of the key.
    let key: UInt32
    /// The number that the sender gives to this datagram alone.
    let sequence: UInt64

    /// Reads it; nil when `datagram` does not begin so, or is too short for a tag.
    init?(_ datagram: ByteView) {
        guard datagram.count >= Self.bytes + Self.tagBytes, datagram[0] == UInt8(ascii: "K"),
            datagram[1] == UInt8(ascii: "1")
        else { return nil }
        key = UInt32(truncatingIfNeeded: Self.number(datagram, Self.keyStart..<Self.sequenceStart))
        sequence = Self.number(datagram, Self.sequenceStart..<Self.bytes)
    }

    private static func number(_ datagram: ByteView, _ range: Range<Int>) -> UInt64 {
        var number: UInt64 = 0
        for place in range { number = number << 8 | UInt64(datagram[place]) }
        return number
    }
}
