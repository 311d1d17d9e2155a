/// The windows that were opened while there was a journal, oldest first: tells the oldest block that is needed.
///
/// Closed windows are passed over when they come to the front, and left out when there are too many of them, so that
/// opening and closing cost nothing more.
struct JournaledWindows: ~Copyable {
    private struct Entry: BitwiseCopyable {
        var window: UInt32
        var journal: Int64
    }

    private var entries: [Entry] = []
    private var first = 0

    /// Notes that window `index` has its first reading in block `journal`.
    mutating func append(_ index: Int, _ journal: Int64) {
        entries.append(Entry(window: UInt32(index), journal: journal))
    }

    /// The block of the oldest window that is still open, or ``JournalWriter/noBlock``.
    mutating func oldest(among windows: borrowing RawArray<OpenWindow>) -> Int64 {
        while first < entries.count {
            let entry = entries[first]
            if windows[Int(entry.window)].journal == entry.journal {
                compact(windows)
                return entry.journal
            }
            first += 1
        }
        entries.removeAll(keepingCapacity: true)
        first = 0
        return JournalWriter.noBlock
    }

    /// Windows that stay open for long would keep all that came after them.
    private mutating func compact(_ windows: borrowing RawArray<OpenWindow>) {
        guard entries.count - first > 2 * windows.count + 1_024 || first > entries.count / 2 else { return }
        var kept: [Entry] = []
        for entry in entries[first...] where windows[Int(entry.window)].journal == entry.journal { kept.append(entry) }
        entries = kept
        first = 0
    }
}
