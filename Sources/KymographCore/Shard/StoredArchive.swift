/// A window by the store's number of its series and its start in the archive.
struct WindowName: Hashable {
    var series: Int
    var start: Instant
}

/// An archive that a store keeps: what closed lately is in memory, too.
///
/// A window must not become durable before the Observation that shows it, which may still be in an unfinished block:
/// such windows wait here.
package struct StoredArchive: ~Copyable, WindowArchive {
    private let store: any ShardStore
    private var recent: MemoryArchive
    /// The store's numbers, by series.
    private var numbers = RawArray<Int>(capacity: 1_024)
    /// By series, whether an earlier run may have archived windows of it.
    private var isKnown: [Bool] = []
    private var waiting = ClosedWindows()
    /// Windows at the front of `waiting` whose Observations have been handed over.
    private var ready = 0
    /// Windows that may be on their way to the store.
    private var submitted = SubmittedWindows()
    private var newSeries: [ShardUnit.Series] = []
    /// Rejected readings of windows that are not stored yet.
    private var held: [WindowName: [KeptRejection]] = [:]
    /// Whether the store may know readings of this run that the machine does not.
    private var hasForgotten = false
    /// Whether the store may know retractions of this run that the machine does not.
    private var hasForgottenRetractions = false
    /// The place of the next reading in the journal.
    private var place = JournalPlace(block: 0, index: 0)

    /// Keeps at most `bytes` bytes of recent windows in memory.
    init(_ store: any ShardStore, recentBytes bytes: Int) {
        self.store = store
        recent = MemoryArchive(bytes: bytes)
    }

    /// Asks the store for the series' number.
    package mutating func introduce(series: Int, identity: SeriesIdentity) {
        let key = SeriesKey.encode(identity)
        let (number, isNew) = store.number(of: key)
        numbers.append(number)
        isKnown.append(!isNew)
        if isNew { newSeries.append(ShardUnit.Series(number: number, key: key)) }
        recent.introduce(series: series, identity: identity)
    }

    /// Asks the store.
    package mutating func series(ofDevice device: [UInt8]) -> [[UInt8]] { store.series(ofDevice: device) }

    /// The store's number of a series.
    package func number(of series: Int) -> Int { numbers[series] }

    /// Keeps a window in memory, and for the next unit.
    package mutating func store(series: Int, windowStart: Instant, facts: WindowFacts, block: ByteView) {
        recent.store(series: series, windowStart: windowStart, facts: facts, block: block)
        wait(series, windowStart, facts, block)
    }

    /// It can.
    package static var keepsIds: Bool { true }

    /// It does.
    package static var keepsRetractions: Bool { true }

    /// Asks the store.
    package var hasRetractions: Bool { store.hasRetractions }

    /// Asks the store, if it may know any.
    package func retractions(ofDevice device: [UInt8]) -> [Retraction] {
        store.hasRetractions || hasForgottenRetractions ? store.retractions(ofDevice: device) : []
    }

    /// Waits for the store.
    package mutating func waitForRetractions() {
        waitForStore()
        hasForgottenRetractions = true
    }

    /// Keeps the ids for the next unit.
    package mutating func name(_ readings: [NamedReading]) { waiting.nameLast(readings) }

    /// Looks in the store; what is not there yet, the machine knows.
    package mutating func instant(of id: ByteView, series: Int) -> Instant? {
        guard isKnown[series] || hasForgotten else { return nil }
        return store.instant(ofReading: id.array, series: numbers[series])
    }

    /// Waits for the store.
    package mutating func canTellIds() -> Bool {
        guard waiting.isEmpty else { return false }
        waitForStore()
        hasForgotten = true
        return true
    }

    /// Prefetches where a window will be kept in memory.
    package func prefetch(series: Int, windowStart: Instant) {
        recent.prefetch(series: series, windowStart: windowStart)
    }

    /// Keeps the counts of a window for the next unit.
    package mutating func note(series: Int, windowStart: Instant, facts: WindowFacts) {
        wait(series, windowStart, facts, ByteView(""))
    }

    private mutating func wait(_ series: Int, _ start: Instant, _ facts: WindowFacts, _ block: ByteView) {
        let window = ClosedWindow(series: numbers[series], start: start, facts: facts, through: place)
        if held.isEmpty { return waiting.append(window, block: block) }
        let rejections = held.removeValue(forKey: WindowName(series: numbers[series], start: start))
        waiting.append(window, block: block, rejections: rejections ?? [])
    }

    /// Keeps a rejected reading: it must become durable with its window, or the next run would reject it once more.
    package mutating func hold(_ rejection: KeptRejection, windowStart: Instant) {
        held[WindowName(series: rejection.reading.series, start: windowStart), default: []].append(rejection)
    }

    /// Waits until the store has all that it was given.
    private mutating func waitForStore() {
        store.waitUntilCommitted()
        submitted.removeAll()
    }

    /// Looks in memory and then in the store. Only what was handed over since the last wait may be on its way there:
    /// the store has windows of earlier runs already.
    package mutating func load(series: Int, windowStart: Instant, into writer: inout ByteWriter) -> ArchiveLookup {
        // What changes a window that the store has dropped would be lost with the process.
        let isDropped = evictedThrough(series: series).map { $0 >= windowStart } ?? false
        if !isDropped, case .found = recent.load(series: series, windowStart: windowStart, into: &writer) {
            return .found
        }
        let wasRecent = isDropped || recent.evictedThrough(series: series).map { $0 >= windowStart } ?? false
        guard wasRecent || isKnown[series] && windowStart <= store.latestAtStart else { return .absent }
        let number = numbers[series]
        if wasRecent {
            if let window = waiting.newest(series: number, start: windowStart) {
                waiting.withBlock(of: window) { writer.append($0) }
                return .found
            }
            if submitted.mayContain(WindowName(series: number, start: windowStart)) { waitForStore() }
        }
        return store.load(series: number, windowStart: windowStart, into: &writer)
    }

    /// Windows older than what the store has dropped may have had content.
    package func evictedThrough(series: Int) -> Instant? { store.droppedThrough(series: numbers[series]) }

    /// Notes the place for what is stored from here on.
    package mutating func journalReached(_ place: JournalPlace) { self.place = place }

    /// What was stored up to here may become durable.
    package mutating func blocksEnded() { ready = waiting.count }

    /// Moves what may become durable into `unit`; `isBlockOpen` when Observations wait in an unfinished block.
    mutating func moveReady(into unit: inout ShardUnit, isBlockOpen: Bool) {
        if !isBlockOpen { ready = waiting.count }
        unit.series = newSeries
        newSeries.removeAll()
        unit.windows = waiting.takeFirst(ready)
        submitted.insert(unit.windows)
        ready = 0
    }

    /// The oldest journal block of the windows that wait.
    var needed: Int64 { waiting.needed }

    /// Bytes of recent windows in memory.
    package var storedBytes: Int { recent.storedBytes }

    /// Windows dropped; the store keeps what memory does not.
    package var evictedWindows: Int { 0 }
}
