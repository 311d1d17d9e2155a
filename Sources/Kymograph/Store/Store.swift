import FoundationEssentials
import GRDB
package import KymographCore
import KymographTemplates
import Synchronization

/// Everything that outlives the process: the journal of readings, closed windows, bundles that wait for sinks, dead
/// letters and counts, in one SQLite database.
///
/// One thread writes (``StoreWriter``), in transactions that are durable when they end (`synchronous=FULL`). Units are
/// committed as they were submitted: a window and the bundle that shows it together.
package final class Store: ShardStore {
    let directory: StoreDirectory
    /// The keys that its files are sealed with; nil for a plain store.
    let seal: StoreSeal?
    let pool: DatabasePool
    private let limits: Mutex<StoreSettings>
    let queue: StoreQueue
    /// Up to where it has partitions of topics.
    let positions: StorePositions
    let tail = OutboxTail()
    let book = LedgerBook()
    /// The clock of what it receives.
    let receiveClock: ReceiveClock
    /// How far the store has come, beside the database.
    private let mark: StoreMark
    private let counts: Mutex<StoreCounts>
    /// ``StoreCounts/kept`` of earlier runs.
    private let keptBefore: Int
    /// Who hears what the operator should know.
    let watch = StoreWatch()
    private let blocks: Atomic<Int64>
    private let series: Atomic<Int>
    /// Whether an earlier run has left series.
    private let hasSeries: Bool
    /// Whether windows of any series were dropped: nearly never, and asked for each window.
    private let hasDropped = Atomic(false)
    private let dropped: Mutex<[Int: Int64]>
    /// What finds single rows for shards, once one has asked.
    private let reader = Mutex<ArchiveReader?>(nil)
    /// ``StoreFacts/floor``.
    private let floor: Int64?
    /// Whether an earlier run has left retractions.
    package let hasRetractions: Bool
    private let usage = Mutex(Usage())
    /// Threads that wait in ``waitUntilCommitted()``.
    private let awaited = Atomic(0)
    private let usedBytes = Atomic<Int>(0)
    /// How long commits took.
    let commitTimes = Mutex(DurationCounts())
    /// How long readings took from when they were received until they were durable, of those that are samples.
    let durableTimes = Mutex(DurationCounts())
    /// Whether nothing can be committed, since the disk or ``StoreSettings/maxBytes`` is full.
    let isFull = Atomic(false)

    /// Who uses the store.
    private struct Usage {
        var shards = Int.max
        var sinks: [String?] = []
        var direct: (any UnitDelivery)?
        var receiptRun: String?
        var receipts: [ReceiptProgress] = []
    }

    /// The latest window of an earlier run.
    package let latestAtStart: Instant
    /// The last number that a block of an earlier run has.
    package let lastBlockAtStart: Int64

    /// Opens the store in `path`, or makes one. A damaged one is repaired; ``watch`` tells what was lost. What takes
    /// long is told to `notes` before it begins.
    ///
    /// - Throws: ``StoreError`` when it cannot be used, another process uses it, or a newer version wrote it.
    package init(
        path: String, settings: StoreSettings = StoreSettings(), notes: LogTaker? = nil
    ) throws(StoreError) {
        limits = Mutex(settings)
        directory = try StoreDirectory(path)
        seal = try Store.seal(directory, settings.encryption)
        let opened = try Store.open(directory, seal, watch, notes)
        let facts = opened.facts
        receiveClock = ReceiveClock(after: facts.latestReceipt)
        mark = try StoreMark(directory)
        mark.write(facts.counts)
        counts = Mutex(facts.counts)
        keptBefore = facts.counts.kept
        if !facts.lost.isNone { watch.note(.error(facts.lost.note(directory.path))) }
        pool = opened.pool
        lastBlockAtStart = facts.lastBlock
        blocks = Atomic(facts.lastBlock + 1)
        series = Atomic(facts.lastSeries + 1)
        hasSeries = facts.lastSeries >= 0
        hasRetractions = facts.hasRetractions
        dropped = Mutex(facts.dropped)
        floor = facts.floor
        hasDropped.store(!facts.dropped.isEmpty || facts.floor != nil, ordering: .relaxed)
        latestAtStart = facts.latestWindow.map { Instant(nanoseconds: $0) } ?? .distantPast
        queue = try StoreQueue()
        queue.sequences.restore(facts.sequences)
        positions = StorePositions(facts.positions, queue)
        tail.begin(after: facts.lastBundle)
    }

    /// Opens the database, after a repair if it is damaged.
    private static func open(
        _ directory: StoreDirectory, _ seal: StoreSeal?, _ watch: StoreWatch, _ notes: LogTaker?
    ) throws(StoreError) -> (pool: DatabasePool, facts: StoreFacts) {
        let repair = StoreRepair(directory)
        if let reason = repair.reason() {
            try prepareRepair(directory, seal)
            watch.note(.error(try repair.run(reason, now: WallClock.now())))
        }
        try repair.create()
        do throws(StoreError) {
            return try openPool(directory, seal, watch, notes)
        } catch {
            guard error.kind == .damaged else { throw error }
            try prepareRepair(directory, seal)
            watch.note(.error(try repair.run(error.message, now: WallClock.now())))
            return try openPool(directory, seal, watch, notes)
        }
    }

    private static func openPool(
        _ directory: StoreDirectory, _ seal: StoreSeal?, _ watch: StoreWatch, _ notes: LogTaker?
    ) throws(StoreError) -> (pool: DatabasePool, facts: StoreFacts) {
        do {
            var configuration = try StorePages.configuration()
            configuration.maximumReaderCount = 8
            let pool = try DatabasePool(path: directory.database, configuration: configuration)
            // The pool itself sets NORMAL when it turns on the log.
            try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
            let version = try pool.read { try Int.fetchOne($0, sql: "PRAGMA user_version") ?? 0 }
            guard version <= StoreSchema.version else { throw StoreSchema.tooNew(version, directory.path) }
            if version < StoreSchema.version { try reserveAll(directory, seal) }
            if let extent = try pool.read({ try MigrationExtent($0) }) {
                try extent.check(directory, free: FileSystem.freeBytes(directory.path))
                notes?(.info(extent.note(directory)))
            }
            for note in try StoreSchema.prepare(pool).notes { watch.note(.warning(note)) }
            // Read first: to begin to count is a matter of old databases and new ones.
            if try pool.read({ try StoreCounts.read($0) }) == nil { try pool.write { try StoreCounts.begin($0) } }
            let facts = try pool.read { try StoreFacts($0) }
            if let marked = StoreMark.read(in: directory.path), marked.kept > facts.counts.kept {
                throw StoreError(
                    .damaged, "transactions with \(marked.kept - facts.counts.kept) acknowledged readings are missing")
            }
            return (pool, facts)
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(error, "open", directory.path)
        }
    }

    /// Notes what the last commit has added.
    func noteCommitted(_ added: StoreCounts) {
        guard added != StoreCounts() else { return }
        let sum = counts.withLock { counts in
            counts = counts + added
            return counts
        }
        mark.write(sum)
    }

    /// Readings that this run's commits have made durable.
    var keptInThisRun: Int { counts.withLock { $0.kept - keptBefore } }

    // MARK: For shards

    /// The number of a series.
    package func number(of key: [UInt8]) -> (number: Int, isNew: Bool) {
        if hasSeries, let known = find(key) { return (known, false) }
        return (series.add(1, ordering: .relaxed).oldValue, true)
    }

    private func find(_ key: [UInt8]) -> Int? { look { try $0.number(of: key) }.flatMap { $0 } }

    /// The keys of the series of `device` that are durable.
    package func series(ofDevice device: [UInt8]) -> [[UInt8]] {
        guard hasSeries else { return [] }
        // By its bytes: how the column compares texts is SQLite's matter.
        let keys = read { db in
            let sql = "SELECT key FROM series WHERE device = ?"
            return try Data.fetchAll(db, sql: sql, arguments: [String(decoding: device, as: UTF8.self)])
        }
        return (keys ?? []).map { [UInt8]($0) }.filter { key in
            key.withByteView { SeriesKey.device(of: $0).equals(device) }
        }
    }

    /// The number for the next block of the journal.
    package func nextBlock() -> Int64 { blocks.add(1, ordering: .relaxed).oldValue }

    /// The number that ``nextBlock()`` gives next, or a lower one.
    package var upcomingBlock: Int64 { blocks.load(ordering: .relaxed) }

    /// Appends the block of a window, as it was committed last.
    package func load(series: Int, windowStart: Instant, into writer: inout ByteWriter) -> ArchiveLookup {
        // What cannot be read may be there: a partial must not replace it.
        look { try $0.load(series: series, start: windowStart, into: &writer) } ?? .damaged
    }

    /// The time of the reading called `id` of a series, in an archived window.
    package func instant(ofReading id: [UInt8], series: Int) -> Instant? {
        look { try $0.instant(of: id, series: series) }.flatMap { $0 }
    }

    /// The retractions of `device` that are durable.
    package func retractions(ofDevice device: [UInt8]) -> [Retraction] {
        read { try StoredRetraction.read(ofDevice: device, $0) } ?? []
    }

    /// Finds a row on the calling thread; nil when that fails, as ``read(_:)`` does.
    private func look<Value>(_ body: (borrowing ArchiveReader) throws -> Value) -> Value? {
        guard watch.failure == nil else { return nil }
        var found: Value?
        do {
            try reader.withLock { reader in
                if reader == nil { reader = try ArchiveReader(path: directory.database) }
                found = try reader?.look(body)
            }
        } catch {
            fail(StoreError(error, "read", directory.path))
            return nil
        }
        return found
    }

    /// Whether `shard` waits for what the store's thread or a sink has to do first. Which shard waits for a commit is
    /// not known: while any does, all count as waiting.
    func isWaitedFor(by shard: Int) -> Bool {
        if awaited.load(ordering: .relaxed) > 0 || queue.waitingShards.contains(shard) { return true }
        return usage.withLock { $0.direct }?.waitingShards.contains(shard) ?? false
    }

    /// Waits until everything that was submitted before is durable.
    package func waitUntilCommitted() {
        awaited.add(1, ordering: .relaxed)
        defer { awaited.subtract(1, ordering: .relaxed) }
        usage.withLock { $0.direct }?.waitUntilDelivered()
        queue.waitUntilCommitted()
    }

    /// How far the journal is in the archived content of a window.
    package func archivedThrough(series: Int, windowStart: Instant) -> JournalPlace? {
        read { try DroppedWindows.through(series: series, start: windowStart, $0) }.flatMap { $0 }
    }

    /// The latest start of the windows of a series that were dropped.
    package func droppedThrough(series: Int) -> Instant? {
        guard hasDropped.load(ordering: .relaxed) else { return nil }
        let own = dropped.withLock { $0[series] }
        return [own, floor].compactMap { $0 }.max().map { Instant(nanoseconds: $0) }
    }

    /// Notes the latest starts of windows that are dropped, by series.
    func noteDropped(_ starts: [Int: Int64]) {
        guard !starts.isEmpty else { return }
        dropped.withLock { $0.merge(starts) { max($0, $1) } }
        hasDropped.store(true, ordering: .relaxed)
    }

    /// Says who takes bundles out, by place (``SinkRouting``), nil where a sink has gone. Sinks before that are not
    /// among them get nothing any more: what they have not taken leaves with the others, and is given up. New ones get
    /// what comes from here on.
    func begin(sinks: [String?]) throws(StoreError) {
        let former = usage.withLock { $0.sinks }
        let present = sinks.compactMap { $0 }
        let names = Set(present.map { IdentifierText($0) })
        do {
            try pool.write { db in
                for former in try String.fetchAll(db, sql: "SELECT name FROM sink")
                where !names.contains(IdentifierText(former)) {
                    try Store.giveUp(former, db)
                }
                for sink in present {
                    try db.execute(
                        sql: "INSERT OR IGNORE INTO sink VALUES (?, \(StoredOutbox.newest))", arguments: [sink])
                }
                // What only those that have gone waited for.
                try db.execute(sql: "DELETE FROM outbox WHERE number <= (SELECT min(through) FROM sink)")
                // Here, between two commits: each row is for the sinks that there are when it comes.
                usage.withLock { $0.sinks = sinks }
            }
        } catch {
            usage.withLock { $0.sinks = former }
            throw StoreError(error, "write to", directory.path)
        }
    }

    /// The names of the sinks of `route`, as the outbox has them; nil when these are all.
    func names(of route: BundleRoute) -> String? {
        let all = usage.withLock { $0.sinks.enumerated().compactMap { place, name in name.map { (place, $0) } } }
        let names = all.filter { route.contains($0.0) }.map(\.1)
        return names.count == all.count ? nil : OutboxRow.stored(names)
    }

    /// Says that lines of receipts are committed with what sinks have settled, and wait until those who take them have
    /// them: `progress` is of one.
    func begin(receipts progress: ReceiptProgress) {
        usage.withLock { usage in
            usage.receiptRun = usage.receiptRun ?? String(UInt64.random(in: .min ... .max), radix: 16)
            usage.receipts.append(progress)
        }
    }

    /// What tells the lines of this run from those of others, a repaired or older copy of the store included; nil where
    /// no receipts are kept.
    var receiptRun: String? { usage.withLock { $0.receiptRun } }

    /// How those who take receipts get on.
    var receiptProgress: [ReceiptProgress] { usage.withLock { $0.receipts } }

    /// Says that bundles go another way than through the outbox.
    func begin(direct: any UnitDelivery) { usage.withLock { $0.direct = direct } }

    /// What brings bundles another way; nil where they go through the outbox.
    var direct: (any UnitDelivery)? { usage.withLock { $0.direct } }

    /// Says how many shards there are: the journal is kept until all of them have said what they need.
    func begin(shards: Int) { usage.withLock { $0.shards = shards } }

    /// Whether `sink` takes bundles out, or has what an earlier run with an outbox left for it; any where nobody has
    /// said who does.
    func gives(to sink: String) -> Bool {
        usage.withLock { usage in
            usage.direct != nil || usage.sinks.isEmpty
                || usage.sinks.contains { $0.map { IdentifierText($0) == IdentifierText(sink) } ?? false }
        }
    }

    /// Who takes bundles out.
    var sinks: [String] { usage.withLock { $0.sinks.compactMap { $0 } } }

    /// What it may use at present.
    var settings: StoreSettings { limits.withLock { $0 } }

    /// Goes by the limits of `new` from here on.
    func follow(_ new: StoreSettings) { limits.withLock { $0.takeLimits(of: new) } }

    var shards: Int { usage.withLock { $0.shards } }

    /// Types of earlier runs, which a mapping set must continue.
    func formerTypes() throws(StoreError) -> [FormerType] {
        do {
            return try pool.read { try StoredTypes.formerTypes($0) }
        } catch {
            throw StoreError(error, "read the types of", directory.path)
        }
    }

    /// How much of ``StoreSettings/maxBytes`` is in use, as of the last commits.
    package var fill: StoreFill { StoreFill(bytes: usedBytes.load(ordering: .relaxed), limit: settings.maxBytes) }

    /// Notes how much is in use.
    func noteUsed(bytes: Int) { usedBytes.store(bytes, ordering: .relaxed) }

    /// Takes a unit; waits while too much is waiting already.
    package func submit(_ unit: ShardUnit) {
        guard let direct = usage.withLock({ $0.direct }) else { return queue.submit(unit) }
        var unit = unit
        let later = unit.splitWindows()
        queue.submit(unit)
        direct.submit(later)
    }

    /// Reads from the database on the calling thread; nil when that fails, which ends the process: nothing is committed
    /// any more.
    func read<Value>(_ body: (Database) throws -> Value) -> Value? {
        guard watch.failure == nil else { return nil }
        do {
            return try pool.read(body)
        } catch {
            fail(StoreError(error, "read", directory.path))
            return nil
        }
    }

    /// Notes that the store cannot go on. When what was written is damaged, the next start repairs it.
    func fail(_ error: StoreError) {
        var error = error
        if error.kind == .damaged {
            do throws(StoreError) {
                try directory.mark(error.message)
            } catch let failure {
                error.message += "; and the next start may not know of it: \(failure.message)"
            }
        }
        watch.fail(error)
    }

    /// Notes that the store cannot go on if what was written may not be on the disk: the system tells that once only.
    func failIfNotDurable(_ error: StoreError) {
        if error.kind == .syncFailed { fail(error) }
    }

    /// Moves what the log has into the database, whose pages are there already, and empties it: on a full disk the log
    /// may be what fills it.
    func shrinkLog() {
        do {
            try pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        } catch {
            // Else readers hold it, or there is no room for new pages: the next attempt tries again.
            failIfNotDurable(StoreError(error, "write to", directory.path))
        }
    }

    /// Closes the database; nothing may use the store afterwards.
    func close() {
        reader.withLock { $0 = nil }
        // So that a clean end leaves nothing in the log, whose end has no protection.
        if watch.failure == nil {
            shrinkLog()
            mark.synchronise()
        }
        try? pool.close()
    }
}
