import FoundationEssentials
import GRDB
import KymographCore

/// Readings that were taken back, and are kept out when they come again (``Retraction``).
enum StoredRetraction {
    /// The name of their table.
    static let table = "retraction"
    /// The name of that of the series which they were in besides the last one.
    static let seriesTable = "retraction_series"

    /// Whether there are any.
    static func exist(_ db: Database) throws -> Bool {
        try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM retraction)") ?? false
    }

    /// Those of `device`.
    static func read(ofDevice device: [UInt8], _ db: Database) throws -> [Retraction] {
        let statement = try db.cachedStatement(
            sql: "SELECT type, name, patient, series, renewed, came FROM retraction WHERE device = ?")
        let others = try readSeries(ofDevice: device, db)
        return try Row.fetchAll(statement, arguments: [Data(device)]).compactMap { row -> Retraction? in
            let (name, patient) = ([UInt8](row[1] as Data), [UInt8](row[2] as Data))
            guard let name = RetractionName(bytes: name) else { return nil }
            let series = (row[3] as Int?).flatMap { $0 >= 0 ? $0 : nil }
            var retraction = Retraction(
                device: device, type: row[0], name: name,
                patient: patient.isEmpty ? nil : Array(patient.dropFirst()), hasTaken: series != nil)
            if let series {
                let key = Key(type: retraction.type, name: name.bytes, patient: patient)
                retraction.series = others[key, default: []].union([series])
            }
            retraction.renewed = (row[4] as Int64?).map { Instant(nanoseconds: $0) }
            retraction.came = (row[5] as Int64?).map { Instant(nanoseconds: $0) }
            return retraction
        }
    }

    /// What a row of a device is found by.
    private struct Key: Hashable {
        var type: String
        var name: [UInt8]
        var patient: [UInt8]
    }

    private static func readSeries(ofDevice device: [UInt8], _ db: Database) throws -> [Key: Set<Int>] {
        let statement = try db.cachedStatement(
            sql: "SELECT type, name, patient, series FROM retraction_series WHERE device = ?")
        return try Row.fetchAll(statement, arguments: [Data(device)]).reduce(into: [:]) { found, row in
            let key = Key(type: row[0], name: [UInt8](row[1] as Data), patient: [UInt8](row[2] as Data))
            found[key, default: []].insert(row[3])
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

    /// Forgets those whose reading no window takes any more, in none of its series: what has dropped theirs keeps it
    /// out. Of one that never came nothing but the time is known, that since which it was neither taken back nor kept
    /// out.
    static func drop(before limit: Int64, _ db: Database) throws {
        try db.cachedStatement(
            sql: """
                DELETE FROM retraction_series WHERE start <=
                    (SELECT dropped_through FROM series WHERE series.number = retraction_series.series)
                """
        ).execute()
        try db.cachedStatement(
            sql: """
                DELETE FROM retraction WHERE at < ? AND (series IS NULL
                    OR start <= (SELECT dropped_through FROM series
                        WHERE series.number = max(retraction.series, ~retraction.series)))
                    AND NOT EXISTS (SELECT 1 FROM retraction_series AS other
                        WHERE other.device = retraction.device AND other.type = retraction.type
                            AND other.name = retraction.name AND other.patient = retraction.patient)
                """
        ).execute(arguments: [limit])
    }
}

extension RetractionChange {
    private static let isOfKey = "device = ? AND type = ? AND name = ? AND patient = ?"

    private var key: StatementArguments {
        let patient = Data(retraction.patient.map { [1] + $0 } ?? [])
        return [Data(retraction.device), retraction.type, Data(retraction.name.bytes), patient]
    }

    /// Notes it. A reading that is out is no reading with an id any more.
    func apply(_ db: Database) throws {
        switch event {
        case .keptOut where try isOfAnother(db):
            return try db.cachedStatement(sql: "UPDATE retraction SET at = max(at, ?) WHERE \(Self.isOfKey)").execute(
                arguments: [at.nanoseconds] + key)
        case .repeated:
            try db.cachedStatement(
                sql: "UPDATE retraction SET at = max(at, ?), came = max(ifnull(came, ?), ?) WHERE \(Self.isOfKey)"
            ).execute(arguments: [at.nanoseconds, at.nanoseconds, at.nanoseconds] + key)
            if db.changesCount > 0 { return }
        case .came: try keepFormerSeries(db)
        case .renewed: try forgetFormerSeries(db)
        case .keptOut: break
        }
        try put(db)
        guard series >= 0, retraction.hasTaken, retraction.renewed == nil, let id = retraction.name.id else { return }
        try db.cachedStatement(sql: "DELETE FROM reading_id WHERE series = ? AND id = ?").execute(
            arguments: [series, Data(id)])
    }

    private func put(_ db: Database) throws {
        let isPlaced = series >= 0
        let values: StatementArguments = [
            at.nanoseconds, isPlaced ? (retraction.hasTaken ? series : ~series) : nil,
            isPlaced ? start.nanoseconds : nil, retraction.renewed?.nanoseconds, retraction.came?.nanoseconds,
        ]
        // What it keeps out may have come before it, and wait in a dead letter since.
        try db.cachedStatement(
            sql: """
                INSERT INTO retraction (device, type, name, patient, at, series, start, renewed, came)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (device, type, name, patient) DO UPDATE SET at = max(at, excluded.at),
                    series = excluded.series, start = excluded.start, renewed = excluded.renewed,
                    came = max(ifnull(came, excluded.came), ifnull(excluded.came, came))
                """
        ).execute(arguments: key + values)
    }

    /// Keeps the series that the row has, where the reading is taken out of another one besides.
    private func keepFormerSeries(_ db: Database) throws {
        let isBefore = "\(Self.isOfKey) AND renewed IS NULL AND series >= 0"
        let isBesides =
            try retraction.hasTaken
            && Bool.fetchOne(
                db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM retraction WHERE \(isBefore))"), arguments: key)
                ?? false
        guard isBesides else { return try forgetFormerSeries(db) }
        try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO retraction_series
                    SELECT device, type, name, patient, series, start FROM retraction WHERE \(isBefore)
                """
        ).execute(arguments: key)
        try db.cachedStatement(sql: "DELETE FROM retraction_series WHERE \(Self.isOfKey) AND series = ?").execute(
            arguments: key + [series])
    }

    private func forgetFormerSeries(_ db: Database) throws {
        try db.cachedStatement(sql: "DELETE FROM retraction_series WHERE \(Self.isOfKey)").execute(arguments: key)
    }

    /// Whether the reading that was kept out belongs to another series than the last one that the retraction took it
    /// out of, whose readings stay, with their ids; or the reading was renewed, and its window says how long that is to
    /// be known.
    private func isOfAnother(_ db: Database) throws -> Bool {
        if retraction.renewed != nil { return true }
        let sql = "SELECT series FROM retraction WHERE \(Self.isOfKey) AND series >= 0"
        return try Int.fetchOne(db.cachedStatement(sql: sql), arguments: key).map { $0 != series } ?? false
    }
}
