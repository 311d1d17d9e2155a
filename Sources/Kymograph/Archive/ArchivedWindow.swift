import FoundationEssentials
import GRDB
package import KymographCore

/// A closed window as the archive has it; or an open one as it would be if it closed now.
package struct ArchivedWindow: Sendable {
    /// The store's number of the series.
    package var seriesNumber: Int
    /// Whose readings.
    package var series: SeriesIdentity
    /// Start; that of correlation windows is the epoch.
    package var start: Instant
    /// First instant after the window.
    package var end: Instant
    /// First reading.
    package var first: Instant
    /// Last reading.
    package var last: Instant
    /// Readings in it.
    package var readings: Int
    /// Readings by number of the source.
    package var sources: [(source: Int, count: Int)]
    /// Readings that added values to one that was there.
    package var merged: Int
    /// Readings that were there already.
    package var duplicates: Int
    /// Readings whose values differed from what was there.
    package var conflicts: Int
    /// How often it was written, from 1; of an open window before that, 0.
    package var revision: Int
    /// When it was written last; of an open window, when the last of its readings was received, if that is later.
    package var modified: Instant
    /// Whether it is open: the archive has nothing of it, or not the newest readings.
    package let isOpen: Bool
    /// The last row of the outbox that its Observations left with, or 0 when it did not leave through
    /// the outbox: it gave no Observation, or the only sink, of files or standard output, had it before the archive.
    package var outbox: Int64
    /// How far its content is in the journal.
    var through: JournalPlace
    /// The block with the readings; nil when it is damaged.
    private let block: [UInt8]?

    /// Everything that the columns of ``columns`` say.
    init(_ row: Row) {
        seriesNumber = row["series"]
        let key: Data = row["key"]
        series = [UInt8](key).withByteView { SeriesKey.identity($0) }
        start = Instant(nanoseconds: row["start"])
        end = Instant(nanoseconds: row["end"])
        first = Instant(nanoseconds: row["first"])
        last = Instant(nanoseconds: row["last"])
        readings = row["readings"]
        sources = SourceShares.parse(row["sources"])
        merged = row["merged"]
        duplicates = row["duplicates"]
        conflicts = row["conflicts"]
        revision = row["revision"]
        modified = Instant(nanoseconds: row["modified"])
        outbox = row["outbox"]
        isOpen = false
        through = JournalPlace(block: row["through_block"], index: row["through_index"])
        block = StoredBody.content(
            codec: row["codec"], key: row["key_id"], checksum: row["checksum"], bytes: row["body"])
    }

    /// An open window called `name`, which the archive has as `former`, if it has it.
    init(
        openAt name: ArchiveCursor, of series: SeriesIdentity, _ facts: WindowFacts, content: [UInt8],
        former: ArchivedWindow?
    ) {
        (seriesNumber, self.series, start) = (name.series, series, Instant(nanoseconds: name.start))
        (end, first, last) = (facts.end, facts.firstReading, facts.lastReading)
        sources = facts.readings.indices.filter { facts.readings[$0] > 0 }.map { ($0, Int(facts.readings[$0])) }
        readings = sources.reduce(0) { $0 + $1.count }
        merged = (former?.merged ?? 0) + Int(facts.merged)
        duplicates = (former?.duplicates ?? 0) + Int(facts.duplicates)
        conflicts = (former?.conflicts ?? 0) + Int(facts.conflicts)
        (revision, outbox) = (former?.revision ?? 0, former?.outbox ?? 0)
        modified = former?.modified ?? .distantPast
        through = former?.through ?? JournalPlace(block: 0, index: 0)
        (isOpen, block) = (true, content)
        var latest = modified
        _ = forEachReading { reading, _ in latest = max(latest, reading.received) }
        modified = latest
    }

    /// The closed window called `name`; nil when there is none.
    static func read(_ name: ArchiveCursor, _ db: Database) throws -> ArchivedWindow? {
        try Row.fetchOne(
            db,
            sql: """
                SELECT \(columns) FROM window JOIN series ON series.number = window.series
                WHERE window.start = ? AND window.series = ?
                """, arguments: [name.start, name.series]
        ).map(ArchivedWindow.init)
    }

    /// Whether both have the same readings.
    func hasContent(of other: ArchivedWindow) -> Bool { block == other.block }

    /// What a query of `window` joined with `series` must select.
    static let columns = "window.*, series.key"

    /// Where to go on after this window.
    package var cursor: ArchiveCursor { ArchiveCursor(start: start.nanoseconds, series: seriesNumber) }

    /// Calls `body` with each reading and its value records; false when the block is damaged.
    package func forEachReading(_ body: (KymographCore.Measurement, ByteView) throws -> Void) rethrows -> Bool {
        guard let block else { return false }
        return try block.withByteView { bytes in
            guard var decoder = ArchivedReadings(bytes) else { return false }
            while let (reading, payload) = decoder.next() { try body(reading, payload) }
            return decoder.isComplete
        }
    }
}

extension StoreReader {
    /// Windows, latest start first, at most `limit` of them, after the place of `cursor`; with those of `open`.
    ///
    /// - Throws: ``PipelineError`` when the database cannot be read.
    package func windows(
        _ filter: ArchiveFilter, with open: inout OpenSelection, after cursor: ArchiveCursor? = nil, limit: Int
    ) throws(PipelineError) -> [ArchivedWindow] {
        try read { db in
            try open.read(filter, db)
            let closed = try StoreReader.windows(db, filter, except: open, after: cursor, limit: limit)
            guard open.isAsked else { return closed }
            return StoreReader.merged(closed, open.windows(after: cursor, limit: limit), limit: limit)
        }
    }

    /// The same, closed ones alone.
    ///
    /// - Throws: ``PipelineError`` when the database cannot be read.
    package func windows(
        _ filter: ArchiveFilter, after cursor: ArchiveCursor? = nil, limit: Int
    ) throws(PipelineError) -> [ArchivedWindow] {
        try read { db in
            try StoreReader.windows(db, filter, except: OpenSelection(isAsked: false), after: cursor, limit: limit)
        }
    }

    private static func windows(
        _ db: Database, _ filter: ArchiveFilter, except open: OpenSelection, after cursor: ArchiveCursor?, limit: Int
    ) throws -> [ArchivedWindow] {
        let types = try StoredTypes.types(db)
        var (condition, arguments) = filter.condition(types: types, understood: true)
        if let cursor {
            condition += " AND (window.start, window.series) < (?, ?)"
            arguments += [cursor.start, cursor.series]
        }
        // Tags are in the readings: windows without one do not count, nor do those that are open again.
        arguments += [filter.tags == nil && !open.isAsked ? limit : -1]
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT \(ArchivedWindow.columns) FROM window JOIN series ON series.number = window.series
                WHERE \(condition) ORDER BY window.start DESC, window.series DESC LIMIT ?
                """, arguments: arguments)
        var windows: [ArchivedWindow] = []
        while windows.count < limit, let row = try rows.next() {
            let window = ArchivedWindow(row)
            guard !open.replaces(window.cursor) else { continue }
            if filter.tags?.matches(window, type: types[window.series.type].name) ?? true { windows.append(window) }
        }
        return windows
    }

    /// The first `limit` of both, each of which is in the order of a cursor.
    private static func merged(
        _ closed: [ArchivedWindow], _ open: ArraySlice<ArchivedWindow>, limit: Int
    ) -> [ArchivedWindow] {
        var (merged, closed, open) = ([ArchivedWindow](), closed[...], open)
        while merged.count < limit {
            guard let first = closed.first else { return merged + open.prefix(limit - merged.count) }
            guard let other = open.first else { return merged + closed.prefix(limit - merged.count) }
            if first.cursor.comes(before: other.cursor) {
                merged.append(closed.removeFirst())
            } else {
                merged.append(open.removeFirst())
            }
        }
        return merged
    }

    /// How much there is: windows and their readings; with those of `open`.
    ///
    /// - Throws: ``PipelineError`` when the database cannot be read.
    package func count(
        _ filter: ArchiveFilter, with open: inout OpenSelection
    ) throws(PipelineError) -> (windows: Int, readings: Int) {
        try read { db in
            try open.read(filter, db)
            let closed = try StoreReader.count(db, filter, except: open)
            return (closed.windows + open.total.windows, closed.readings + open.total.readings)
        }
    }

    private static func count(
        _ db: Database, _ filter: ArchiveFilter, except open: OpenSelection
    ) throws -> (windows: Int, readings: Int) {
        guard filter.tags == nil else {
            let tagged = try windows(db, filter, except: open, after: nil, limit: .max)
            return (tagged.count, tagged.reduce(0) { $0 + $1.readings })
        }
        let (condition, arguments) = filter.condition(types: try StoredTypes.types(db), understood: true)
        let from = "FROM window JOIN series ON series.number = window.series WHERE \(condition)"
        guard open.isAsked else {
            let row = try Row.fetchOne(
                db, sql: "SELECT count(*), coalesce(sum(window.readings), 0) \(from)", arguments: arguments)
            return (row?[0] ?? 0, row?[1] ?? 0)
        }
        var found = (windows: 0, readings: 0)
        let rows = try Row.fetchCursor(
            db, sql: "SELECT window.start, window.series, window.readings \(from)", arguments: arguments)
        while let row = try rows.next() {
            guard !open.replaces(ArchiveCursor(start: row[0], series: row[1])) else { continue }
            found = (found.windows + 1, found.readings + row[2])
        }
        return found
    }
}
