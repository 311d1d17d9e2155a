/// The keys that a block holds already, each with the number of an entry. Keeps its memory between blocks.
struct KeyTable: ~Copyable, Sendable {
    private var bytes = ByteWriter()
    private var entries = RawArray<KeyTableEntry>()
    /// Entry numbers by hash, -1 when free; always a power of two, at most half full.
    private var buckets = RawArray<Int32>(repeating: -1, count: 64)

    /// Number of keys.
    var count: Int { entries.count }

    /// Bytes of all keys.
    var byteCount: Int { bytes.count }

    /// The number that `key`, whose ``hash(_:)`` is `hash`, was added with, or nil.
    @inline(__always)
    func find(_ key: ByteView, hash: UInt64) -> UInt32? {
        let bucket = bucket(of: key, hash: hash)
        return buckets[bucket] < 0 ? nil : entries[Int(buckets[bucket])].number
    }

    /// Adds `key` under `hash`, which may be another than that of ``hash(_:)`` if it is for all; false when it is
    /// there already.
    mutating func add(_ key: ByteView, hash: UInt64, number: UInt32) -> Bool {
        if (entries.count + 1) * 2 > buckets.count { rehash() }
        let bucket = bucket(of: key, hash: hash)
        guard buckets[bucket] < 0 else { return false }
        buckets[bucket] = Int32(entries.count)
        let start = bytes.count
        bytes.append(key)
        entries.append(KeyTableEntry(hash: hash, start: start, end: bytes.count, number: number))
        return true
    }

    /// The bucket with the entry of `key`, or the free one where it belongs.
    @inline(__always)
    private func bucket(of key: ByteView, hash: UInt64) -> Int {
        let mask = buckets.count - 1
        var bucket = Int(truncatingIfNeeded: hash) & mask
        while buckets[bucket] >= 0 {
            let entry = entries[Int(buckets[bucket])]
            if entry.hash == hash, bytes.view(entry.start..<entry.end).equals(key) { break }
            bucket = (bucket + 1) & mask
        }
        return bucket
    }

    /// Forgets the keys.
    mutating func removeAll() {
        bytes.removeAll()
        entries.removeAll()
        for index in 0..<buckets.count { buckets[index] = -1 }
    }

    private mutating func place(_ entry: Int) {
        var bucket = Int(truncatingIfNeeded: entries[entry].hash) & (buckets.count - 1)
        while buckets[bucket] >= 0 { bucket = (bucket + 1) & (buckets.count - 1) }
        buckets[bucket] = Int32(entry)
    }

    private mutating func rehash() {
        buckets = RawArray(repeating: -1, count: buckets.count * 2)
        for entry in 0..<entries.count { place(entry) }
    }

    /// Eight bytes at a time, with the constants of SplitMix64: blocks are small, so that even keys made to collide
    /// cost little.
    static func hash(_ key: ByteView) -> UInt64 {
        var hash = UInt64(truncatingIfNeeded: key.count)
        var index = 0
        while index <= key.count &- 8 {
            hash = (hash ^ key.word(at: index)) &* 0x9E37_79B9_7F4A_7C15
            // The multiplication carries upwards only.
            hash ^= hash >> 32
            index &+= 8
        }
        if index < key.count {
            hash = (hash ^ key.lastWord(from: index)) &* 0x9E37_79B9_7F4A_7C15
            hash ^= hash >> 32
        }
        hash = (hash ^ hash >> 29) &* 0xBF58_476D_1CE4_E5B9
        return hash ^ hash >> 32
    }
}

/// One key of a ``KeyTable``.
struct KeyTableEntry: BitwiseCopyable {
    var hash: UInt64
    /// Where the key's bytes are.
    var start: Int
    var end: Int
    var number: UInt32
}
