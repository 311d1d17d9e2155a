import GRDB
import KymographCore

/// What has come of each series since a look before, as the journal has it.
struct NewestReadings: Sendable {
    /// Readings of one series.
    struct Series: Sendable, Equatable {
        /// The store's number of it.
        var number: Int
        /// How many have come.
        var count: Int
        /// The time of the latest of them, and the first of its values: nil when that is missing, whatever others
        /// it has.
        var last: Instant
        var value: Decimal64?
    }

    /// The last block of the journal that was looked at; 0 for none.
    var through: Int64 = 0
    /// In the order of their numbers.
    var series: [Series] = []
    /// Whether more had come than the limit, so that the oldest were left out, or a block is damaged.
    var isPartial = false
}

extension StoreReader {
    /// What has come after the block `former` of the journal; nil stands for its beginning. Of more than about `limit`
    /// readings, the oldest blocks are left out. What several runs or a correction did to a reading is not looked at.
    ///
    /// - Throws: ``PipelineError`` when the database cannot be read.
    func newestReadings(after former: Int64?, limit: Int) throws(PipelineError) -> NewestReadings {
        try read { db in
            var found = NewestReadings(through: former ?? 0)
            var (blocks, readings) = ([Int64](), 0)
            let rows = try Row.fetchCursor(
                db, sql: "SELECT number, readings FROM journal WHERE number > ? ORDER BY number DESC",
                arguments: [former ?? 0])
            while let row = try rows.next() {
                guard blocks.isEmpty || readings + (row[1] as Int) <= limit else {
                    found.isPartial = true
                    break
                }
                blocks.append(row[0])
                readings += row[1]
            }
            found.through = blocks.first ?? found.through
            var newest: [Int: NewestReadings.Series] = [:]
            for block in blocks.reversed() {
                let isWhole = try Self.take(block, into: &newest, db)
                if !isWhole { found.isPartial = true }
            }
            found.series = newest.values.sorted { $0.number < $1.number }
            return found
        }
    }

    /// Whether the block could be read.
    private static func take(
        _ block: Int64, into newest: inout [Int: NewestReadings.Series], _ db: Database
    ) throws -> Bool {
        let statement = try db.cachedStatement(
            sql: "SELECT codec, key_id, checksum, body FROM journal WHERE number = ?")
        let content = try Row.fetchOne(statement, arguments: [block]).flatMap {
            StoredBody.content(codec: $0[0], key: $0[1], checksum: $0[2], bytes: $0[3])
        }
        return content?.withByteView { bytes in
            guard var reader = JournalReader(bytes) else { return false }
            while let record = reader.next() {
                guard !record.moves else { continue }
                let reading = record.reading
                var one = newest[record.series] ?? .init(number: record.series, count: 0, last: .distantPast)
                one.count += 1
                if reading.instant >= one.last {
                    one.last = reading.instant
                    one.value = reading.inline(0)
                }
                newest[record.series] = one
            }
            return reader.isComplete
        } ?? false
    }

    /// The series of these numbers, those that the store does not know left out, each with the name of its type, and
    /// the unit of the first value, as far as it is known.
    ///
    /// - Throws: ``PipelineError`` when the database cannot be read.
    func series(
        numbers: [Int]
    ) throws(PipelineError) -> [(series: StoredSeries, type: String, unit: String?)] {
        try read { db in
            let (forms, types) = (try StoredTypes.forms(db), try StoredTypes.types(db))
            return try numbers.compactMap { number -> (series: StoredSeries, type: String, unit: String?)? in
                guard let series = try StoredSeries.read(number: number, types: types, db) else { return nil }
                let (type, form) = (types[series.identity.type], forms[series.identity.type])
                return (series, type.name, form?.unit(of: type.valueNames.first))
            }
        }
    }
}
