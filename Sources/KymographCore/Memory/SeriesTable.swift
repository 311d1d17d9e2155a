/// Numbers byte strings densely in order of first appearance: series keys, device identifiers.
///
/// Open addressing; keys lie one after the other in one buffer. Grows by doubling; never forgets.
package struct SeriesTable: ~Copyable {
    struct Entry: BitwiseCopyable {
        var hash: UInt64
        var start: Int
        var length: UInt32
        var number: UInt32
    }

    private static let empty = UInt32.max

    private var entries: RawArray<Entry>
    private var text: ByteWriter
    /// Number of keys.
    package private(set) var count = 0

    /// A table that has room for `capacity` keys before it grows.
    package init(capacity: Int = 1_024) {
        var size = 16
        while size < capacity * 2 { size *= 2 }
        entries = RawArray(repeating: Entry(hash: 0, start: 0, length: 0, number: SeriesTable.empty), count: size)
        text = ByteWriter(capacity: capacity * 48)
    }

    /// The number of `key`, or nil when it is new.
    @inline(__always)
    package func find(_ key: ByteView) -> Int? {
        let hash = SeriesTable.hash(key)
        var slot = Int(truncatingIfNeeded: hash) & (entries.count - 1)
        while true {
            let entry = entries[slot]
            if entry.number == SeriesTable.empty { return nil }
            if entry.hash == hash, text.view(entry.start..<(entry.start + Int(entry.length))).equals(key) {
                return Int(entry.number)
            }
            slot = (slot + 1) & (entries.count - 1)
        }
    }

    /// Numbers a key that ``find(_:)`` does not know.
    package mutating func insert(_ key: ByteView) -> Int {
        if (count + 1) * 2 > entries.count { grow() }
        let entry = Entry(
            hash: SeriesTable.hash(key), start: text.count, length: UInt32(key.count), number: UInt32(count))
        text.append(key)
        place(entry)
        count += 1
        return count - 1
    }

    private mutating func place(_ entry: Entry) {
        var slot = Int(truncatingIfNeeded: entry.hash) & (entries.count - 1)
        while entries[slot].number != SeriesTable.empty { slot = (slot + 1) & (entries.count - 1) }
        entries[slot] = entry
    }

    private mutating func grow() {
        var old = RawArray<Entry>(
            repeating: Entry(hash: 0, start: 0, length: 0, number: SeriesTable.empty), count: entries.count * 2)
        swap(&old, &entries)
        for index in 0..<old.count where old[index].number != SeriesTable.empty { place(old[index]) }
    }

    /// A multiply-mix hash over eight bytes at a time. Not secret: an attacker who floods one bucket is stopped by the
    /// cap on devices, at most ``WindowLimits/maxDevices`` keys of bounded length.
    @inline(__always)
    static func hash(_ key: ByteView) -> UInt64 {
        let seed: UInt64 = 0x9E37_79B9_7F4A_7C15 ^ UInt64(key.count)
        return finish(key.count < 16 ? mixedShort(key, seed) : mixedLong(key, seed))
    }

    /// Mixes words that do not wait for each other. They are read where a series key was just written, 8 and 4 bytes
    /// of head and then the device: a processor cannot give out a word that two stores wrote before they are done.
    @inline(__always)
    private static func mixedLong(_ key: ByteView, _ seed: UInt64) -> UInt64 {
        let head = (key.word(at: 0) ^ seed) &* 0xFF51_AFD7_ED55_8CCD
        let tail = (key.word(at: key.count - 8) ^ seed >> 32) &* 0xBF58_476D_1CE4_E5B9
        var middle = UInt64(key.half(at: 8))
        var index = 12
        while index + 8 < key.count {
            middle = (middle ^ key.word(at: index)) &* 0x9FB2_1C65_1E98_DF25
            middle ^= middle >> 32
            index += 8
        }
        return head ^ (tail << 23 | tail >> 41) ^ middle &* 0x94D0_49BB_1331_11EB
    }

    @inline(__always)
    private static func finish(_ mixture: UInt64) -> UInt64 {
        var mixed = mixture ^ mixture >> 29
        mixed = mixed &* 0xC4CE_B9FE_1A85_EC53
        return mixed ^ (mixed >> 32)
    }

    private static func mixedShort(_ key: ByteView, _ seed: UInt64) -> UInt64 {
        var mixed = seed
        var index = 0
        while index + 8 <= key.count {
            mixed = (mixed ^ key.word(at: index)) &* 0xFF51_AFD7_ED55_8CCD
            mixed ^= mixed >> 32
            index += 8
        }
        if index < key.count {
            mixed = (mixed ^ key.lastWord(from: index)) &* 0xFF51_AFD7_ED55_8CCD
            mixed ^= mixed >> 32
        }
        return mixed
    }
}
