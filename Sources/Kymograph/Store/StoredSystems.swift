import GRDB
import KymographCore

/// The identifier systems of what has left a store (`output.systems`). With others a server would get each resource a
/// second time, and what changes or takes back a former one would miss it.
///
/// They are a name in the table of what has decided on readings (``StoreDecider``), where programs that do not know it
/// pass it over.
enum StoredSystems {
    private static let prefix = "identifier_systems\n"

    /// Those of `options`, as they are noted.
    fileprivate static func name(_ options: ObservationOptions) -> String {
        let systems = [
            options.patientSystem, options.deviceSubjectSystem, options.deviceSystem, options.encounterSystem,
            options.observationSystem, options.resourceSystem,
        ]
        return prefix + systems.joined(separator: "\n")
    }

    /// Whether resources of `options` would be others than those of the store's windows and receipts.
    static func differ(from options: ObservationOptions, _ db: Database) throws -> Bool {
        let sql = "SELECT name FROM decider WHERE substr(name, 1, length(?1)) = ?1"
        guard let noted = try String.fetchOne(db, sql: sql, arguments: [prefix]), noted != name(options) else {
            return false
        }
        let used = "SELECT EXISTS (SELECT 1 FROM window) OR EXISTS (SELECT 1 FROM receipt)"
        return try Bool.fetchOne(db, sql: used) ?? true
    }

    /// Notes that what leaves has those of `options`.
    fileprivate static func note(_ options: ObservationOptions, _ db: Database) throws {
        try db.execute(
            sql: "DELETE FROM decider WHERE substr(name, 1, length(?1)) = ?1 AND name <> ?2",
            arguments: [prefix, name(options)])
        try db.execute(sql: "INSERT OR IGNORE INTO decider VALUES (?)", arguments: [name(options)])
    }
}

extension Store {
    /// Notes the systems of `options` before anything leaves with them; false, and nothing noted, where what has left
    /// had others.
    func keepSystems(of options: ObservationOptions) throws(StoreError) -> Bool {
        do {
            return try pool.write { db in
                guard try !StoredSystems.differ(from: options, db) else { return false }
                try StoredSystems.note(options, db)
                return true
            }
        } catch {
            throw failure(error, "write to")
        }
    }
}

extension PipelineError {
    /// The refusal of systems that are others than those in the store of `directory`.
    static func otherSystems(_ directory: String) -> PipelineError {
        PipelineError(
            message: "output.systems is not what it was when the windows in \(directory) were written: servers would "
                + "get their resources a second time, and corrections would miss the former ones; write the former "
                + "systems, or begin with another data directory (kymo reset)",
            exitCode: ExitStatus.config)
    }
}
