/// The member names that any expression mentions, numbered, for one lookup per key while scanning.
///
/// Open addressing over the first and last eight bytes and the length of a key; the full comparison only confirms.
/// At most 65,534 names. Immutable after load.
package struct NameTable: ~Copyable {
    /// The number of a key that no expression mentions.
    package static let unknown: UInt16 = .max
    /// Numbers of the envelope's members, which every table holds first.
    static let body: UInt16 = 0
    static let properties: UInt16 = 1
    static let systemProperties: UInt16 = 2

    struct Entry: BitwiseCopyable {
        var start: UInt32
        var length: UInt32
        var number: UInt16
    }

    private var entries: RawArray<Entry>
    private var text: PaddedBytes
    private let mask: Int
    /// Number of names.
    let count: Int

    /// Numbers `names` in order; they must be distinct.
    package init(_ names: [String]) {
        precondition(names.count < Int(NameTable.unknown))
        count = names.count
        var size = 16
        while size < names.count * 4 { size *= 2 }
        mask = size - 1
        text = PaddedBytes(copying: names.flatMap { Array($0.utf8) })
        entries = RawArray(repeating: Entry(start: 0, length: 0, number: NameTable.unknown), count: size)
        var start = 0
        for (number, name) in names.enumerated() {
            insert(Entry(start: UInt32(start), length: UInt32(name.utf8.count), number: UInt16(number)))
            start += name.utf8.count
        }
    }

    private mutating func insert(_ entry: Entry) {
        let bytes = text.view(Int(entry.start)..<Int(entry.start + entry.length))
        var slot = NameTable.hash(bytes, start: 0, length: bytes.count) & mask
        while entries[slot].number != NameTable.unknown { slot = (slot + 1) & mask }
        entries[slot] = entry
    }

    /// The number of the key at `start` of `bytes`, or ``unknown``.
    @inline(__always)
    func find(_ bytes: ByteView, start: Int, length: Int) -> UInt16 {
        var slot = NameTable.hash(bytes, start: start, length: length) & mask
        while true {
            let entry = entries[slot]
            if entry.number == NameTable.unknown { return NameTable.unknown }
            if Int(entry.length) == length, matches(entry, bytes, start) { return entry.number }
            slot = (slot + 1) & mask
        }
    }

    @inline(__always)
    private func matches(_ entry: Entry, _ bytes: ByteView, _ start: Int) -> Bool {
        let name = text.view(Int(entry.start)..<Int(entry.start + entry.length))
        var index = 0
        while index + 8 <= name.count {
            if name.word(at: index) != bytes.word(at: start + index) { return false }
            index += 8
        }
        let rest = NameTable.lowBytes(name.count - index)
        return (name.word(at: index) ^ bytes.word(at: start + index)) & rest == 0
    }

    /// A mask of the lowest `count` (0…7) bytes of a word.
    @inline(__always)
    private static func lowBytes(_ count: Int) -> UInt64 {
        ~(UInt64.max << UInt64(truncatingIfNeeded: count * 8))
    }

    @inline(__always)
    private static func hash(_ bytes: ByteView, start: Int, length: Int) -> Int {
        var mixed = bytes.word(at: start)
        if length < 8 {
            mixed &= lowBytes(length)
        } else {
            mixed ^= bytes.word(at: start + length - 8) &* 0x9E37_79B9_7F4A_7C15
        }
        mixed = (mixed ^ UInt64(truncatingIfNeeded: length)) &* 0xFF51_AFD7_ED55_8CCD
        return Int(truncatingIfNeeded: mixed >> 40)
    }
}
