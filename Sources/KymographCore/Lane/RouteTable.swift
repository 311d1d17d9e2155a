/// Where the readings of a series go.
struct Route: BitwiseCopyable {
    /// The shard that owns the series.
    var shard: UInt32
    /// The series' number in the ring to that shard.
    var number: UInt32
}

/// The routes of series whose keys are short, each in one cache line with its key: among a million series, a look-up
/// waits for one line of memory.
///
/// Open addressing; grows by doubling; never forgets.
struct RouteTable: ~Copyable {
    /// 64 bytes.
    struct Entry: BitwiseCopyable {
        var hash: UInt64
        var route: Route
        var key: ShortKey

        /// Of no series: no key has no bytes.
        static var empty: Entry { Entry(hash: 0, route: Route(shard: 0, number: 0), key: .none) }

        @inline(__always)
        var isEmpty: Bool { key.count == 0 }
    }

    private var entries: RawArray<Entry>
    /// Number of series.
    private(set) var count = 0

    init(capacity: Int = 1_024) {
        var size = 16
        while size < capacity * 2 { size *= 2 }
        entries = RawArray(repeating: .empty, count: size)
    }

    /// The place where the search for a key with `hash` begins.
    @inline(__always)
    private func home(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash) & (entries.count - 1) }

    /// Prefetches the memory where the route of a key with `hash` is likely to be.
    @inline(__always)
    func prefetch(_ hash: UInt64) { entries.prefetch(home(hash)) }

    /// The route of `key`, whose hash is `hash`; nil when it is new.
    @inline(__always)
    func find(_ key: ShortKey, hash: UInt64) -> Route? {
        var place = home(hash)
        while !entries[place].isEmpty {
            if entries[place].hash == hash, entries[place].key.equals(key) { return entries[place].route }
            place = (place + 1) & (entries.count - 1)
        }
        return nil
    }

    /// Adds the route of a key that has none.
    mutating func insert(_ key: ShortKey, _ route: Route) {
        if (count + 1) * 2 > entries.count { grow() }
        put(Entry(hash: key.hash, route: route, key: key))
        count += 1
    }

    private mutating func put(_ entry: Entry) {
        var place = home(entry.hash)
        while !entries[place].isEmpty { place = (place + 1) & (entries.count - 1) }
        entries[place] = entry
    }

    private mutating func grow() {
        var old = RawArray<Entry>(repeating: .empty, count: entries.count * 2)
        swap(&old, &entries)
        for place in 0..<old.count where !old[place].isEmpty { put(old[place]) }
    }
}
