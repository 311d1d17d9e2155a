/// The keys that a bundle holds already, each with a digest. Keeps its memory between bundles.
struct KeyTable: ~Copyable, Sendable {
    private var bytes = ByteWriter()
    private var entries = RawArray<KeyTableEntry>()
    /// Entry numbers by hash, -1 when free; always a power of two, at most half full.
    private var buckets = RawArray<Int32>(repeating: -1, count: 64)

    /// Number of keys.
    var count: Int { entries.count }

    /// The digest that `key` was added with, or nil.
    func find(_ key: ByteView) -> Digest256.Bytes? {
        let hash = KeyTable.hash(key)
        var bucket = Int(truncatingIfNeeded: hash) & (buckets.count - 1)
        while buckets[bucket] >= 0 {
            let entry = entries[Int(buckets[bucket])]
            if entry.hash == hash && bytes.view(entry.start..<entry.end).equals(key) { return entry.digest }
            bucket = (bucket + 1) & (buckets.count - 1)
        }
        return nil
    }

    /// Adds `key`; false when it is there already.
    mutating func add(_ key: ByteView, digest: Digest256.Bytes) -> Bool {
        if find(key) != nil { return false }
        if (entries.count + 1) * 2 > buckets.count { rehash() }
        let start = bytes.count
        bytes.append(key)
        entries.append(KeyTableEntry(hash: KeyTable.hash(key), start: start, end: bytes.count, digest: digest))
        place(entries.count - 1)
        return true
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

    /// FNV-1a: bundles are small, so that even keys made to collide cost little.
    private static func hash(_ key: ByteView) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for index in 0..<key.count { hash = (hash ^ UInt64(key[index])) &* 0x100_0000_01B3 }
        return hash ^ hash >> 32
    }
}

/// One key of a ``KeyTable``.
struct KeyTableEntry: BitwiseCopyable {
    var hash: UInt64
    /// Where the key's bytes are.
    var start: Int
    var end: Int
    var digest: Digest256.Bytes
}
