import FoundationEssentials
import GRDB
import KymographCore

/// Writes batches to a store, one transaction each. For the store's thread alone.
struct StoreCommit: ~Copyable {
    private let store: Store
    private let mappings: MappingExchange
    private var types: StoredTypes
    private var compressor = BodyCompressor()
    /// The oldest block that each shard needs; a shard that has not said so needs all.
    private var needed: [Int: Int64] = [:]
    private var trimmed: Int64 = 0
    /// The last series that anything refers to, as it is noted in the database.
    private var lastSeries = -1
    /// Whether the journal has grown since it was trimmed.
    private var hasGrown = true
    private var retention: StoreRetention
    private var insertion: WindowInsertion?
    private var recounting: WindowRecount?
    private var successes = TypeSuccesses()
    private var arrivals = LetterArrivals()
    /// What is lost, after the batch has put a part of the journal aside.
    private var lost: LostReadings?

    init(_ store: Store, _ mappings: MappingExchange) {
        self.store = store
        self.mappings = mappings
        types = StoredTypes()
        retention = StoreRetention(store.settings)
    }

    /// Makes `batch` durable, all of it or nothing.
    mutating func commit(_ batch: StoreBatch, now: Instant) throws(StoreError) {
        if let failure = store.watch.failure { throw failure }
        CrashPoint.beforeWrite.pass()
        let former = (needed, trimmed, lastSeries, arrivals)
        for unit in batch.units where unit.needed != nil { needed[unit.shard] = unit.needed }
        var rows: [OutboxRow] = []
        do {
            // What sinks have taken makes room, and needs none.
            if !batch.units.isEmpty || batch.hasPutAside || !batch.payloads.isEmpty { try checkRoom(for: batch) }
            rows = try store.pool.writeWithoutTransaction { db in
                var rows: [OutboxRow] = []
                try db.inTransaction(.immediate) {
                    rows = try write(batch, now, db)
                    CrashPoint.beforeCommit.pass()
                    return .commit
                }
                return rows
            }
        } catch {
            // What was noted as written is not, and what builds on it may not go.
            types = StoredTypes()
            successes = TypeSuccesses()
            (needed, trimmed, lastSeries, arrivals) = former
            hasGrown = true
            if let error = error as? StoreError { throw error }
            let error = StoreError(error, "write to", store.directory.path)
            if error.kind == .damaged { store.fail(error) }
            throw error
        }
        store.noteCommitted(StoreCounts.added(by: batch))
        CrashPoint.afterCommit.pass()
        if let lost { store.watch.note(.error(lost.note(store.directory.path))) }
        lost = nil
        for row in rows { store.tail.append(row) }
        retention.noteCommit()
        if batch.hasPutAside { retention.tellLetters(store) }
    }

    /// Looks whether there is room, or the batch itself makes some.
    private mutating func checkRoom(for batch: StoreBatch) throws {
        do {
            try retention.check(store, adding: batch.byteCount)
        } catch let error as StoreError {
            guard error.kind == .full, makesRoom(batch.units) else { throw error }
        }
    }

    /// Whether committing `units` lets go of more of the journal than they add.
    func makesRoom(_ units: [ShardUnit]) -> Bool {
        var needed = needed
        for unit in units where unit.needed != nil { needed[unit.shard] = unit.needed }
        guard needed.count == store.shards, let oldest = needed.values.min(), oldest != trimmed else { return false }
        var added = 0
        for unit in units {
            added += unit.byteCount
            if let block = unit.journal, block.number < oldest { added -= block.bytes.count }
        }
        let freed = store.read { db in
            try Int.fetchOne(
                db, sql: "SELECT coalesce(sum(length(body)), 0) FROM journal WHERE number < ?", arguments: [oldest])
        }
        return freed.flatMap { $0 } ?? 0 > added
    }

    private mutating func write(_ batch: StoreBatch, _ now: Instant, _ db: Database) throws -> [OutboxRow] {
        var rows: [OutboxRow] = []
        if !batch.units.isEmpty { try types.update(mappings.current, db) }
        for unit in batch.units {
            try unit.series.forEach { try $0.insert(db) }
            try unit.journal.map { try insert($0, shard: unit.shard, db) }
            // Before windows: what has come again since is in one of them.
            for change in unit.retractions { try change.apply(db) }
            try add(LedgerOutcome.settled(unit.settledRetractions), db)
            var departures = WindowDepartures(store, newest: rows.last?.number ?? store.tail.newest)
            for block in unit.blocks {
                let row = try insert(block, now, db)
                rows.append(row)
                departures.note(row, of: block.route)
            }
            try insert(unit.windows, departures, now, db)
            try insert(unit.rejections, db)
        }
        try noteSeries(batch.units, db)
        for letter in batch.deadLetters { try insert(letter, db) }
        try StoredPayloads.insert(batch.payloads, &compressor, now: now, db)
        try add(batch.tallies, db)
        // Behind what came of them, and before they can be discarded.
        try arrivals.settle(with: batch, db)
        for change in batch.letterChanges { rows += try change.apply(now, db) }
        // Before they are settled, and leave.
        try Store.quarantine(batch.damaged, now, db)
        try StoreCounts.added(by: batch).add(latest: store.receiveClock.latest, db)
        if batch.damaged[.journal] != nil { lost = try StoreCounts.recountLost(db) }
        for settlement in batch.settlements { try settle(settlement, now, db) }
        if !batch.taken.isEmpty {
            try successes.note(batch.taken, among: mappings.current.types.map(\.name), now, db)
        }
        try batch.sequences.write(db)
        try batch.positions.write(db)
        if batch.hasTakenReceipts { try Settlement.dropLines(takenBy: store.receiptProgress, db) }
        try trim(db)
        store.noteDropped(try retention.drop(store, now, db))
        return rows
    }

    // MARK: Rows

    private mutating func noteSeries(_ units: [ShardUnit], _ db: Database) throws {
        var last = lastSeries
        for unit in units {
            for series in unit.series { last = max(last, series.number) }
            for place in 0..<unit.windows.count { last = max(last, unit.windows[place].series) }
        }
        guard last > lastSeries else { return }
        try StoreFacts.note(lastSeries: last, db)
        lastSeries = last
    }

    private mutating func insert(_ block: JournalBlock, shard: Int, _ db: Database) throws {
        hasGrown = true
        let body = compressor.body(block.bytes, level: StoreCommit.level(of: block))
        try db.cachedStatement(sql: "INSERT INTO journal VALUES (?, ?, ?, ?, ?, ?, ?)").execute(arguments: [
            block.number, shard, block.count, body.codec.rawValue, body.key, Int64(body.checksum), body.bytes,
        ])
    }

    /// The level of zstd for a block. Large ones come when readings come as fast as they can be taken: then time counts
    /// more than bytes, which leave again with the block.
    private static func level(of block: JournalBlock) -> Int32 { block.bytes.count < 32 << 10 ? 1 : -20 }

    private mutating func insert(
        _ windows: ClosedWindows, _ departures: WindowDepartures, _ now: Instant, _ db: Database
    ) throws {
        for place in 0..<windows.count {
            let window = windows[place]
            if window.hasBlock, !window.facts.isRestamped {
                let departure = departures.departure(of: window.facts)
                try windows.withBlock(of: window) { try insert(window, $0, departure, now, db) }
            } else {
                try windows.withBlock(of: window) { try recount(window, $0, db) }
            }
            try insert(windows.rejections(at: place), db)
            try insert(windows.named(at: place), series: window.series, db)
        }
    }

    /// Inserts a window with its content: packed already, and small, so that compressing it costs more than it saves.
    private mutating func insert(
        _ window: ClosedWindow, _ block: ByteView, _ departure: WindowDeparture?, _ now: Instant, _ db: Database
    ) throws {
        let departure = try window.facts.isRestored ? renew(window, departure, db) : departure
        if insertion == nil { insertion = try WindowInsertion.prepare(db) }
        try insertion?.insert(window, block, departure: departure, now: now)
    }

    private func insert(_ named: [NamedReading], series: Int, _ db: Database) throws {
        for reading in named {
            try db.cachedStatement(sql: "INSERT OR REPLACE INTO reading_id VALUES (?, ?, ?)").execute(arguments: [
                series, Data(reading.id), reading.instant.nanoseconds,
            ])
        }
    }

    /// Prepares for a newer version of a window. If the archive has dropped it while it was open, that is taken back:
    /// it comes again with all that it had.
    private func renew(
        _ window: ClosedWindow, _ departure: WindowDeparture?, _ db: Database
    ) throws -> WindowDeparture? {
        let statement = try db.cachedStatement(sql: "SELECT outbox, sinks FROM window WHERE start = ? AND series = ?")
        guard let row = try Row.fetchOne(statement, arguments: [window.start.nanoseconds, window.series]) else {
            try add(LedgerOutcome.recalled(window), db)
            return departure
        }
        return try departure?.keeping(row[1], of: row[0], db)
    }

    private func add(_ tallies: [TallyKey: Int], _ db: Database) throws {
        for (key, count) in tallies { try key.add(count, db) }
    }

    /// Counts what came again to a window; `block` has new receive times, if it has any.
    private mutating func recount(_ window: ClosedWindow, _ block: ByteView, _ db: Database) throws {
        if recounting == nil { recounting = try WindowRecount(db) }
        try recounting?.update(window, block)
        // The archive has dropped it in the meantime.
        if db.changesCount == 0 { try add(LedgerOutcome.missed(window), db) }
    }

    private mutating func insert(_ block: ShardUnit.Block, _ now: Instant, _ db: Database) throws -> OutboxRow {
        let body = compressor.body(block.bytes)
        let sinks = store.names(of: block.route)
        let number = try Store.insert(body, size: block.bytes.count, sinks: sinks, now, db)
        return OutboxRow(number: number, body: block.bytes, sinks: sinks, since: block.since)
    }

    private mutating func insert(_ letter: StoredDeadLetter, _ db: Database) throws {
        let body = compressor.body(letter.bytes)
        try db.cachedStatement(
            sql: """
                INSERT INTO dead (at, kind, reason, source, detail, resource, outbox, codec, key_id, checksum, body)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            letter.at.nanoseconds, letter.kind.rawValue, letter.reason, letter.source, letter.detail, letter.resource,
            letter.outbox, body.codec.rawValue, body.key, Int64(body.checksum), body.bytes,
        ])
        try letter.context?.insert(letter: db.lastInsertedRowID, db)
    }

    private mutating func insert(_ rejections: [KeptRejection], _ db: Database) throws {
        guard !rejections.isEmpty else { return }
        let types = mappings.current.types
        var tallies: [TallyKey: Int] = [:]
        for rejection in rejections {
            if !rejection.isKnown {
                let letter = rejection.payload.withByteView { StoredDeadLetter(rejection.reading, $0, types) }
                try insert(letter, db)
            }
            for key in rejection.tallies { tallies[key, default: 0] += 1 }
            try rejection.withdraw(db)
        }
        try add(tallies, db)
    }

    // MARK: What is no longer needed

    private mutating func settle(_ settlement: Settlement, _ now: Instant, _ db: Database) throws {
        CrashPoint.beforeReceipt.pass()
        // A row of a sink that has gone would keep the outbox for ever.
        if store.gives(to: settlement.sink) {
            try db.cachedStatement(sql: "INSERT OR REPLACE INTO sink VALUES (?, ?)").execute(arguments: [
                settlement.sink, settlement.through,
            ])
        }
        for entry in settlement.undeliverable {
            let sent = CountText.of(entry.attempts, "time")
            let letter = StoredDeadLetter(
                at: now, kind: .entry, reason: entry.reason.name, source: settlement.sink,
                detail: "\(entry.resource), row \(entry.row), sent \(sent): \(entry.detail)",
                bytes: entry.bytes, resource: entry.resource, outbox: entry.row)
            try insert(letter, db)
        }
        // After the letters: what is newer than one of them is noted.
        // Those of events tell of no version, and are as many as readings: their lines are enough.
        for receipt in settlement.receipts where receipt.subject?.eventType == nil {
            try receipt.insert(sink: settlement.sink, now, db)
        }
        if let run = store.receiptRun { try settlement.insertLines(of: run, now, db) }
        // A sink that has settled nothing yet has a row, too, and needs everything.
        try db.cachedStatement(sql: "DELETE FROM outbox WHERE number <= (SELECT min(through) FROM sink)").execute()
    }

    private mutating func trim(_ db: Database) throws {
        guard needed.count == store.shards else { return }
        let oldest = needed.values.min() ?? 0
        guard hasGrown || oldest != trimmed else { return }
        CrashPoint.beforeTrim.pass()
        try db.cachedStatement(sql: "DELETE FROM journal WHERE number < ?").execute(arguments: [oldest])
        try db.cachedStatement(sql: "DELETE FROM withdrawn WHERE block < ?").execute(arguments: [oldest])
        try DroppedWindows.trim(before: oldest, db)
        (trimmed, hasGrown) = (oldest, false)
        CrashPoint.afterTrim.pass()
    }
}
