import GRDB
package import KymographCore

/// A device, with the patient whom its readings name, of whom the store has readings.
package struct StoreSubject: Sendable {
    /// The least of the store's numbers of its series.
    package var series: Int
    /// The device.
    package var device: IdentifierText
    /// The patient, if there is one.
    package var patient: IdentifierText?
    /// Names of the types of its readings.
    package var types: [String]
    /// Its last archived reading; nil when all are in open windows, or have been dropped, and in lists, for which it
    /// would have to be looked for again and again.
    package var latest: Instant?
}

extension StoreReader {
    /// Those that came last, first; at most `limit`.
    ///
    /// - Throws: ``PipelineError`` when the database cannot be read.
    package func subjects(limit: Int) throws(PipelineError) -> [StoreSubject] {
        try read { try Self.subjects($0, "true", [], limit: limit) }
    }

    /// Those whose device or patient is `name`, at most `limit`.
    ///
    /// - Throws: ``PipelineError`` when the database cannot be read.
    package func subjects(named name: IdentifierText, limit: Int) throws(PipelineError) -> [StoreSubject] {
        try read {
            try Self.subjects($0, "device = ? OR patient = ?", [name.text, name.text], limit: limit)
        }
    }

    /// That of the series; nil when there is none. Its last reading is looked for on demand: of a device that has been
    /// silent for long, each place where it could have had a window since is looked at.
    ///
    /// - Throws: ``PipelineError`` when the database cannot be read.
    package func subject(ofSeries number: Int, withLatest: Bool = false) throws(PipelineError) -> StoreSubject? {
        try read { db in
            let types = try StoredTypes.types(db)
            guard let one = try StoredSeries.read(number: number, types: types, db) else { return nil }
            let all = try StoredSeries.read(device: one.device, patient: one.patient, types: types, db).filter {
                $0.patient == one.patient
            }
            var subject = StoreSubject(
                series: all[0].number, device: one.device, patient: one.patient,
                types: Set(all.map { types[$0.identity.type].name }).sorted())
            if withLatest { subject.latest = try Self.latest(all, db) }
            return subject
        }
    }

    /// The last archived reading of the newest of `series`; windows of correlations are kept under the epoch, and do
    /// not count.
    private static func latest(_ series: [StoredSeries], _ db: Database) throws -> Instant? {
        guard let end = try Int64.fetchOne(db, sql: "SELECT max(start) FROM window"), end > 0 else { return nil }
        let windows = SeriesWindows(Array(series.suffix(mostLooked)))
        // What ends behind the newest start is in windows that begin there or before.
        let rows = try windows.last(1, "last", before: .max / 2, startingAt: end, since: 1, db)
        return rows.map { $0[0] as Int64 }.max().map { Instant(nanoseconds: $0) }
    }

    /// Series whose last reading is looked for.
    private static let mostLooked = 20

    private static func subjects(
        _ db: Database, _ condition: String, _ arguments: StatementArguments, limit: Int
    ) throws -> [StoreSubject] {
        let types = try StoredTypes.types(db)
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT min(number), device, patient, group_concat(DISTINCT type) FROM series
                WHERE \(condition) GROUP BY device, patient ORDER BY max(number) DESC LIMIT ?
                """, arguments: arguments + [limit])
        return rows.map { row in
            let numbers = (row[3] as String).split(separator: ",").compactMap { Int($0) }
            return StoreSubject(
                series: row[0], device: IdentifierText(row[1]),
                patient: (row[2] as String?).map { IdentifierText($0) },
                types: numbers.filter(types.indices.contains).map { types[$0].name }.sorted())
        }
    }
}
