/// What a shard hands over to become durable together: all of it or nothing.
package struct ShardUnit: Sendable {
    /// A series that the store has not seen before.
    package struct Series: Sendable {
        /// The store's number.
        package var number: Int
        /// The ``SeriesKey``.
        package var key: [UInt8]

        /// A series.
        package init(number: Int, key: [UInt8]) { (self.number, self.key) = (number, key) }
    }

    /// Entries (``EntryBlock``).
    package struct Block: Sendable {
        /// Who gets them.
        package var route: BundleRoute
        /// Its bytes.
        package var bytes: [UInt8]
        /// When the oldest of them was made.
        package var since: Instant
    }

    /// Number of the shard.
    package var shard: Int
    /// Readings taken since the last unit.
    package var journal: JournalBlock?
    /// Series of the readings and windows, if they are new.
    package var series: [Series] = []
    /// Windows that have closed.
    package var windows = ClosedWindows()
    /// Readings that were rejected and are in no window, those of an earlier run's journal among them.
    package var rejections: [KeptRejection] = []
    /// What has happened to retractions, in this order.
    package var retractions: [RetractionChange] = []
    /// Retractions that have taken a reading out, or had done so before: when they were received, and from which source
    /// (``ReadingSource``).
    package var settledRetractions: [(source: Int, received: Instant)] = []
    /// Blocks with the Observations of these windows among others; those of carriers may have left before.
    package var blocks: [Block] = []
    /// The oldest block that the shard may need again, once this unit is durable: it may be one that has not begun. Nil
    /// when the unit does not say.
    package var needed: Int64?
    /// Slots of each lane's ring whose readings are in this unit or in earlier ones.
    package var taken: [UInt64] = []
    /// Counts that lanes have ended, of readings that are in this unit or in earlier ones.
    package var counts: [CountedReadings] = []

    /// An empty unit.
    init(shard: Int) { self.shard = shard }

    /// Takes out what shows or archives windows: it may become durable later, in order; the readings must not wait.
    package mutating func splitWindows() -> ShardUnit {
        var later = ShardUnit(shard: shard)
        swap(&later.windows, &windows)
        swap(&later.blocks, &blocks)
        swap(&later.needed, &needed)
        return later
    }

    /// Bytes that it keeps in memory, about.
    package var byteCount: Int {
        var count = (journal?.bytes.count ?? 0) + rejections.count * KeptRejection.byteCount
        count += windows.byteCount + retractions.count * 256 + settledRetractions.count * 16
        count += counts.count * 64
        return blocks.reduce(count) { $0 + $1.bytes.count }
    }

    /// Whether there is anything that must become durable.
    package var isEmpty: Bool {
        journal == nil && windows.isEmpty && blocks.isEmpty && series.isEmpty && rejections.isEmpty
            && retractions.isEmpty && settledRetractions.isEmpty
    }
}

/// What makes a shard's units durable, and gives back what it has kept. Called on the shards' threads.
package protocol ShardStore: AnyObject, Sendable {
    /// The number of the series `key` (a ``SeriesKey``), and whether it is new: then introduce it in the next unit.
    func number(of key: [UInt8]) -> (number: Int, isNew: Bool)

    /// The keys of the series of `device` that are durable.
    func series(ofDevice device: [UInt8]) -> [[UInt8]]

    /// The number for the next block, greater than all before.
    func nextBlock() -> Int64

    /// The last number that a block of an earlier run has, 0 when there was none: all that is replayed comes before it.
    var lastBlockAtStart: Int64 { get }

    /// No block that begins later has a lower number.
    var upcomingBlock: Int64 { get }

    /// Appends the block of a window of an earlier run, or of a unit that is durable
    /// (``waitUntilCommitted()``).
    func load(series: Int, windowStart: Instant, into writer: inout ByteWriter) -> ArchiveLookup

    /// How far the journal is in the archived content of a window, or nil when it is not archived.
    func archivedThrough(series: Int, windowStart: Instant) -> JournalPlace?

    /// The latest window of an earlier run.
    var latestAtStart: Instant { get }

    /// The latest start of the windows of a series that were dropped to stay within limits.
    func droppedThrough(series: Int) -> Instant?

    /// The time of the reading called `id` of a series, in an archived window.
    func instant(ofReading id: [UInt8], series: Int) -> Instant?

    /// Whether it may remember any retraction of an earlier run.
    var hasRetractions: Bool { get }

    /// The retractions of `device` that are durable.
    func retractions(ofDevice device: [UInt8]) -> [Retraction]

    /// Waits until everything that was submitted before is durable.
    func waitUntilCommitted()

    /// Takes a unit; waits while too much is waiting already.
    func submit(_ unit: ShardUnit)
}

extension ShardStore {
    /// None: it remembers no earlier run.
    package func series(ofDevice device: [UInt8]) -> [[UInt8]] { [] }

    /// Not known: it keeps no ids.
    package func instant(ofReading id: [UInt8], series: Int) -> Instant? { nil }

    /// None.
    package var hasRetractions: Bool { false }

    /// None.
    package func retractions(ofDevice device: [UInt8]) -> [Retraction] { [] }

    /// Everything is.
    package func waitUntilCommitted() {}
}
