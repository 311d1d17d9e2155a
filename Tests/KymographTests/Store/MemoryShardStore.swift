import KymographCore

/// A store in memory that keeps what a real one would, for runs that are too many for a disk. Used by one thread only.
final class MemoryShardStore: ShardStore, @unchecked Sendable {
    private struct WindowName: Hashable {
        var series: Int
        var start: Instant
    }

    private var numbers: [[UInt8]: Int] = [:]
    private var keys: [Int: [UInt8]] = [:]
    private var windows: [WindowName: (through: JournalPlace, block: [UInt8])] = [:]
    private var journal: [JournalBlock] = []
    private var lastBlock: Int64 = 0
    /// The last number of a block that was handed over: a restart goes on from there.
    private var lastStored: Int64 = 0
    private(set) var lastBlockAtStart: Int64 = 0
    /// Whether it fails to find closed windows, as a fault would: what the tests must notice.
    private let forgets: Bool
    private(set) var latestAtStart = Instant.distantPast
    /// How often somebody looked for a window, and waited for commits.
    private(set) var loads = 0
    private(set) var waits = 0
    /// All bundles, one a line.
    private(set) var output: [UInt8] = []

    /// What became of readings that were counted.
    private(set) var counts: [CountedReadings] = []

    /// Whether windows are there only once somebody waits for them, and those that are not.
    private let isSlow: Bool
    private var pending: [ShardUnit] = []

    init(forgets: Bool = false, isSlow: Bool = false) { (self.forgets, self.isSlow) = (forgets, isSlow) }

    func number(of key: [UInt8]) -> (number: Int, isNew: Bool) {
        if let known = numbers[key] { return (known, false) }
        numbers[key] = numbers.count
        return (numbers.count - 1, true)
    }

    func nextBlock() -> Int64 {
        lastBlock += 1
        return lastBlock
    }

    var upcomingBlock: Int64 { lastBlock + 1 }

    func load(series: Int, windowStart: Instant, into writer: inout ByteWriter) -> ArchiveLookup {
        loads += 1
        guard !forgets, let window = windows[WindowName(series: series, start: windowStart)] else { return .absent }
        writer.append(window.block)
        return .found
    }

    func archivedThrough(series: Int, windowStart: Instant) -> JournalPlace? {
        windows[WindowName(series: series, start: windowStart)]?.through
    }

    func droppedThrough(series: Int) -> Instant? { nil }

    func waitUntilCommitted() {
        waits += 1
        commit()
    }

    private func commit() {
        for unit in pending { keep(unit.windows) }
        pending = []
    }

    func submit(_ unit: ShardUnit) {
        counts += unit.counts
        for series in unit.series { keys[series.number] = series.key }
        pending.append(unit)
        if !isSlow { commit() }
        if let block = unit.journal {
            journal.append(block)
            lastStored = max(lastStored, block.number)
        }
        if let needed = unit.needed { journal.removeAll { $0.number < needed } }
        for block in unit.blocks { output += BundleText.of(block.bytes) }
    }

    private func keep(_ closed: ClosedWindows) {
        for place in 0..<closed.count {
            let window = closed[place]
            let name = WindowName(series: window.series, start: window.start)
            if window.hasBlock {
                windows[name] = (window.through, closed.withBlock(of: window) { $0.array })
            } else {
                windows[name]?.through = window.through
            }
        }
    }

    // MARK: A restart

    /// Forgets what was never handed over: series and blocks that were numbered only.
    func restart() {
        commit()
        (lastBlock, lastBlockAtStart) = (lastStored, lastStored)
        numbers = numbers.filter { keys[$0.value] != nil }
        latestAtStart = windows.keys.map(\.start).max() ?? .distantPast
    }

    /// Gives `shard` the journal.
    func replay(into shard: inout StoredShard) {
        for block in journal { precondition(shard.replay(block) { keys[$0] }) }
    }
}
