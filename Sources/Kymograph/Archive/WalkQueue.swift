/// What a walk has found and not given yet, the first of its order on top: a binary heap.
struct WalkQueue {
    /// A window, or one of its Observations.
    struct Entry {
        var place: WalkPlace
        var head: WindowHead
        /// Nil for the window.
        var resource: [UInt8]?
    }

    private var entries: [Entry] = []
    /// Bytes of its Observations.
    private(set) var bytes = 0

    /// The first; nil when there is none.
    var first: Entry? { entries.first }

    mutating func add(_ entry: Entry) {
        entries.append(entry)
        bytes += entry.resource?.count ?? 0
        var index = entries.count - 1
        while index > 0, entries[index].place < entries[(index - 1) / 2].place {
            entries.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    mutating func removeFirst() -> Entry? {
        guard let first = entries.first, let last = entries.popLast() else { return nil }
        bytes -= first.resource?.count ?? 0
        guard !entries.isEmpty else { return first }
        entries[0] = last
        sink()
        return first
    }

    private mutating func sink() {
        var index = 0
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2] where child < entries.count {
                if entries[child].place < entries[least].place { least = child }
            }
            guard least != index else { return }
            entries.swapAt(index, least)
            index = least
        }
    }
}
