import FoundationEssentials
import GRDB
import KymographCore

/// The readings of the journal that no archived window has yet, and no run has rejected: those of open windows.
struct OpenReadings {
    /// Readings by the store's number of the series and, within it, by instant.
    private(set) var instants: [Int: [Int64]] = [:]
    /// Readings that have moved to other times and so left their windows, in the same way: these have one less each.
    private(set) var left: [Int: [Int64]] = [:]
    /// Numbers of blocks that cannot be read whole, or say another number of readings than they have.
    private(set) var wrongBlocks: [Int64] = []
    private(set) var count = 0
    /// Sequence numbers of such readings, by series, where their type has any.
    private(set) var sequences: [Int: [(instant: Int64, number: Int64)]] = [:]

    /// What of it came from which source.
    private(set) var bySource: [Owner: Found] = [:]

    /// Readings of one series from one source.
    struct Owner: Hashable {
        /// The store's number of the series.
        var series: Int
        /// The number of the source (``ReadingSource``).
        var source: Int
    }

    /// How many readings, of which times.
    struct Found {
        var count = 0
        var first = Instant.distantFuture
        var last = Instant.distantPast
        /// When the last of them was received.
        var received = Instant.distantPast

        fileprivate mutating func add(_ reading: KymographCore.Measurement) {
            count += 1
            (first, last) = (min(first, reading.instant), max(last, reading.instant))
            received = max(received, reading.received)
        }
    }

    private let types: [MeasurementType]
    /// Numbers of the series that are asked for; nil for all.
    private let wanted: Set<Int>?
    /// By series, nil when its type is not known.
    private var typesOfSeries: [Int: MeasurementType?] = [:]
    private var through: [WindowName: JournalPlace?] = [:]
    /// Readings that an earlier run has rejected.
    private let withdrawn: Set<JournalPlace>
    /// Readings that have taken the place of others when an earlier run took them from the journal.
    private let superseding: Set<JournalPlace>

    private struct WindowName: Hashable {
        var series: Int
        var start: Instant
    }

    /// Reads the whole journal, and keeps what it has of the series `wanted`.
    init(_ db: Database, types: [MeasurementType], of wanted: Set<Int>? = nil) throws {
        (self.types, self.wanted) = (types, wanted)
        withdrawn = try OpenReadings.withdrawn(db, superseding: false)
        superseding = try OpenReadings.withdrawn(db, superseding: true)
        let rows = try Row.fetchCursor(
            db, sql: "SELECT number, readings, codec, key_id, checksum, body FROM journal ORDER BY number")
        while let row = try rows.next() {
            let content = StoredBody.content(codec: row[2], key: row[3], checksum: row[4], bytes: row[5])
            let isWhole = try content.map { try take($0, number: row[0], readings: row[1], db) } ?? false
            if !isWhole { wrongBlocks.append(row[0]) }
        }
    }

    private static func withdrawn(_ db: Database, superseding: Bool) throws -> Set<JournalPlace> {
        let rows = try Row.fetchAll(
            db, sql: "SELECT block, place FROM withdrawn WHERE supersedes = ?", arguments: [superseding])
        return Set(rows.map { JournalPlace(block: $0[0], index: $0[1]) })
    }

    private mutating func take(_ content: [UInt8], number: Int64, readings: Int, _ db: Database) throws -> Bool {
        try content.withByteView { bytes in
            guard var reader = JournalReader(bytes) else { return false }
            while let record = reader.next() {
                guard wanted?.contains(record.series) ?? true else { continue }
                let place = JournalPlace(block: number, index: reader.read - 1)
                // Without its series nobody knows whose it is: it is lost.
                guard !withdrawn.contains(place), try type(of: record.series, db) != nil else { continue }
                guard try !isArchived(record, place, db) else { continue }
                if record.moves {
                    left[record.series, default: []].append(record.reading.instant.nanoseconds)
                    count -= 1
                    continue
                }
                if !record.supersedes, !superseding.contains(place) {
                    instants[record.series, default: []].append(record.reading.instant.nanoseconds)
                    count += 1
                    let source = ReadingSource.number(record.reading.mark)
                    bySource[Owner(series: record.series, source: source), default: Found()].add(record.reading)
                }
                try noteSequence(record, db)
            }
            return reader.isComplete && reader.read == readings
        }
    }

    private mutating func isArchived(
        _ record: JournalReader.Record, _ place: JournalPlace, _ db: Database
    ) throws -> Bool {
        guard let grouping = try type(of: record.series, db)?.grouping else { return false }
        let name = WindowName(
            series: record.series, start: grouping.archiveStart(around: record.reading.instant))
        if let known = through[name] { return known.map { place < $0 } ?? false }
        let end = try DroppedWindows.through(series: name.series, start: name.start, db)
        through[name] = .some(end)
        return end.map { place < $0 } ?? false
    }

    private mutating func noteSequence(_ record: JournalReader.Record, _ db: Database) throws {
        guard let slot = try type(of: record.series, db)?.sequenceSlot else { return }
        guard let number = SequenceNumbers.number(slot, record.reading, record.payload) else { return }
        sequences[record.series, default: []].append((record.reading.instant.nanoseconds, number))
    }

    private mutating func type(of series: Int, _ db: Database) throws -> MeasurementType? {
        if let known = typesOfSeries[series] { return known }
        let number = try Int.fetchOne(db, sql: "SELECT type FROM series WHERE number = ?", arguments: [series])
        let type = number.flatMap { types.indices.contains($0) ? types[$0] : nil }
        typesOfSeries[series] = .some(type)
        return type
    }
}
