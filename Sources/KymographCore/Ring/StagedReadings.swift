/// Readings that wait to be routed together, so that their look-ups wait for memory at the same time.
struct StagedReadings: ~Copyable {
    struct Entry: BitwiseCopyable {
        var reading: Measurement
        var key: ShortKey
        /// Of the key; known when it is looked up.
        var hash: UInt64 = 0
    }

    /// How many can wait.
    static var most: Int { 16 }

    private var entries = RawArray<Entry>(capacity: StagedReadings.most)

    @inline(__always)
    var count: Int { entries.count }

    @inline(__always)
    var isFull: Bool { entries.count == StagedReadings.most }

    @inline(__always)
    subscript(place: Int) -> Entry {
        _read { yield entries[place] }
        _modify { yield &entries[place] }
    }

    /// Adds a reading with another `mark`, where there is room.
    @inline(__always)
    mutating func append(_ reading: Measurement, mark: UInt8, key: ShortKey) {
        entries.appendReserved(Entry(reading: reading, key: key))
        entries[entries.count - 1].reading.mark = mark
    }

    mutating func removeAll() { entries.removeAll() }
}
