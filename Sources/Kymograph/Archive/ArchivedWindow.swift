import FoundationEssentials
import GRDB
package import KymographCore

/// A closed window as the archive has it.
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
    /// How often it was written, from 1.
    package var revision: Int
    /// When it was written last.
    package var modified: Instant
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
        through = JournalPlace(block: row["through_block"], index: row["through_index"])
        block = StoredBody.content(
            codec: row["codec"], key: row["key_id"], checksum: row["checksum"], bytes: row["body"])
    }

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
    /// Windows, latest start first, at most `limit` of them, after the place of `cursor`.
    ///
    /// - Throws: ``PipelineError`` when the database cannot be read.
    package func windows(
        _ filter: ArchiveFilter, after cursor: ArchiveCursor? = nil, limit: Int
    ) throws(PipelineError) -> [ArchivedWindow] {
        try read { try StoreReader.windows($0, filter, after: cursor, limit: limit) }
    }

    static func windows(
        _ db: Database, _ filter: ArchiveFilter, after cursor: ArchiveCursor?, limit: Int
    ) throws -> [ArchivedWindow] {
        let types = try StoredTypes.read(db).compactMap(\.type)
        var (condition, arguments) = filter.condition(types: types)
        if let cursor {
            condition += " AND (window.start, window.series) < (?, ?)"
            arguments += [cursor.start, cursor.series]
        }
        // Tags are in the readings: windows without one do not count.
        arguments += [filter.tags == nil ? limit : -1]
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT \(ArchivedWindow.columns) FROM window JOIN series ON series.number = window.series
                WHERE \(condition) ORDER BY window.start DESC, window.series DESC LIMIT ?
                """, arguments: arguments)
        var windows: [ArchivedWindow] = []
        while windows.count < limit, let row = try rows.next() {
            let window = ArchivedWindow(row)
            if filter.tags?.matches(window, type: types[window.series.type].name) ?? true { windows.append(window) }
        }
        return windows
    }

    /// How much there is: windows and their readings.
    ///
    /// - Throws: ``PipelineError`` when the database cannot be read.
    package func count(_ filter: ArchiveFilter) throws(PipelineError) -> (windows: Int, readings: Int) {
        guard filter.tags == nil else {
            let tagged = try windows(filter, limit: .max)
            return (tagged.count, tagged.reduce(0) { $0 + $1.readings })
        }
        return try read { db in
            let (condition, arguments) = filter.condition(types: try StoredTypes.read(db).compactMap(\.type))
            let row = try Row.fetchOne(
                db,
                sql: """
                    SELECT count(*), coalesce(sum(window.readings), 0) FROM window
                    JOIN series ON series.number = window.series WHERE \(condition)
                    """, arguments: arguments)
            return (row?[0] ?? 0, row?[1] ?? 0)
        }
    }
}
