/// Results of a group that nothing tells apart but their places in the tree of OBX-4, such as two probes of
/// temperature: as readings they would take each other's place.
struct HL7Twins: ~Copyable {
    struct Entry: BitwiseCopyable {
        var segment: Int
        /// OBX-4.
        var place: ByteView
        var keyStart: Int
        var keyEnd: Int
        /// The first entry with the same key, which may be this one.
        var first: Int
        /// The first entry with the same hash and another key, or -1.
        var previous: Int
        /// Of a first entry: the last one with the same key.
        var last: Int
        /// The next entry with the same key, or -1.
        var next = -1
        /// Of a first entry: whether those with the same key are at several places.
        var isAmbiguous = false
    }

    /// In the order of their segments.
    private var entries = RawArray<Entry>()
    private var keys = ByteWriter(capacity: 256)
    /// By hash of the key, the last first entry.
    private var firsts: [UInt64: Int] = [:]
    /// Whether there are results of one key and several places.
    private(set) var hasAny = false

    init() {}

    mutating func removeAll() {
        entries.removeAll()
        keys.removeAll()
        firsts.removeAll(keepingCapacity: true)
        hasAny = false
    }

    /// Adds the result of `segment`, which stands behind all that were added; `key` is what else tells it apart.
    mutating func add(_ segment: Int, place: ByteView, key: ByteView) {
        let hash = Self.hash(key)
        let head = firsts[hash] ?? -1
        let number = entries.count
        var first = head
        while first >= 0, !self.key(first).equals(key) { first = entries[first].previous }
        guard first < 0 else { return join(segment, place, to: first) }
        let start = keys.count
        keys.append(key)
        firsts[hash] = number
        entries.append(
            Entry(
                segment: segment, place: place, keyStart: start, keyEnd: keys.count, first: number, previous: head,
                last: number))
    }

    /// The segment of the first of the results that cannot be told from the one at `segment`; nil when it can.
    func first(of segment: Int) -> Int? {
        guard hasAny, let number = number(of: segment) else { return nil }
        let first = entries[entries[number].first]
        return first.isAmbiguous ? first.segment : nil
    }

    /// The segments of the result at `segment`, the first of its kind, and of all that cannot be told from it.
    func all(from segment: Int) -> [Int] {
        var found: [Int] = []
        var number = self.number(of: segment) ?? -1
        while number >= 0 {
            found.append(entries[number].segment)
            number = entries[number].next
        }
        return found
    }

    private mutating func join(_ segment: Int, _ place: ByteView, to first: Int) {
        let number = entries.count
        let last = entries[first].last
        entries.append(
            Entry(segment: segment, place: place, keyStart: 0, keyEnd: 0, first: first, previous: -1, last: number))
        entries[last].next = number
        entries[first].last = number
        if !entries[first].place.equals(place) {
            entries[first].isAmbiguous = true
            hasAny = true
        }
    }

    private func key(_ number: Int) -> ByteView {
        let entry = entries[number]
        return keys.view(entry.keyStart..<entry.keyEnd)
    }

    private func number(of segment: Int) -> Int? {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].segment < segment { low = middle + 1 } else { high = middle }
        }
        return low < entries.count && entries[low].segment == segment ? low : nil
    }

    private static func hash(_ key: ByteView) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for index in 0..<key.count { hash = (hash ^ UInt64(key[index])) &* 0x100_0000_01B3 }
        return hash ^ (hash >> 29)
    }
}
