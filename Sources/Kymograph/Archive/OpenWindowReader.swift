import FoundationEssentials
import GRDB
import KymographCore

/// Puts open windows together from the journal: what a closed one of their place had, and what has come since. A
/// running instance has the same in memory, but for what it has not committed yet.
struct OpenWindowReader {
    /// Names a window.
    private struct Name: Hashable {
        var series: Int
        var start: Int64
    }

    fileprivate struct Content {
        /// How far the journal is in the archive's content of it; nil when that has none.
        var through: JournalPlace?
        /// How often it was written.
        var revision = 0
        var readings: [ArchivedWindow.OpenReading] = []
        /// Whether the journal has anything of it that the archive does not have.
        var isOpen = false
    }

    private let types: [MeasurementType]
    private let series: [Int: StoredSeries]
    private let withdrawn: Set<JournalPlace>
    private var windows: [Name: Content] = [:]

    /// Reads what the journal has of `series`.
    init(_ series: [StoredSeries], types: [MeasurementType], _ db: Database) throws {
        self.types = types
        self.series = series.reduce(into: [:]) { $0[$1.number] = $1 }
        let places = try Row.fetchAll(db, sql: "SELECT block, place FROM withdrawn WHERE supersedes = 0")
        withdrawn = Set(places.map { JournalPlace(block: $0[0], index: $0[1]) })
        let rows = try Row.fetchCursor(
            db, sql: "SELECT number, codec, key_id, checksum, body FROM journal ORDER BY number")
        while let row = try rows.next() {
            let content = StoredBody.content(codec: row[1], key: row[2], checksum: row[3], bytes: row[4])
            try content?.withByteView { try take($0, number: row[0], db) }
        }
    }

    private mutating func take(_ block: ByteView, number: Int64, _ db: Database) throws {
        guard var reader = JournalReader(block) else { return }
        while let record = reader.next() {
            let place = JournalPlace(block: number, index: reader.read - 1)
            guard let series = series[record.series], !withdrawn.contains(place) else { continue }
            let start = series.grouping.archiveStart(around: record.reading.instant).nanoseconds
            let name = Name(series: record.series, start: start)
            var content = try windows.removeValue(forKey: name) ?? archived(name, db)
            if content.through.map({ place >= $0 }) ?? true { content.take(record) }
            windows[name] = content
        }
    }

    private func archived(_ name: Name, _ db: Database) throws -> Content {
        let start = Instant(nanoseconds: name.start)
        var content = Content(through: try DroppedWindows.through(series: name.series, start: start, db))
        guard let head = try WindowHead.read(start: name.start, series: name.series, db),
            let window = try head.window(db)
        else { return content }
        content.revision = window.revision
        _ = window.forEachReading { reading, payload in
            content.readings.append(.init(reading: reading, payload: payload.array))
        }
        return content
    }

    /// The windows, latest start first.
    func all() -> [ArchivedWindow] {
        windows.compactMap { name, content -> ArchivedWindow? in
            guard content.isOpen, let series = series[name.series] else { return nil }
            return ArchivedWindow(
                open: content.readings, of: series, start: Instant(nanoseconds: name.start),
                revision: content.revision)
        }.sorted { ($0.start, $0.seriesNumber) > ($1.start, $1.seriesNumber) }
    }
}

extension OpenWindowReader.Content {
    fileprivate mutating func take(_ record: JournalReader.Record) {
        isOpen = true
        let payload = record.payload.array
        guard record.moves else {
            return readings.append(.init(reading: record.plain, payload: payload))
        }
        // It has left this window: what it became follows, unless it was taken back.
        let same = readings.lastIndex { $0.reading.instant == record.reading.instant && $0.payload == payload }
        if let same { readings.remove(at: same) }
    }
}

extension StoreReader {
    /// The windows that are not closed, latest start first: what a closed one has is among their readings, when late
    /// readings have opened it again. None when `filter` asks when windows were written.
    ///
    /// - Throws: ``PipelineError`` when the database cannot be read.
    package func openWindows(_ filter: ArchiveFilter) throws(PipelineError) -> [ArchivedWindow] {
        guard filter.modifiedFrom == nil, filter.modifiedTo == nil else { return [] }
        return try read { db in
            let types = try StoredTypes.read(db).compactMap(\.type)
            let series = try StoredSeries.read(devices: filter.devices, subjects: nil, types: types, db).filter { one in
                filter.isWanted(types[one.identity.type])
                    && (filter.patients.map { patients in one.patient.map(patients.contains) ?? false } ?? true)
            }
            return try OpenWindowReader(series, types: types, db).all().filter { window in
                window.last >= filter.from ?? .distantPast && window.first < filter.to ?? .distantFuture
                    && (filter.sources.map { wanted in window.sources.contains { wanted.contains($0.source) } } ?? true)
                    && (filter.tags?.matches(window, type: types[window.series.type].name) ?? true)
            }
        }
    }
}
