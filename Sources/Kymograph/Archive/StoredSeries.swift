import FoundationEssentials
import GRDB
import KymographCore

/// A series of a store, told from others by the bytes of its key: in the columns for texts, SQLite ends one at a NUL.
struct StoredSeries {
    /// The store's number of it.
    let number: Int
    /// Whose readings it has, of which type.
    let identity: SeriesIdentity
    /// How its type groups readings.
    let grouping: Grouping

    var device: IdentifierText { IdentifierText(utf8: identity.device) }
    var patient: IdentifierText? { identity.patient.map { IdentifierText(utf8: $0) } }

    /// Those whose device and patient are these, where they are not nil, in the order of their numbers.
    static func read(
        device: IdentifierText?, patient: IdentifierText?, types: [MeasurementType], _ db: Database
    ) throws -> [StoredSeries] {
        let (ofDevice, devices) = ArchiveFilter.among("device", device.map { [$0] })
        let (ofPatient, patients) = ArchiveFilter.among("patient", patient.map { [$0] })
        let rows = try Row.fetchAll(
            db, sql: "SELECT number, key FROM series WHERE \(ofDevice) AND \(ofPatient) ORDER BY number",
            arguments: devices + patients)
        return rows.compactMap { row in
            guard let one = StoredSeries(row, types) else { return nil }
            let isWanted = (device ?? one.device) == one.device && (patient == nil || patient == one.patient)
            return isWanted ? one : nil
        }
    }

    /// Those of one of `devices`, and about one of `subjects`: the patient, or where there is none the device. Nil
    /// stands for any.
    static func read(
        devices: Set<IdentifierText>?, subjects: Set<IdentifierText>?, types: [MeasurementType], _ db: Database
    ) throws -> [StoredSeries] {
        let (ofDevice, deviceArguments) = ArchiveFilter.among("device", devices)
        let (ofPatient, patientArguments) = ArchiveFilter.among("patient", subjects)
        let (ofWearer, wearerArguments) = ArchiveFilter.among("device", subjects)
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT number, key FROM series
                WHERE \(ofDevice) AND (\(ofPatient) OR patient IS NULL AND \(ofWearer)) ORDER BY number
                """, arguments: deviceArguments + patientArguments + wearerArguments)
        return rows.compactMap { row in
            guard let one = StoredSeries(row, types) else { return nil }
            let isWanted =
                (devices?.contains(one.device) ?? true) && (subjects?.contains(one.patient ?? one.device) ?? true)
            return isWanted ? one : nil
        }
    }

    /// That of `number`; nil when there is none.
    static func read(number: Int, types: [MeasurementType], _ db: Database) throws -> StoredSeries? {
        let statement = try db.cachedStatement(sql: "SELECT number, key FROM series WHERE number = ?")
        return try Row.fetchOne(statement, arguments: [number]).flatMap { StoredSeries($0, types) }
    }

    /// Nil when the type is not known any more.
    private init?(_ row: Row, _ types: [MeasurementType]) {
        identity = [UInt8](row[1] as Data).withByteView { SeriesKey.identity($0) }
        guard types.indices.contains(identity.type), !types[identity.type].isUnknown else { return nil }
        (number, grouping) = (row[0], types[identity.type].grouping)
    }
}
