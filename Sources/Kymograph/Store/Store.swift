import FoundationEssentials
import GRDB
package import KymographCore
import KymographTemplates

/// Everything that outlives the process: the journal of readings, closed windows, bundles that wait for sinks, dead
/// letters and counts, in one SQLite database.
///
/// One thread writes (``StoreWriter``), in transactions that are durable when they end (`synchronous=FULL`). Units are
/// committed as they were submitted: a window and the bundle that shows it together.
package final class Store: ShardStore {
    private let database: StoreDatabase
    private let users: StoreUsers
    private let room: StoreRoom
    /// What it has taken, and how long that took.
    let totals: StoreTotals
    private let numbers: StoreNumbers
    private let earlier: EarlierRuns
    private let dropped: DroppedThrough
    let queue: StoreQueue
    /// Up to where it has partitions of topics.
    let positions: StorePositions
    let tail = OutboxTail()
    let book = LedgerBook()
    /// The clock of what it receives.
    let receiveClock: ReceiveClock

    /// Opens the store in `path`, or makes one. A damaged one is repaired; ``watch`` tells what was lost. What takes
    /// long is told to `notes` before it begins.
    ///
    /// - Throws: ``StoreError`` when it cannot be used, another process uses it, or a newer version wrote it.
    package init(
        path: String, settings: StoreSettings = StoreSettings(), notes: LogTaker? = nil
    ) throws(StoreError) {
        let (database, facts) = try StoreDatabase.open(path, settings.encryption, notes)
        (self.database, users, room) = (database, StoreUsers(database), StoreRoom(settings))
        receiveClock = ReceiveClock(after: facts.latestReceipt)
        totals = try StoreTotals(facts.counts, database.directory)
        if !facts.lost.isNone { database.watch.note(.error(facts.lost.note(database.directory.path))) }
        (numbers, earlier, dropped) = (StoreNumbers(facts), EarlierRuns(facts), DroppedThrough(facts))
        queue = try StoreQueue()
        queue.sequences.restore(facts.sequences)
        positions = StorePositions(facts.positions, queue)
        tail.begin(after: facts.lastBundle)
    }

    // MARK: For shards

    /// The number of a series.
    package func number(of key: [UInt8]) -> (number: Int, isNew: Bool) {
        if earlier.hasSeries, let known = find(key) { return (known, false) }
        return (numbers.nextSeries(), true)
    }

    private func find(_ key: [UInt8]) -> Int? { database.look { try $0.number(of: key) }.flatMap { $0 } }

    /// The number for the next block of the journal.
    package func nextBlock() -> Int64 { numbers.nextBlock() }

    /// The number that ``nextBlock()`` gives next, or a lower one.
    package var upcomingBlock: Int64 { numbers.upcomingBlock }

    /// The keys of the series of `device` that are durable.
    package func series(ofDevice device: [UInt8]) -> [[UInt8]] {
        guard earlier.hasSeries else { return [] }
        // By its bytes: how the column compares texts is SQLite's matter.
        let keys = read { db in
            let sql = "SELECT key FROM series WHERE device = ?"
            return try Data.fetchAll(db, sql: sql, arguments: [String(decoding: device, as: UTF8.self)])
        }
        return (keys ?? []).map { [UInt8]($0) }.filter { key in
            key.withByteView { SeriesKey.device(of: $0).equals(device) }
        }
    }

    /// Appends the block of a window, as it was committed last.
    package func load(series: Int, windowStart: Instant, into writer: inout ByteWriter) -> ArchiveLookup {
        // What cannot be read may be there: a partial must not replace it.
        database.look { try $0.load(series: series, start: windowStart, into: &writer) } ?? .damaged
    }

    /// The time of the reading called `id` of a series, in an archived window.
    package func instant(ofReading id: [UInt8], series: Int) -> Instant? {
        database.look { try $0.instant(of: id, series: series) }.flatMap { $0 }
    }

    /// The retractions of `device` that are durable.
    package func retractions(ofDevice device: [UInt8]) -> [Retraction] {
        read { try StoredRetraction.read(ofDevice: device, $0) } ?? []
    }

    /// Whether `shard` waits for what the store's thread or a sink has to do first. Which shard waits for a commit is
    /// not known: while any does, all count as waiting.
    func isWaitedFor(by shard: Int) -> Bool {
        users.areWaiting || queue.waitingShards.contains(shard) || users.isWaitedFor(by: shard)
    }

    /// Waits until everything that was submitted before is durable.
    package func waitUntilCommitted() {
        users.waitUntilDelivered { queue.waitUntilCommitted() }
    }

    /// Takes a unit; waits while too much is waiting already.
    package func submit(_ unit: ShardUnit) {
        guard let direct = users.direct else { return queue.submit(unit) }
        var unit = unit
        let later = unit.splitWindows()
        queue.submit(unit)
        direct.submit(later)
    }

    /// How far the journal is in the archived content of a window.
    package func archivedThrough(series: Int, windowStart: Instant) -> JournalPlace? {
        read { try DroppedWindows.through(series: series, start: windowStart, $0) }.flatMap { $0 }
    }

    /// The latest start of the windows of a series that were dropped.
    package func droppedThrough(series: Int) -> Instant? { dropped.through(series: series) }

    /// The latest window of an earlier run.
    package var latestAtStart: Instant { earlier.latestWindow }

    /// The last number that a block of an earlier run has.
    package var lastBlockAtStart: Int64 { earlier.lastBlock }

    /// Whether an earlier run has left retractions.
    package var hasRetractions: Bool { earlier.hasRetractions }

    /// Types of earlier runs, which a mapping set must continue.
    func formerTypes() throws(StoreError) -> [FormerType] {
        do {
            return try pool.read { try StoredTypes.formerTypes($0) }
        } catch {
            throw failure(error, "read the types of")
        }
    }

    /// Closes the database; nothing may use the store afterwards.
    func close() { database.close { totals.synchronise() } }

    // MARK: Its database

    var directory: StoreDirectory { database.directory }

    /// The keys that its files are sealed with; nil for a plain store.
    var seal: StoreSeal? { database.seal }

    var pool: DatabasePool { database.pool }

    /// Who hears what the operator should know.
    var watch: StoreWatch { database.watch }

    /// The same as ``StoreDatabase/read(_:)``.
    func read<Value>(_ body: (Database) throws -> Value) -> Value? { database.read(body) }

    /// Notes that the store cannot go on.
    func fail(_ error: StoreError) { database.fail(error) }

    /// See ``StoreDatabase/failure(_:_:)``.
    func failure(_ error: any Error, _ action: String) -> StoreError { database.failure(error, action) }

    /// Notes that the store cannot go on if what was written may not be on the disk.
    func failIfNotDurable(_ error: StoreError) { database.failIfNotDurable(error) }

    /// Empties the log of the database.
    func shrinkLog() { database.shrinkLog() }

    // MARK: Its users

    /// Says who takes bundles out, by place (``SinkRouting``), nil where a sink has gone.
    func begin(sinks: [String?]) throws(StoreError) { try users.begin(sinks: sinks) }

    /// Says that lines of receipts wait until those who take them have them: `progress` is of one.
    func begin(receipts progress: ReceiptProgress) { users.begin(receipts: progress) }

    /// Says that bundles go another way than through the outbox.
    func begin(direct: any UnitDelivery) { users.begin(direct: direct) }

    /// Says how many shards there are: the journal is kept until all of them have said what they need.
    func begin(shards: Int) { users.begin(shards: shards) }

    /// What brings bundles another way; nil where they go through the outbox.
    var direct: (any UnitDelivery)? { users.direct }

    var receiptRun: String? { users.receiptRun }
    var receiptProgress: [ReceiptProgress] { users.receiptProgress }
    var sinks: [String] { users.sinks }
    var shards: Int { users.shards }

    /// The names of the sinks of `route`, as the outbox has them; nil when these are all.
    func names(of route: BundleRoute) -> String? { users.names(of: route) }

    /// Whether `sink` takes bundles out, or has what an earlier run with an outbox left for it.
    func gives(to sink: String) -> Bool { users.gives(to: sink) }

    // MARK: Its numbers

    /// What it may use at present.
    var settings: StoreSettings { room.settings }

    /// Goes by the limits of `new` from here on.
    func follow(_ new: StoreSettings) { room.follow(new) }

    /// How much of ``StoreSettings/maxBytes`` is in use, as of the last commits.
    package var fill: StoreFill { room.fill }

    /// Notes how much is in use.
    func noteUsed(bytes: Int) { room.noteUsed(bytes: bytes) }

    /// Whether nothing can be committed, since the disk or ``StoreSettings/maxBytes`` is full.
    var isFull: Bool { room.isFull }

    /// Notes whether nothing can be committed.
    func noteFull(_ isFull: Bool) { room.note(isFull: isFull) }

    /// Notes what the last commit has added.
    func noteCommitted(_ added: StoreCounts) { totals.noteCommitted(added) }

    /// Readings that this run's commits have made durable.
    var keptInThisRun: Int { totals.keptInThisRun }

    /// Notes the latest starts of windows that are dropped, by series.
    func noteDropped(_ starts: [Int: Int64]) { dropped.note(starts) }
}
