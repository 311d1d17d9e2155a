/// Readings of one document that several templates may give a part of: they wait until all templates have been tried,
/// so that what leaves is whole.
struct HeldReadings: ~Copyable {
    /// One of them.
    struct Entry: BitwiseCopyable {
        var reading: Measurement
        /// The templates that gave it, by their places modulo 64.
        var templates: UInt64
        /// The first of them.
        var template: Int32
        /// Where its payload and the key of its series are.
        var payload: Part
        var key: Part
        /// What of the document it came from, or the first part of it.
        var source: Part
        /// The last of the parts that it came from, or -1 when they are not known.
        var lastPart: Int32 = -1
        /// The one before with the same hash of series and time, or -1.
        var previous: Int32
    }

    /// One of the parts of a document that a reading came from.
    struct SourcePart: BitwiseCopyable {
        var part: Part
        /// The one before of the same reading, or -1.
        var previous: Int32
    }

    /// A range of bytes.
    struct Part: BitwiseCopyable {
        var start: Int
        var end: Int

        init(_ range: Range<Int>) { (start, end) = (range.lowerBound, range.upperBound) }

        var range: Range<Int> { start..<end }
    }

    private var entries = RawArray<Entry>()
    private var bytes = ByteWriter(capacity: 256)
    private var merger = ReadingMerger()
    private var parts = RawArray<SourcePart>()
    /// Whether the reading that was added last has an entry of its own.
    private var isLastNew = false
    /// The entry that has the reading which was added last, or -1.
    private var lastEntry = -1
    /// By hash of series and time, the last one.
    private var last: [UInt64: Int32] = [:]

    var count: Int { entries.count }

    subscript(index: Int) -> Entry { entries[index] }

    /// The bytes of a part of an entry.
    func view(_ part: Part) -> ByteView { bytes.view(part.range) }

    mutating func removeAll() {
        entries.removeAll()
        bytes.removeAll()
        parts.removeAll()
        (isLastNew, lastEntry) = (false, -1)
        last.removeAll(keepingCapacity: true)
    }

    /// Says what of the document the reading came from that was added last.
    mutating func noteSource(_ source: Range<Int>) {
        guard lastEntry >= 0 else { return }
        if isLastNew { entries[lastEntry].source = Part(source) }
        let previous = entries[lastEntry].lastPart
        entries[lastEntry].lastPart = Int32(parts.count)
        parts.append(SourcePart(part: Part(source), previous: previous))
    }

    /// All that an entry came from, as far as it is known, each part of the document once.
    func sources(of index: Int) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var place = entries[index].lastPart
        while place >= 0 {
            let range = parts[Int(place)].part.range
            if !found.contains(range) { found.append(range) }
            place = parts[Int(place)].previous
        }
        return found
    }

    /// Adds a reading of `template`, or joins it with one that other templates have given: of the same series, time,
    /// start and id, and without another value of the same name. False when they do not fit into one.
    mutating func add(
        _ reading: Measurement, _ payload: ByteView, key: ByteView, template: Int32, source: Range<Int>,
        keyOfReading: ReadingKey
    ) -> Bool {
        (isLastNew, lastEntry) = (false, -1)
        let hash = HeldReadings.hash(key, reading.instant)
        let bit: UInt64 = 1 << UInt64(template & 63)
        let content = ReadingKey.Content(reading: reading, payload: payload)
        var place = last[hash] ?? -1
        var first: Int32 = -1
        while place >= 0 {
            let entry = entries[Int(place)]
            if entry.templates & bit == 0, entry.reading.instant == reading.instant, view(entry.key).equals(key),
                keyOfReading.compare(content, .init(reading: entry.reading, payload: view(entry.payload))) == .same
            {
                first = place
            }
            place = entry.previous
        }
        guard first >= 0 else {
            append(reading, payload, key, template, bit, source, hash)
            return true
        }
        return join(Int(first), reading, payload, bit) {
            $0.append(reading, payload, key, template, bit, source, hash)
        }
    }

    /// Joins a reading with entry `place`, or does `otherwise` where they say different things.
    private mutating func join(
        _ place: Int, _ reading: Measurement, _ payload: ByteView, _ bit: UInt64, otherwise: (inout Self) -> Void
    ) -> Bool {
        let entry = entries[place]
        merger.merge(entry.reading, view(entry.payload), with: reading, payload)
        if merger.outcome == .conflict {
            otherwise(&self)
            return true
        }
        if merger.isTooLong { return false }
        let start = bytes.count
        bytes.append(merger.payload)
        entries[place].payload = Part(start..<bytes.count)
        entries[place].reading = merger.reading
        entries[place].templates |= bit
        lastEntry = place
        return true
    }

    private mutating func append(
        _ reading: Measurement, _ payload: ByteView, _ key: ByteView, _ template: Int32, _ bit: UInt64,
        _ source: Range<Int>, _ hash: UInt64
    ) {
        (isLastNew, lastEntry) = (true, entries.count)
        let start = bytes.count
        bytes.append(payload)
        let middle = bytes.count
        bytes.append(key)
        let previous = last.updateValue(Int32(entries.count), forKey: hash) ?? -1
        entries.append(
            Entry(
                reading: reading, templates: bit, template: template, payload: Part(start..<middle),
                key: Part(middle..<bytes.count), source: Part(source), previous: previous))
    }

    private static func hash(_ key: ByteView, _ instant: Instant) -> UInt64 {
        var hash = UInt64(bitPattern: instant.nanoseconds) &* 0x9E37_79B9_7F4A_7C15
        for index in 0..<key.count { hash = (hash ^ UInt64(key[index])) &* 0x100_0000_01B3 }
        return hash ^ (hash >> 29)
    }
}
