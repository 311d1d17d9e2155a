import FoundationEssentials
import GRDB
import KymographCore

/// Inserts windows by SQLite's own interface: a closing round of a thousand devices is a thousand rows, and binding
/// their values through GRDB took three times as long as SQLite itself.
struct WindowInsertion: ~Copyable {
    private let statement: WindowStatement
    /// What the parameters of this number are bound to.
    private var numbers = InlineArray<16, Int64>(repeating: 0)
    /// The text of a window's sources.
    private var sources = ByteWriter(capacity: 256)
    /// That of its sinks.
    private var sinks = ByteWriter(capacity: 256)

    /// Prepares for `db`, on whose thread all else happens. A window that is there already gets another content and the
    /// next number, so that numbers are in the order of the last change. When its Observations stay as they are, or go
    /// another way than through the outbox, so do the sinks that may wait for them.
    ///
    /// - Throws: `DatabaseError` when SQLite does not take it.
    static func prepare(_ db: Database) throws -> WindowInsertion {
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
        return WindowInsertion(try WindowStatement(sql, db))
    }

    private init(_ statement: consuming WindowStatement) {
        self.statement = statement
        for parameter in 1..<numbers.count { self.statement.bind(0, to: parameter) }
    }

    /// Inserts `window`, whose content is `block`, as it is now; its Observations left as `departure`
    /// says, if they did.
    ///
    /// - Throws: `DatabaseError` when SQLite fails.
    mutating func insert(_ window: ClosedWindow, _ block: ByteView, departure: WindowDeparture?, now: Instant) throws {
        bind(window, now)
        bind(Int64(BodyCompressor.checksum(block)), to: 13)
        bind(departure?.row ?? 0, to: 15)
        sources.removeAll()
        bind(Int64(window.facts.appendSources(to: &sources)), to: 6)
        statement.bind(text: sources.view, to: 7)
        statement.bind(block, to: 16)
        guard let departure else { return try statement.run() }
        sinks.removeAll()
        for byte in departure.sinks.utf8 { sinks.append(byte) }
        statement.bind(text: sinks.view, to: 17)
        // The next window may have none.
        defer { statement.unbind(17) }
        try statement.run()
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

    /// Binds what differs from the window before: most numbers of windows that close together are the same.
    @inline(__always)
    private mutating func bind(_ number: Int64, to parameter: Int) {
        guard number != numbers[parameter] else { return }
        numbers[parameter] = number
        statement.bind(number, to: parameter)
    }
}
