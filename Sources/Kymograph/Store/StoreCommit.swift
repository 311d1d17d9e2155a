import Foundation
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
    /// Whether the journal has grown since it was trimmed.
    private var hasGrown = true
    private var retention: StoreRetention

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
        for unit in batch.units { needed[unit.shard] = unit.needed }
        var rows: [OutboxRow] = []
        do {
            // What sinks have taken makes room, and needs none.
            if !batch.units.isEmpty { try retention.check(store, adding: batch.byteCount) }
            rows = try store.pool.writeWithoutTransaction { db in
                var rows: [OutboxRow] = []
                try db.inTransaction(.immediate) {
                    rows = try write(batch, now, db)
                    CrashPoint.beforeCommit.pass()
                    return .commit
                }
                return rows
            }
        } catch let error as StoreError {
            throw error
        } catch {
            // What was noted as written is not.
            types = StoredTypes()
            hasGrown = true
            let error = StoreError(error, "write to", store.directory.path)
            if error.kind == .damaged { store.fail(error) }
            throw error
        }
        CrashPoint.afterCommit.pass()
        for row in rows { store.tail.append(row) }
        retention.noteCommit()
    }

    private mutating func write(_ batch: StoreBatch, _ now: Instant, _ db: Database) throws -> [OutboxRow] {
        var rows: [OutboxRow] = []
        if !batch.units.isEmpty { try types.update(mappings.current, db) }
        for unit in batch.units {
            try unit.series.forEach { try insert($0, db) }
            try unit.journal.map { try insert($0, shard: unit.shard, db) }
            for window in unit.windows { try insert(window, now, db) }
            for bundle in unit.bundles { rows.append(try insert(bundle, now, db)) }
        }
        for letter in batch.deadLetters { try insert(letter, db) }
        for (key, count) in batch.tallies { try add(count, to: key, db) }
        for settlement in batch.settlements { try settle(settlement, now, db) }
        try Store.quarantine(batch.damaged, now, db)
        try trim(db)
        store.noteDropped(try retention.drop(now, db))
        return rows
    }

    // MARK: Rows

    private func insert(_ series: ShardUnit.Series, _ db: Database) throws {
        let identity = series.key.withByteView { SeriesKey.identity($0) }
        func text(_ part: [UInt8]?) -> String? { part.map { String(decoding: $0, as: UTF8.self) } }
        try db.cachedStatement(sql: "INSERT OR IGNORE INTO series VALUES (?, ?, ?, ?, ?, ?, NULL)").execute(arguments: [
            series.number, Data(series.key), identity.type, text(identity.device) ?? "", text(identity.patient),
            text(identity.encounter),
        ])
    }

    private mutating func insert(_ block: JournalBlock, shard: Int, _ db: Database) throws {
        hasGrown = true
        let body = compressor.body(block.bytes)
        try db.cachedStatement(sql: "INSERT INTO journal VALUES (?, ?, ?, ?, ?, ?, ?)").execute(arguments: [
            block.number, shard, block.count, body.codec.rawValue, body.key, Int64(body.checksum), body.bytes,
        ])
    }

    private mutating func insert(_ window: ClosedWindow, _ now: Instant, _ db: Database) throws {
        guard !window.block.isEmpty else { return try recount(window, db) }
        let facts = window.facts
        let readings = (0..<16).map { facts.readings[$0] }
        let body = compressor.body(window.block)
        try db.cachedStatement(
            sql: """
                INSERT INTO window (start, series, "end", first, last, readings, sources, duplicates, conflicts,
                    revision, modified, through_block, through_index, codec, key_id, checksum, body)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (start, series) DO UPDATE SET "end" = excluded."end", first = excluded.first,
                    last = excluded.last, readings = excluded.readings, sources = excluded.sources,
                    duplicates = duplicates + excluded.duplicates, conflicts = conflicts + excluded.conflicts,
                    revision = revision + 1, modified = excluded.modified, through_block = excluded.through_block,
                    through_index = excluded.through_index, codec = excluded.codec, key_id = excluded.key_id,
                    checksum = excluded.checksum, body = excluded.body
                """
        ).execute(arguments: [
            window.start.nanoseconds, window.series, facts.end.nanoseconds, facts.firstReading.nanoseconds,
            facts.lastReading.nanoseconds, readings.reduce(0) { $0 + Int($1) }, StoreCommit.text(ofSources: readings),
            Int(facts.duplicates), Int(facts.conflicts), now.nanoseconds, window.through.block, window.through.index,
            body.codec.rawValue, body.key, Int64(body.checksum), body.bytes,
        ])
    }

    /// `source:count` pairs of the sources that have readings.
    private static func text(ofSources readings: [UInt32]) -> String {
        readings.indices.filter { readings[$0] > 0 }.map { "\($0):\(readings[$0])" }.joined(separator: " ")
    }

    private func recount(_ window: ClosedWindow, _ db: Database) throws {
        try db.cachedStatement(
            sql: """
                UPDATE window SET duplicates = duplicates + ?, conflicts = conflicts + ?, through_block = ?,
                    through_index = ? WHERE start = ? AND series = ?
                """
        ).execute(arguments: [
            Int(window.facts.duplicates), Int(window.facts.conflicts), window.through.block, window.through.index,
            window.start.nanoseconds, window.series,
        ])
    }

    private mutating func insert(_ bundle: [UInt8], _ now: Instant, _ db: Database) throws -> OutboxRow {
        let body = compressor.body(bundle)
        try db.cachedStatement(
            sql: "INSERT INTO outbox (created, size, codec, key_id, checksum, body) VALUES (?, ?, ?, ?, ?, ?)"
        ).execute(arguments: [
            now.nanoseconds, bundle.count, body.codec.rawValue, body.key, Int64(body.checksum), body.bytes,
        ])
        return OutboxRow(number: db.lastInsertedRowID, body: bundle)
    }

    private mutating func insert(_ letter: StoredDeadLetter, _ db: Database) throws {
        let body = compressor.body(letter.bytes)
        try db.cachedStatement(
            sql: """
                INSERT INTO dead (at, kind, reason, source, detail, codec, key_id, checksum, body)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            letter.at.nanoseconds, letter.kind, letter.reason, letter.source, letter.detail, body.codec.rawValue,
            body.key, Int64(body.checksum), body.bytes,
        ])
    }

    private func add(_ count: Int, to key: TallyKey, _ db: Database) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO tally VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (source, series, hour, outcome) DO UPDATE SET count = count + excluded.count
                """
        ).execute(arguments: [key.source, key.series, key.hour, key.outcome, count])
    }

    // MARK: What is no longer needed

    private mutating func settle(_ settlement: Settlement, _ now: Instant, _ db: Database) throws {
        CrashPoint.beforeReceipt.pass()
        try db.cachedStatement(sql: "INSERT OR REPLACE INTO sink VALUES (?, ?)").execute(arguments: [
            settlement.sink, settlement.through,
        ])
        for receipt in settlement.receipts {
            try db.cachedStatement(
                sql: """
                    INSERT INTO receipt (sink, outbox, resource, status, location, version, attempts, at)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                    """
            ).execute(arguments: [
                settlement.sink, receipt.row, receipt.resource, receipt.status, receipt.location, receipt.version,
                receipt.attempts, now.nanoseconds,
            ])
        }
        for entry in settlement.undeliverable {
            let letter = StoredDeadLetter(
                at: now, kind: "entry", reason: entry.reason.name, source: settlement.sink,
                detail: "\(entry.resource), row \(entry.row), sent \(entry.attempts) times: \(entry.detail)",
                bytes: entry.bytes)
            try insert(letter, db)
        }
        let names = store.sinks
        guard !names.isEmpty else { return }
        let marks = Array(repeating: "?", count: names.count).joined(separator: ", ")
        // A sink that has settled nothing yet has no row, and needs everything.
        let known = try Int.fetchOne(
            db, sql: "SELECT count(*) FROM sink WHERE name IN (\(marks))", arguments: StatementArguments(names))
        guard known == names.count else { return }
        let through = try Int64.fetchOne(
            db, sql: "SELECT min(through) FROM sink WHERE name IN (\(marks))", arguments: StatementArguments(names))
        try db.cachedStatement(sql: "DELETE FROM outbox WHERE number <= ?").execute(arguments: [through ?? 0])
    }

    private mutating func trim(_ db: Database) throws {
        guard needed.count == store.shards else { return }
        let oldest = needed.values.min() ?? 0
        guard hasGrown || oldest != trimmed else { return }
        CrashPoint.beforeTrim.pass()
        try db.cachedStatement(sql: "DELETE FROM journal WHERE number < ?").execute(arguments: [oldest])
        (trimmed, hasGrown) = (oldest, false)
        CrashPoint.afterTrim.pass()
    }
}
