import FoundationEssentials
import GRDB
package import KymographCore

/// The windows that are open beside the closed ones that are asked for: of one state of the store, that in which they
/// were asked for first. A closed window with newer readings in the journal is open again, and counts as open alone.
package struct OpenSelection: Sendable {
    /// Whether open windows are asked for.
    package let isAsked: Bool
    private var isRead = false
    /// Those that the filter has, latest start first.
    private var windows: [ArchivedWindow] = []
    /// The names of all of them, whatever the filter has.
    private var names: Set<ArchiveCursor> = []
    /// Blocks of the journal that could not be read whole.
    package private(set) var damagedBlocks = 0
    /// Readings that are left out, by the reason for which the next start would reject them.
    package private(set) var rejected: [Rejection: Int] = [:]

    /// Open windows, if they are asked for.
    package init(isAsked: Bool) { self.isAsked = isAsked }

    /// How many windows it has, and how many readings these have.
    package var total: (windows: Int, readings: Int) { (windows.count, windows.reduce(0) { $0 + $1.readings }) }

    /// Whether the closed window of this name is open again.
    func replaces(_ name: ArchiveCursor) -> Bool { names.contains(name) }

    /// The first `limit` behind `cursor`.
    func windows(after cursor: ArchiveCursor?, limit: Int) -> ArraySlice<ArchivedWindow> {
        var (low, high) = (0, windows.count)
        while let cursor, low < high {
            let middle = (low + high) / 2
            if windows[middle].cursor.comes(before: cursor) || windows[middle].cursor == cursor {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return windows[low...].prefix(limit)
    }

    // MARK: Reading

    /// Reads them, unless that was done before or they are not asked for.
    mutating func read(_ filter: ArchiveFilter, _ db: Database) throws {
        guard isAsked, !isRead else { return }
        let types = try StoredTypes.types(db)
        let archive = try SnapshotArchive(db)
        try readJournal(types, archive, of: try StoredSeries.numbers(ofDevicesIn: filter, types, db), db)
        if let failure = archive.failure { throw failure }
        names = Set(archive.windows.map(\.cursor))
        windows = archive.windows.filter { filter.isMet(by: $0, type: types[$0.series.type]) }
            .sorted { $0.cursor.comes(before: $1.cursor) }
        isRead = true
    }

    /// Gives `archive` the windows that the journal leaves open of the series `wanted`, nil for all.
    private mutating func readJournal(
        _ types: [MeasurementType], _ archive: SnapshotArchive, of wanted: Set<Int>?, _ db: Database
    ) throws {
        var keys: [Int: [UInt8]?] = [:]
        func key(_ number: Int) throws -> [UInt8]? {
            guard wanted?.contains(number) ?? true else { return nil }
            if let known = keys[number] { return known }
            let found = try StoredSeries.key(number, types, db)
            keys[number] = .some(found)
            return found
        }
        var unclosed = UnclosedWindows(types: types, archive: archive)
        let withdrawn = try Self.withdrawn(db)
        let rows = try Row.fetchCursor(
            db, sql: "SELECT number, readings, codec, key_id, checksum, body FROM journal ORDER BY number")
        while let row = try rows.next() {
            let content = StoredBody.content(codec: row[2], key: row[3], checksum: row[4], bytes: row[5])
            let block = content.map { JournalBlock(number: row[0], count: row[1], bytes: $0) }
            let isWhole = try block.map {
                try unclosed.take(
                    $0, except: withdrawn[$0.number] ?? [],
                    through: { try DroppedWindows.through(series: $0, start: $1, db) }, series: key)
            }
            if !(isWhole ?? false) { damagedBlocks += 1 }
        }
        unclosed.end()
        rejected = unclosed.rejected
    }

    /// Places of readings that a run has rejected since they were in the journal, by block.
    private static func withdrawn(_ db: Database) throws -> [Int64: Set<Int>] {
        var places: [Int64: Set<Int>] = [:]
        for row in try Row.fetchAll(db, sql: "SELECT block, place FROM withdrawn WHERE supersedes = 0") {
            places[row[0], default: []].insert(row[1])
        }
        return places
    }
}

extension ArchiveFilter {
    /// Whether it has a window of `type`.
    fileprivate func isMet(by window: ArchivedWindow, type: MeasurementType) -> Bool {
        let patient = window.series.patient.map { IdentifierText(utf8: $0) }
        guard isWanted(type), devices?.contains(IdentifierText(utf8: window.series.device)) ?? true,
            patients.map({ patients in patient.map(patients.contains) ?? false }) ?? true,
            sources.map({ sources in window.sources.contains { sources.contains($0.source) } }) ?? true,
            from.map({ window.last >= $0 }) ?? true, to.map({ window.first < $0 }) ?? true,
            modifiedFrom.map({ window.modified >= $0 }) ?? true, modifiedTo.map({ window.modified < $0 }) ?? true
        else { return false }
        return tags?.matches(window, type: type.name) ?? true
    }
}

extension StoredSeries {
    /// The numbers of all series of the devices that `filter` has series of, whoever these are about: whether a reading
    /// belongs to one of them may depend on the others. Nil for all series, also where the devices are too many.
    fileprivate static func numbers(
        ofDevicesIn filter: ArchiveFilter, _ types: [MeasurementType], _ db: Database
    ) throws -> Set<Int>? {
        guard filter.devices != nil || filter.patients != nil else { return nil }
        let (condition, arguments) = filter.seriesCondition
        let keys = try Data.fetchAll(db, sql: "SELECT key FROM series WHERE \(condition)", arguments: arguments)
        let devices = Set(keys.map { IdentifierText(utf8: [UInt8]($0).withByteView { SeriesKey.identity($0) }.device) })
        guard devices.count <= 500 else { return nil }
        return Set(try read(devices: devices, subjects: nil, types: types, db).map(\.number))
    }

    /// The ``SeriesKey`` of series `number`; nil when it, or its type, is not known any more.
    fileprivate static func key(_ number: Int, _ types: [MeasurementType], _ db: Database) throws -> [UInt8]? {
        guard try read(number: number, types: types, db) != nil else { return nil }
        return try Data.fetchOne(db, sql: "SELECT key FROM series WHERE number = ?", arguments: [number])
            .map { [UInt8]($0) }
    }

    /// The keys of the series of `device`.
    static func keys(ofDevice device: [UInt8], _ db: Database) throws -> [[UInt8]] {
        // By its bytes: how the column compares texts is SQLite's matter.
        try Data.fetchAll(
            db, sql: "SELECT key FROM series WHERE device = ?", arguments: [String(decoding: device, as: UTF8.self)]
        ).map { [UInt8]($0) }.filter { $0.withByteView { SeriesKey.device(of: $0).equals(device) } }
    }
}
