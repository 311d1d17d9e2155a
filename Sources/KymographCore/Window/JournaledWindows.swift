/// The windows that were opened while there was a journal, oldest first: tells the oldest block that is needed.
///
/// Closed windows are passed over when they come to the front, and left out when there are too many of them, so that
/// opening and closing cost nothing more.
struct JournaledWindows: ~Copyable {
    /// Number of the journal's block that readings go into now; ``JournalWriter/noBlock`` without a journal.
    var block = JournalWriter.noBlock
    /// What the archive had of windows that were opened with its content, by window: it may drop it before it gets the
    /// window back, and count it so.
    private var restored: [Int: InlineArray<16, UInt32>] = [:]

    private struct Entry: BitwiseCopyable {
        var window: UInt32
        var journal: Int64
    }

    private var entries: [Entry] = []
    private var first = 0

    /// Whether there is a journal.
    var isThere: Bool { block != JournalWriter.noBlock }

    /// Notes that window `index` has its first reading in the present block.
    mutating func noteOpened(_ index: Int) {
        if isThere { entries.append(Entry(window: UInt32(index), journal: block)) }
    }

    /// Notes that the archive had `facts` of window `index`.
    mutating func noteRestored(_ index: Int, _ facts: WindowFacts) {
        restored[index] = facts.readings
    }

    /// What the archive had of window `index`, by source, when it was opened with its content.
    func restored(_ index: Int) -> InlineArray<16, UInt32>? { restored.isEmpty ? nil : restored[index] }

    /// Forgets window `index`.
    mutating func forget(_ index: Int) {
        if !restored.isEmpty { restored[index] = nil }
    }

    /// The block of the oldest window that is still open, or ``JournalWriter/noBlock``.
    mutating func oldest(among windows: borrowing OpenWindows) -> Int64 {
        while first < entries.count {
            let entry = entries[first]
            if windows.unsettled(Int(entry.window)).journal == entry.journal {
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
    private mutating func compact(_ windows: borrowing OpenWindows) {
        guard entries.count - first > 2 * windows.recordCount + 1_024 || first > entries.count / 2 else { return }
        var kept: [Entry] = []
        for entry in entries[first...] where windows.unsettled(Int(entry.window)).journal == entry.journal {
            kept.append(entry)
        }
        entries = kept
        first = 0
    }
}
