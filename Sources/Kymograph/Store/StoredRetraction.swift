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
            sql: "SELECT type, name, patient, series FROM retraction WHERE device = ?")
        return try Row.fetchAll(statement, arguments: [Data(device)]).compactMap { row in
            let (name, patient) = ([UInt8](row[1] as Data), [UInt8](row[2] as Data))
            return RetractionName(bytes: name).map {
                Retraction(
                    device: device, type: row[0], name: $0,
                    patient: patient.isEmpty ? nil : Array(patient.dropFirst()), hasTaken: row[3] as Int64? ?? -1 >= 0)
            }
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
        guard !isLifted else {
            return try db.cachedStatement(
                sql: "DELETE FROM retraction WHERE device = ? AND type = ? AND name = ? AND patient = ?"
            ).execute(arguments: [device, retraction.type, name, patient])
        }
        // It has kept out a reading of another series than the one that it took, whose readings stay, with their ids.
        if let taken = try takenSeries(device, name, patient, db), taken != series {
            return try db.cachedStatement(
                sql: "UPDATE retraction SET at = ? WHERE device = ? AND type = ? AND name = ? AND patient = ?"
            ).execute(arguments: [at.nanoseconds, device, retraction.type, name, patient])
        }
        let isPlaced = series >= 0
        try db.cachedStatement(sql: "INSERT OR REPLACE INTO retraction VALUES (?, ?, ?, ?, ?, ?, ?)").execute(
            arguments: [
                device, retraction.type, name, patient, at.nanoseconds,
                isPlaced ? (retraction.hasTaken ? series : ~series) : nil, isPlaced ? start.nanoseconds : nil,
            ])
        guard isPlaced, retraction.hasTaken, let id = retraction.name.id else { return }
        try db.cachedStatement(sql: "DELETE FROM reading_id WHERE series = ? AND id = ?").execute(
            arguments: [series, Data(id)])
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
