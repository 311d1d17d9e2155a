/// What a shard has for its store next: readings, and what becomes durable together with them.
struct PendingUnit: ~Copyable {
    /// Whether there is a store: without one, nothing is kept for it.
    let isJournaled: Bool
    private let store: (any ShardStore)?
    var journal = JournalWriter()
    private var blocks: [ShardUnit.Block] = []
    private var rejections: [KeptRejection] = []
    private var settledRetractions: [(source: Int, received: Instant)] = []
    private var counts: [CountedReadings] = []

    /// Of a shard whose readings `store` keeps; nil where all stays in memory.
    init(_ store: (any ShardStore)?) { (self.store, isJournaled) = (store, store != nil) }

    /// Begins a block of the journal where none is open; its number, nil when there was nothing to begin.
    @inline(__always)
    mutating func beginBlock() -> Int64? {
        guard isJournaled, journal.number == JournalWriter.noBlock, let store else { return nil }
        journal.begin(store.nextBlock())
        return journal.number
    }

    /// Bytes of readings that wait, about.
    var byteCount: Int { journal.byteCount + rejectedBytes }

    /// Bytes of rejected readings that wait, about.
    var rejectedBytes: Int { rejections.count * KeptRejection.byteCount }

    /// Takes the entries of a block.
    mutating func append(_ block: ShardUnit.Block) { blocks.append(block) }

    /// Takes a rejected reading, where they are kept; of an earlier run, the one at `place` in its journal.
    mutating func append(_ reading: RejectedReading, _ payload: ByteView, at place: JournalPlace? = nil) {
        if isJournaled { rejections.append(KeptRejection(reading: reading, payload: payload.array, place: place)) }
    }

    /// Says of the last rejected reading that another is replaced from its place on.
    mutating func noteReplacedFrom() {
        if isJournaled { rejections[rejections.count - 1].isReplacedFrom = true }
    }

    /// Says of the last rejected reading that it has not taken the place of another.
    mutating func noteUndone() {
        if !rejections.isEmpty { rejections[rejections.count - 1].undoesReplacement = true }
    }

    /// Takes note of what a reading of an earlier run says it did, and has not done.
    mutating func appendUndone(_ reading: RejectedReading, at place: JournalPlace) {
        var rejection = KeptRejection(reading: reading, payload: [], place: place)
        (rejection.undoesReplacement, rejection.isKnown) = (true, true)
        rejections.append(rejection)
    }

    /// Takes note of a retraction whose reading is out.
    mutating func appendSettled(source: Int, received: Instant) {
        if isJournaled { settledRetractions.append((source, received)) }
    }

    /// Takes a count that a lane has ended.
    mutating func append(_ count: CountedReadings) {
        if isJournaled { counts.append(count) }
    }

    /// Moves all but the journal and the blocks to `unit`.
    mutating func moveRejections(into unit: inout ShardUnit) { swap(&unit.rejections, &rejections) }

    /// Moves all but the journal to `unit`.
    mutating func move(into unit: inout ShardUnit) {
        unit.blocks = blocks
        blocks.removeAll(keepingCapacity: true)
        moveRejections(into: &unit)
        swap(&unit.settledRetractions, &settledRetractions)
        swap(&unit.counts, &counts)
    }
}
