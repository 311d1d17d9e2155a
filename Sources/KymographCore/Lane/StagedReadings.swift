/// Readings that wait to be routed together, so that their look-ups wait for memory at the same time.
struct StagedReadings: ~Copyable {
    struct Entry: BitwiseCopyable {
        /// The reading, if it is plain.
        var reading: PlainReading
        var key: ShortKey
        /// Of the key.
        var hash: UInt64
    }

    /// How many can wait.
    static var most: Int { 16 }

    private var entries = RawArray<Entry>(capacity: StagedReadings.most)
    /// Those that are not plain, at the places of their entries.
    private var others = RawArray<Measurement>(
        repeating: Measurement(instant: .distantPast, received: .distantPast), count: StagedReadings.most)

    @inline(__always)
    var count: Int { entries.count }

    @inline(__always)
    var isFull: Bool { entries.count == StagedReadings.most }

    @inline(__always)
    subscript(place: Int) -> Entry {
        _read { yield entries[place] }
        _modify { yield &entries[place] }
    }

    /// The reading at `place`.
    func reading(_ place: Int) -> Measurement {
        entries[place].reading.isPlain ? Measurement(entries[place].reading) : others[place]
    }

    /// Adds a plain reading with another `mark`, where there is room.
    @inline(__always)
    mutating func append(_ reading: PlainReading, mark: UInt8, key: ShortKey, hash: UInt64) {
        entries.appendReserved(Entry(reading: reading.marked(mark), key: key, hash: hash))
    }

    /// Adds a reading with another `mark`, where there is room.
    mutating func append(_ reading: Measurement, mark: UInt8, key: ShortKey, hash: UInt64) {
        others[entries.count] = reading
        others[entries.count].mark = mark
        append(PlainReading(reading), mark: mark, key: key, hash: hash)
    }

    mutating func removeAll() { entries.removeAll() }
}
