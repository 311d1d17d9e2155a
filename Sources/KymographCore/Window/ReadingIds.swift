/// At which times the readings are that their senders name: one that comes again at another time has moved.
///
/// Knows those of open windows, and of closed ones until the archive can tell. Only types with ids have any.
struct ReadingIds: ~Copyable {
    /// A reading.
    private struct Place {
        var series: UInt32
        var instant: Instant
    }

    /// By a hash of series and id. Who knows the seed, which is new with each process, is the process alone; whoever
    /// finds a place looks there for the id itself.
    private var places: [Int: Place] = [:]
    /// Places at which it is time to forget those that the archive knows.
    private var limit = ReadingIds.leastLimit

    private static let leastLimit = 1 << 16

    /// Whether it is time to forget some.
    var isLarge: Bool { places.count >= limit }

    private static func hash(_ series: Int, _ id: ByteView) -> Int {
        var hasher = Hasher()
        hasher.combine(series)
        for index in 0..<id.count { hasher.combine(id[index]) }
        return hasher.finalize()
    }

    /// The time of the reading of `series` called `id`, if it is known.
    func instant(series: Int, _ id: ByteView) -> Instant? {
        places[ReadingIds.hash(series, id)].flatMap { Int($0.series) == series ? $0.instant : nil }
    }

    /// Notes where the reading is.
    mutating func note(series: Int, _ id: ByteView, at instant: Instant) {
        places[ReadingIds.hash(series, id)] = Place(series: UInt32(series), instant: instant)
    }

    /// Forgets where the reading was.
    mutating func forget(series: Int, _ id: ByteView) { places[ReadingIds.hash(series, id)] = nil }

    /// Forgets all but what `isNeeded`.
    mutating func forget(except isNeeded: (_ series: Int, _ instant: Instant) -> Bool) {
        places = places.filter { isNeeded(Int($0.value.series), $0.value.instant) }
        limit = max(ReadingIds.leastLimit, 2 * places.count)
    }
}

/// A reading that its sender names, of a window that is archived.
package struct NamedReading: Sendable {
    /// The id.
    package var id: [UInt8]
    /// Its time.
    package var instant: Instant
}
