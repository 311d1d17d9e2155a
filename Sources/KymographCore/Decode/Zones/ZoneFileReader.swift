/// Reads a TZif file (RFC 8536): the changes of a zone's offset, and the rule for those behind the last of them.
struct ZoneFileReader {
    private let bytes: [UInt8]
    private var place = 0

    /// What was read: the changes, and one offset more.
    struct Zone {
        var changes: [Int64]
        var offsets: [Int64]
    }

    /// Bytes of a header.
    private static let headerBytes = 44

    /// nil when `bytes` are no TZif file of version 2 or later.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= ZoneFileReader.headerBytes, Array(bytes[0..<4]) == Array("TZif".utf8), bytes[4] >= 0x32
        else { return nil }
        self.bytes = bytes
    }

    /// The zone; nil when the file is damaged.
    mutating func read() -> Zone? {
        // The first block has 32-bit times, for readers of version 1.
        guard let former = counts() else { return nil }
        place += former.bytes(timeBytes: 4)
        guard let counts = counts(), var zone = zone(counts), let rule = footer(counts) else { return nil }
        rule.append(to: &zone)
        return zone
    }

    /// The six counts of a header.
    private struct Counts {
        var utc = 0
        var standard = 0
        var leaps = 0
        var times = 0
        var types = 0
        var letters = 0

        /// Bytes of what follows the header.
        func bytes(timeBytes: Int) -> Int {
            times * (timeBytes + 1) + types * 6 + letters + leaps * (timeBytes + 4) + standard + utc
        }
    }

    private mutating func counts() -> Counts? {
        guard place >= 0, place + ZoneFileReader.headerBytes <= bytes.count else { return nil }
        place += 20
        var numbers: [Int] = []
        for _ in 0..<6 { numbers.append(Int(clamping: number(bytes: 4))) }
        guard numbers.allSatisfy({ (0...1_000_000).contains($0) }) else { return nil }
        return Counts(
            utc: numbers[0], standard: numbers[1], leaps: numbers[2], times: numbers[3], types: numbers[4],
            letters: numbers[5])
    }

    /// The next number of `count` bytes, signed and big-endian.
    private mutating func number(bytes count: Int) -> Int64 {
        var value: Int64 = bytes[place] & 0x80 == 0 ? 0 : -1
        for byte in bytes[place..<place + count] { value = value << 8 | Int64(byte) }
        place += count
        return value
    }

    private mutating func zone(_ counts: Counts) -> Zone? {
        guard counts.types > 0, place + counts.bytes(timeBytes: 8) < bytes.count else { return nil }
        let end = place + counts.bytes(timeBytes: 8)
        let changes = (0..<counts.times).map { _ in number(bytes: 8) }
        let indexes = bytes[place..<place + counts.times].map(Int.init)
        place += counts.times
        var types: [Int64] = []
        for _ in 0..<counts.types {
            types.append(number(bytes: 4))
            place += 2
        }
        place = end
        // RFC 8536 allows -25 to +26 hours.
        guard indexes.allSatisfy(types.indices.contains), types.allSatisfy({ abs($0) < 97_200 }),
            zip(changes, changes.dropFirst()).allSatisfy(<)
        else {
            return nil
        }
        return Zone(changes: changes, offsets: [types[0]] + indexes.map { types[$0] })
    }

    private func footer(_ counts: Counts) -> ZoneRule? {
        let line = UInt8(ascii: "\n")
        guard place < bytes.count, bytes[place] == line, let end = bytes[(place + 1)...].firstIndex(of: line) else {
            return nil
        }
        return ZoneRule(Array(bytes[place + 1..<end]))
    }
}
