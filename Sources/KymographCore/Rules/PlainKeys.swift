/// Of the keys that were asked for last, by source, which ones no rule is about. Rules compare devices and patients,
/// which takes several times as long as to find a key again.
struct PlainKeys {
    private struct Entry: BitwiseCopyable {
        var key = ShortKey.none
        var source = -1
        var isPlain = false
    }

    /// By the hash of the key: the last one that has it.
    private var entries: [Entry] = []

    private static let count = 1_024

    /// Forgets all, for other rules; none are kept unless `isKept`.
    mutating func reset(isKept: Bool) {
        entries = Array(repeating: Entry(), count: isKept ? PlainKeys.count : 0)
    }

    /// Whether no rule is about `key` from `source`; nil where that has to be asked.
    @inline(__always)
    func isPlain(_ key: ShortKey, source: Int) -> Bool? {
        guard !entries.isEmpty else { return nil }
        let place = Int(truncatingIfNeeded: key.hash & UInt64(PlainKeys.count - 1))
        guard entries[place].source == source, entries[place].key.equals(key) else { return nil }
        return entries[place].isPlain
    }

    /// Keeps what was asked.
    mutating func note(_ key: ShortKey, source: Int, isPlain: Bool) {
        guard !entries.isEmpty else { return }
        let place = Int(truncatingIfNeeded: key.hash & UInt64(PlainKeys.count - 1))
        entries[place] = Entry(key: key, source: source, isPlain: isPlain)
    }
}
