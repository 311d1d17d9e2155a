import CSQLite
import Foundation
import GRDB
import KymographCore

/// Inserts windows by SQLite's own interface: a closing round of a thousand devices is a thousand rows, and binding
/// their 19 values through GRDB took three times as long as SQLite itself.
@safe
struct WindowInsertion: ~Copyable, @unchecked Sendable {
    private let statement: OpaquePointer
    private let connection: OpaquePointer

    /// Prepares for `db`, on whose thread all else happens. A window that is there already gets another content and the
    /// next number, so that numbers are in the order of the last change. When its Observations stay as they are, or go
    /// another way than through the outbox, so do the sinks that may wait for them.
    static func prepare(_ db: Database) throws -> WindowInsertion {
        // Safe: the connection lives as long as the database, which outlives this.
        guard let connection = unsafe db.sqliteConnection else { throw DatabaseError(resultCode: .SQLITE_MISUSE) }
        var prepared: OpaquePointer?
        let sql = """
            INSERT INTO window (start, series, "end", first, last, readings, sources, duplicates, conflicts, revision,
                modified, through_block, through_index, codec, key_id, checksum, merged, outbox, body, sinks)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (start, series) DO UPDATE SET number = (SELECT max(number) + 1 FROM window),
                "end" = excluded."end", first = excluded.first,
                last = excluded.last, readings = excluded.readings, sources = excluded.sources,
                merged = merged + excluded.merged, outbox = max(outbox, excluded.outbox),
                sinks = coalesce(excluded.sinks, sinks),
                duplicates = duplicates + excluded.duplicates, conflicts = conflicts + excluded.conflicts,
                revision = revision + 1, modified = excluded.modified, through_block = excluded.through_block,
                through_index = excluded.through_index, codec = excluded.codec, key_id = excluded.key_id,
                checksum = excluded.checksum, body = excluded.body
            """
        // Safe: the text outlives the call.
        let code = unsafe sqlite3_prepare_v3(
            connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        guard code == SQLITE_OK, let statement = unsafe prepared else {
            throw DatabaseError(resultCode: ResultCode(rawValue: code))
        }
        return unsafe WindowInsertion(statement, connection)
    }

    private init(_ statement: OpaquePointer, _ connection: OpaquePointer) {
        unsafe self.statement = statement
        unsafe self.connection = connection
    }

    deinit {
        // Safe: made by ``prepare(_:)``, and finalised once. A connection that was closed before waits for it.
        unsafe sqlite3_finalize(statement)
    }

    /// Inserts `window`, which has a content, as it is now; its Observations left with rows up to `carrier`, if any.
    func insert(_ window: ClosedWindow, _ body: StoredBody, carrier: OutboxCarrier?, now: Instant) throws {
        let facts = window.facts
        var total: Int64 = 0
        for source in 0..<16 { total += Int64(facts.readings[source]) }
        let numbers: [Int64] = [
            window.start.nanoseconds, Int64(window.series), facts.end.nanoseconds, facts.firstReading.nanoseconds,
            facts.lastReading.nanoseconds, total,
        ]
        let more: [Int64] = [
            Int64(facts.duplicates), Int64(facts.conflicts), now.nanoseconds, window.through.block,
            Int64(window.through.index), Int64(body.codec.rawValue), Int64(body.key), Int64(body.checksum),
            Int64(facts.merged), carrier?.row ?? 0,
        ]
        bind(numbers, from: 1)
        let sources = facts.sourcesText
        // Safe: the texts and bytes outlive the step, and are unbound before they go.
        let code = unsafe sources.withCString { text in
            unsafe sqlite3_bind_text(statement, 7, text, -1, nil)
            bind(more, from: 8)
            return unsafe (carrier?.sinks ?? "").withCString { sinks in
                if carrier != nil { unsafe sqlite3_bind_text(statement, 19, sinks, -1, nil) }
                return unsafe body.bytes.withUnsafeBytes { bytes in
                    unsafe sqlite3_bind_blob64(statement, 18, bytes.baseAddress, UInt64(bytes.count), nil)
                    return unsafe sqlite3_step(statement)
                }
            }
        }
        // Asked before anything else happens to the connection.
        let failure = code == SQLITE_DONE ? nil : lastError
        unsafe sqlite3_reset(statement)
        unsafe sqlite3_clear_bindings(statement)
        if let failure { throw failure }
    }

    /// What went wrong with the last call.
    private var lastError: DatabaseError {
        // Safe: the connection is open, and the text is copied before it can change.
        let extended = unsafe sqlite3_extended_errcode(connection)
        let text = unsafe sqlite3_errmsg(connection).map { unsafe String(cString: $0) }
        return DatabaseError(resultCode: ResultCode(rawValue: extended), message: text)
    }

    private func bind(_ numbers: [Int64], from first: Int32) {
        for (place, number) in numbers.enumerated() {
            // Safe: the statement has this many parameters.
            unsafe sqlite3_bind_int64(statement, first + Int32(place), number)
        }
    }
}

extension WindowFacts {
    /// `source:count` pairs of the sources that have readings.
    var sourcesText: String {
        var text = ""
        for source in 0..<16 where readings[source] > 0 {
            if !text.isEmpty { text += " " }
            text += "\(source):\(readings[source])"
        }
        return text
    }
}
