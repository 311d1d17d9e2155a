/// A window that has closed, for the archive. What differs in size is beside it in ``ClosedWindows``.
package struct ClosedWindow: Sendable, BitwiseCopyable {
    /// The store's number of the series.
    package var series: Int
    /// Start, as in ``WindowArchive``.
    package var start: Instant
    /// Counts and times.
    package var facts: WindowFacts
    /// Everything of it that comes before this place in the journal is in its block.
    package var through: JournalPlace
    /// Where its block begins and how long it is.
    fileprivate var offset = 0
    fileprivate var length = 0

    /// Whether it has a block; else the archive has its readings already, and only the counts are new.
    package var hasBlock: Bool { length > 0 }

    /// A window of the store's series `series`.
    package init(series: Int, start: Instant, facts: WindowFacts, through: JournalPlace) {
        (self.series, self.start, self.facts, self.through) = (series, start, facts, through)
    }
}

/// Windows that have closed, in this order.
///
/// Thousands of them close at once, on one thread, and are forgotten on another. So their blocks lie one behind the
/// other, and copying a window counts no references.
package struct ClosedWindows: Sendable {
    private var windows: [ClosedWindow] = []
    private var blocks: [UInt8] = []
    /// Of few windows, by their place: readings that are rejected all the same.
    private var rejected: [Int: [KeptRejection]] = [:]
    /// Readings with ids, by the place of their window.
    private var named: [Int: [NamedReading]] = [:]
    /// The oldest block of the journal that any of them needs.
    private(set) var needed = JournalWriter.noBlock

    /// No windows.
    package init() {}

    /// How many there are.
    package var count: Int { windows.count }
    /// Whether there are none.
    package var isEmpty: Bool { windows.isEmpty }
    /// The window at `place`.
    package subscript(place: Int) -> ClosedWindow { windows[place] }

    /// Bytes that they keep in memory, about.
    package var byteCount: Int {
        let rejections = rejected.isEmpty ? 0 : rejected.values.reduce(0) { $0 + $1.count }
        let ids = named.isEmpty ? 0 : named.values.reduce(0) { $0 + $1.count }
        return blocks.count + windows.count * 96 + rejections * KeptRejection.byteCount + ids * 96
    }

    /// Adds a window with its readings, or without when the archive has them. `rejections` are those of its readings
    /// that are rejected all the same, since it gives no Observation.
    package mutating func append(_ window: ClosedWindow, block: ByteView, rejections: [KeptRejection] = []) {
        var window = window
        (window.offset, window.length) = (blocks.count, block.count)
        blocks.append(contentsOf: block)
        if !rejections.isEmpty { rejected[windows.count] = rejections }
        needed = min(needed, window.facts.journal)
        windows.append(window)
    }

    /// Adds the readings with ids of the window that was added last.
    mutating func nameLast(_ readings: [NamedReading]) {
        if !readings.isEmpty, !windows.isEmpty { named[windows.count - 1] = readings }
    }

    /// The readings with ids of the window at `place`, if they were noted.
    package func named(at place: Int) -> [NamedReading] { named.isEmpty ? [] : named[place] ?? [] }

    /// Lends the block of `window`, which is one of these; no bytes when it has none.
    @inline(__always)
    package func withBlock<Result>(of window: ClosedWindow, _ body: (ByteView) throws -> Result) rethrows -> Result {
        try blocks.withByteView { try body($0[window.offset..<window.offset + window.length]) }
    }

    /// Readings of the window at `place` that are rejected all the same.
    package func rejections(at place: Int) -> [KeptRejection] { rejected.isEmpty ? [] : rejected[place] ?? [] }

    /// The newest version of the window of `series` that begins at `start` and has a block.
    func newest(series: Int, start: Instant) -> ClosedWindow? {
        windows.last { $0.series == series && $0.start == start && $0.hasBlock }
    }

    /// Takes out the first `count`.
    mutating func takeFirst(_ count: Int) -> ClosedWindows {
        guard count > 0 else { return ClosedWindows() }
        var rest = ClosedWindows()
        // About as many will come next, and growing copies them.
        rest.windows.reserveCapacity(min(count, 1_024))
        rest.blocks.reserveCapacity(min(blocks.count, 1 << 18))
        for place in count..<windows.count {
            let window = windows[place]
            withBlock(of: window) { rest.append(window, block: $0, rejections: rejections(at: place)) }
            rest.nameLast(named(at: place))
        }
        swap(&self, &rest)
        rest.drop(from: count)
        return rest
    }

    /// Drops the windows from `place` on; ``needed`` stays that of all, which may be older.
    private mutating func drop(from place: Int) {
        guard place < windows.count else { return }
        blocks.removeLast(blocks.count - windows[place].offset)
        for dropped in place..<windows.count where !rejected.isEmpty { rejected[dropped] = nil }
        for dropped in place..<windows.count where !named.isEmpty { named[dropped] = nil }
        windows.removeLast(windows.count - place)
    }
}
