/// A ``SeriesKey`` of at most 40 bytes, as nearly all are, in whole words with zeros behind its end: compared and
/// hashed without a loop over bytes.
package struct ShortKey: BitwiseCopyable, Sendable {
    /// Most bytes of a key that is short: with its hash and its route it fills a cache line.
    static let mostBytes = 40

    private var words: InlineArray<5, UInt64>
    /// Number of bytes.
    let count: UInt64

    /// A key that is none.
    static var none: ShortKey { ShortKey() }

    private init() { (words, count) = (InlineArray(repeating: 0), 0) }

    /// Copies `key`, which is a whole ``SeriesKey``; nil when it is longer.
    @inline(__always)
    init?(_ key: ByteView) {
        guard key.count >= SeriesKey.headBytes, key.count <= ShortKey.mostBytes else { return nil }
        count = UInt64(key.count)
        words = [
            key.word(at: 0), ShortKey.word(1, of: key), ShortKey.word(2, of: key), ShortKey.word(3, of: key),
            ShortKey.word(4, of: key),
        ]
    }

    /// The key of a series that has a type and a device and nothing else, as ``SeriesKey`` writes it; nil when it is
    /// not short, or when the identifier is empty or begins with white space. `device` must be padded.
    @inline(__always)
    package init?(type: Int32, device: ByteView) {
        let room = ShortKey.mostBytes - SeriesKey.headBytes
        guard UInt(bitPattern: device.count &- 1) < UInt(room), device[0] > 0x20 else { return nil }
        count = UInt64(truncatingIfNeeded: SeriesKey.headBytes &+ device.count)
        let length = UInt64(truncatingIfNeeded: device.count &+ 1)
        words = [
            UInt64(UInt32(bitPattern: type)) | length << 32, ShortKey.bytes(of: device, from: 0) << 32,
            ShortKey.bytes(of: device, from: 4), ShortKey.bytes(of: device, from: 12),
            ShortKey.bytes(of: device, from: 20),
        ]
    }

    /// The eight bytes of `text` from `start`, with zeros behind its end.
    @inline(__always)
    private static func bytes(of text: ByteView, from start: Int) -> UInt64 {
        let left = text.count &- start
        if left >= 8 { return text.word(at: start) }
        return left > 0 ? text.word(at: start) & ~(.max &<< UInt64(truncatingIfNeeded: left &* 8)) : 0
    }

    /// Word `place` of the key, which has a word before it.
    @inline(__always)
    private static func word(_ place: Int, of key: ByteView) -> UInt64 {
        let left = key.count &- place &* 8
        if left >= 8 { return key.word(at: place &* 8) }
        return left > 0 ? key.word(at: key.count &- 8) &>> UInt64(truncatingIfNeeded: (8 &- left) &* 8) : 0
    }

    /// Whether both are the same key.
    @inline(__always)
    package func equals(_ other: ShortKey) -> Bool {
        // In Swift `^` binds no tighter than `|`.
        let first = (words[0] ^ other.words[0]) | (words[1] ^ other.words[1]) | (words[2] ^ other.words[2])
        return first | (words[3] ^ other.words[3]) | (words[4] ^ other.words[4]) | (count ^ other.count) == 0
    }

    /// A multiply-mix hash; the words do not wait for each other. Not secret, like that of ``SeriesTable``.
    @inline(__always)
    var hash: UInt64 {
        var mixed = (words[0] ^ count) &* 0xFF51_AFD7_ED55_8CCD
        mixed ^= ShortKey.turned(words[1] &* 0x9FB2_1C65_1E98_DF25, by: 23)
        mixed ^= ShortKey.turned(words[2] &* 0xBF58_476D_1CE4_E5B9, by: 41)
        mixed ^= ShortKey.turned(words[3] &* 0x94D0_49BB_1331_11EB, by: 11)
        mixed ^= ShortKey.turned(words[4] &* 0xD6E8_FEB8_6659_FD93, by: 53)
        mixed ^= mixed >> 29
        mixed = mixed &* 0xC4CE_B9FE_1A85_EC53
        return mixed ^ mixed >> 32
    }

    @inline(__always)
    private static func turned(_ word: UInt64, by bits: UInt64) -> UInt64 { word &<< bits | word &>> (64 &- bits) }

    /// Appends the key's bytes.
    @inline(__always)
    func append(to writer: inout ByteWriter) {
        for place in 0..<words.count { writer.append(word: words[place]) }
        writer.truncate(to: writer.count - ShortKey.mostBytes + Int(count))
    }

    /// The key's bytes.
    package var bytes: [UInt8] {
        (0..<Int(count)).map { UInt8(truncatingIfNeeded: words[$0 / 8] >> UInt64($0 % 8 * 8)) }
    }
}
