import FoundationEssentials
import GRDB
import KymographCore

/// Readings that were taken back, and are kept out when they come again (``Retraction``).
enum StoredRetraction {
    /// The name of their table.
    static let table = "retraction"

    /// Whether there are any.
    static func exist(_ db: Database) throws -> Bool {
        try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM retraction)") ?? false
    }

    /// Those of `device`.
    static func read(ofDevice device: [UInt8], _ db: Database) throws -> [Retraction] {
        let statement = try db.cachedStatement(
            sql: "SELECT type, name, patient, series, renewed FROM retraction WHERE device = ?")
        return try Row.fetchAll(statement, arguments: [Data(device)]).compactMap { row in
            let (name, patient) = ([UInt8](row[1] as Data), [UInt8](row[2] as Data))
            guard let name = RetractionName(bytes: name) else { return nil }
            let series = (row[3] as Int?).flatMap { $0 >= 0 ? $0 : nil }
            var retraction = Retraction(
                device: device, type: row[0], name: name,
                patient: patient.isEmpty ? nil : Array(patient.dropFirst()), hasTaken: series != nil)
            retraction.series = series
            retraction.renewed = (row[4] as Int64?).map { Instant(nanoseconds: $0) }
            return retraction
        }
    }

    /// Forgets the oldest of those whose readings never came, where there are more than `most`: a sender may invent any
    /// number.
    static func dropUnknown(beyond most: Int, _ db: Database) throws {
        try db.cachedStatement(
            sql: """
                DELETE FROM retraction WHERE series IS NULL AND at <=
                    (SELECT at FROM retraction WHERE series IS NULL ORDER BY at DESC LIMIT 1 OFFSET ?)
                """
        ).execute(arguments: [most])
    }

    /// Forgets those whose reading no window takes any more: what has dropped theirs keeps it out. Of one that never
    /// came nothing but the time is known, that since which it was neither taken back nor kept out.
    static func drop(before limit: Int64, _ db: Database) throws {
        try db.cachedStatement(
            sql: """
                DELETE FROM retraction WHERE at < ? AND (series IS NULL
                    OR start <= (SELECT dropped_through FROM series
                        WHERE series.number = max(retraction.series, ~retraction.series)))
                """
        ).execute(arguments: [limit])
    }
}

extension RetractionChange {
    /// Notes it. A reading that is out is no reading with an id any more.
    func apply(_ db: Database) throws {
        let patient = Data(retraction.patient.map { [1] + $0 } ?? [])
        let (device, name) = (Data(retraction.device), Data(retraction.name.bytes))
        if case .keptOut = event, try isOfAnother(device, name, patient, db) {
            return try db.cachedStatement(
                sql: """
                    UPDATE retraction SET at = max(at, ?) WHERE device = ? AND type = ? AND name = ? AND patient = ?
                    """
            ).execute(arguments: [at.nanoseconds, device, retraction.type, name, patient])
        }
        let isPlaced = series >= 0
        // What it keeps out may have come before it, and wait in a dead letter since.
        try db.cachedStatement(
            sql: """
                INSERT INTO retraction VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (device, type, name, patient) DO UPDATE SET at = max(at, excluded.at),
                    series = excluded.series, start = excluded.start, renewed = excluded.renewed
                """
        ).execute(
            arguments: [
                device, retraction.type, name, patient, at.nanoseconds,
                isPlaced ? (retraction.hasTaken ? series : ~series) : nil, isPlaced ? start.nanoseconds : nil,
                retraction.renewed?.nanoseconds,
            ])
        guard isPlaced, retraction.hasTaken, retraction.renewed == nil, let id = retraction.name.id else { return }
        try db.cachedStatement(sql: "DELETE FROM reading_id WHERE series = ? AND id = ?").execute(
            arguments: [series, Data(id)])
    }

    /// Whether the reading that was kept out belongs to another series than the one that the retraction took, whose
    /// readings stay, with their ids; or the reading was renewed, and its window says how long that is to be known.
    private func isOfAnother(_ device: Data, _ name: Data, _ patient: Data, _ db: Database) throws -> Bool {
        if retraction.renewed != nil { return true }
        return try takenSeries(device, name, patient, db).map { $0 != series } ?? false
    }

    /// The series that a retraction, which the store has already, took its reading out of; nil when there is none.
    private func takenSeries(_ device: Data, _ name: Data, _ patient: Data, _ db: Database) throws -> Int? {
        try Int.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT series FROM retraction
                    WHERE device = ? AND type = ? AND name = ? AND patient = ? AND series >= 0
                    """
            ),
            arguments: [device, retraction.type, name, patient])
    }
}
