import CSQLite
import FoundationEssentials
import GRDB
import KymographCore

/// Inserts windows by SQLite's own interface: a closing round of a thousand devices is a thousand rows, and binding
/// their values through GRDB took three times as long as SQLite itself.
@safe
struct WindowInsertion: ~Copyable, @unchecked Sendable {
    private let statement: OpaquePointer
    private let connection: OpaquePointer
    /// What the parameters of this number are bound to.
    private var numbers = InlineArray<16, Int64>(repeating: 0)
    /// The text of a window's sources.
    private var sources = ByteWriter(capacity: 256)

    /// Prepares for `db`, on whose thread all else happens. A window that is there already gets another content and the
    /// next number, so that numbers are in the order of the last change. When its Observations stay as they are, or go
    /// another way than through the outbox, so do the sinks that may wait for them.
    static func prepare(_ db: Database) throws -> WindowInsertion {
        // Safe: the connection lives as long as the database, which outlives this.
        guard let connection = unsafe db.sqliteConnection else { throw DatabaseError(resultCode: .SQLITE_MISUSE) }
        var prepared: OpaquePointer?
        let coding = "\(BodyCodec.plain.rawValue), \(StoredBody.noKey)"
        let sql = """
            INSERT INTO window (start, series, "end", first, last, readings, sources, duplicates, conflicts, revision,
                modified, through_block, through_index, codec, key_id, checksum, merged, outbox, body, sinks)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, \(coding), ?, ?, ?, ?, ?)
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
        for parameter in 1..<numbers.count {
            // Safe: the statement has this parameter.
            unsafe sqlite3_bind_int64(statement, Int32(parameter), 0)
        }
    }

    deinit {
        // Safe: made by ``prepare(_:)``, and finalised once. A connection that was closed before waits for it.
        unsafe sqlite3_finalize(statement)
    }

    /// Inserts `window`, whose content is `block`, as it is now; its Observations left as `departure`
    /// says, if they did.
    mutating func insert(_ window: ClosedWindow, _ block: ByteView, departure: WindowDeparture?, now: Instant) throws {
        bind(window, now)
        bind(Int64(BodyCompressor.checksum(block)), to: 13)
        bind(departure?.row ?? 0, to: 15)
        sources.removeAll()
        bind(Int64(window.facts.appendSources(to: &sources)), to: 6)
        let code = step(block, sinks: departure?.sinks)
        // Asked before anything else happens to the connection.
        let failure = code == SQLITE_DONE ? nil : lastError
        unsafe sqlite3_reset(statement)
        if departure != nil { unbindSinks() }
        if let failure { throw failure }
    }

    /// The next window may have none. Only a statement that was reset takes this.
    private func unbindSinks() {
        // Safe: the statement has this parameter.
        let code = unsafe sqlite3_bind_null(statement, 17)
        precondition(code == SQLITE_OK)
    }

    private mutating func bind(_ window: ClosedWindow, _ now: Instant) {
        bind(window.start.nanoseconds, to: 1)
        bind(Int64(window.series), to: 2)
        bind(window.facts.end.nanoseconds, to: 3)
        bind(window.facts.firstReading.nanoseconds, to: 4)
        bind(window.facts.lastReading.nanoseconds, to: 5)
        bind(Int64(window.facts.duplicates), to: 8)
        bind(Int64(window.facts.conflicts), to: 9)
        bind(now.nanoseconds, to: 10)
        bind(window.through.block, to: 11)
        bind(Int64(window.through.index), to: 12)
        bind(Int64(window.facts.merged), to: 14)
    }

    /// Binds texts and bytes, and inserts.
    private func step(_ block: ByteView, sinks: String?) -> Int32 {
        let (text, body) = unsafe (sources.view.unsafeBuffer, block.unsafeBuffer)
        // Safe: they outlive the step, and are bound anew before the next one.
        unsafe sqlite3_bind_text(
            statement, 7, text.assumingMemoryBound(to: CChar.self).baseAddress, Int32(text.count), nil)
        unsafe sqlite3_bind_blob64(statement, 16, body.baseAddress, UInt64(body.count), nil)
        guard let sinks else { return unsafe sqlite3_step(statement) }
        return unsafe sinks.withCString { sinks in
            // Safe: it outlives the step, and is unbound before the next one.
            unsafe sqlite3_bind_text(statement, 17, sinks, -1, nil)
            return unsafe sqlite3_step(statement)
        }
    }

    /// Binds what differs from the window before: most numbers of windows that close together are the same.
    @inline(__always)
    private mutating func bind(_ number: Int64, to parameter: Int) {
        guard number != numbers[parameter] else { return }
        numbers[parameter] = number
        // Safe: the statement has this parameter, and was reset.
        let code = unsafe sqlite3_bind_int64(statement, Int32(parameter), number)
        precondition(code == SQLITE_OK)
    }

    /// What went wrong with the last call.
    private var lastError: DatabaseError {
        // Safe: the connection is open, and the text is copied before it can change.
        let extended = unsafe sqlite3_extended_errcode(connection)
        let text = unsafe sqlite3_errmsg(connection).map { unsafe String(cString: $0) }
        return DatabaseError(resultCode: ResultCode(rawValue: extended), message: text)
    }
}
