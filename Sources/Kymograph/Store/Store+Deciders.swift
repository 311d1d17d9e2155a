import GRDB

/// What has said of the readings of a store whose they are, or whether they are taken. What is taken again without it
/// would be filed for whom its message names, for nobody, or against a rule.
package enum StoreDecider: String, CaseIterable, Sendable {
    case patientMap = "patient_map"
    case rules = "reading_rules"
    /// What a program decides that embeds the engine: `kymo` never has it.
    case hook = "reading_hook"

    /// For people.
    package var name: String {
        switch self {
        case .patientMap: "patient map"
        case .rules: "list of rules"
        case .hook: "hook of the program that embeds the engine"
        }
    }

    /// What to do where it is missing.
    var remedy: String {
        switch self {
        case .patientMap, .rules: "name it in the configuration"
        case .hook: "run the program that has it"
        }
    }

    /// Those that may have decided where nobody can tell. A program that has a hook says so again with each run, and
    /// nobody else could take letters without it.
    static let uncertain: Set<StoreDecider> = [.patientMap, .rules]

    /// Notes that a run has had one.
    func note(_ db: Database) throws {
        try db.execute(sql: "INSERT OR IGNORE INTO decider VALUES (?)", arguments: [rawValue])
    }

    /// Those that have decided in the store of `db`.
    static func used(_ db: Database) throws -> Set<StoreDecider> {
        Set(try String.fetchAll(db, sql: "SELECT name FROM decider").compactMap(StoreDecider.init))
    }

    /// Those that have decided in a store of version 4: each has left a table.
    static func usedInVersion4(_ db: Database) throws -> Set<StoreDecider> {
        try uncertain.filter { try db.tableExists($0.rawValue) }
    }
}

extension Store {
    /// Notes what decides in this run.
    func note(_ deciders: Set<StoreDecider>) throws(StoreError) {
        guard !deciders.isEmpty else { return }
        do {
            try pool.write { db in
                for decider in deciders { try decider.note(db) }
            }
        } catch {
            throw failure(error, "write to")
        }
    }

    /// What has decided in any run.
    var deciders: Set<StoreDecider> { read { try StoreDecider.used($0) } ?? [] }
}
