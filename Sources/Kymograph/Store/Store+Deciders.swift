import GRDB

/// What has said of the readings of a store whose they are, or whether they are taken. What is taken again without it
/// would be filed for whom its message names, for nobody, or against a rule.
package enum StoreDecider: String, CaseIterable, Sendable {
    case patientMap = "patient_map"
    case rules = "reading_rules"

    /// For people.
    package var name: String {
        switch self {
        case .patientMap: "patient map"
        case .rules: "list of rules"
        }
    }

    /// The table is there once a run has had one.
    func create(_ db: Database) throws {
        try db.execute(sql: "CREATE TABLE IF NOT EXISTS \(rawValue) (used INTEGER)")
    }

    /// Those that have decided in the store of `db`.
    static func used(_ db: Database) throws -> Set<StoreDecider> {
        Set(try allCases.filter { try db.tableExists($0.rawValue) })
    }
}

extension Store {
    /// Notes what decides in this run.
    func note(_ deciders: Set<StoreDecider>) throws(StoreError) {
        guard !deciders.isEmpty else { return }
        do {
            try pool.write { db in
                for decider in deciders { try decider.create(db) }
            }
        } catch {
            throw StoreError(error, "write to", directory.path)
        }
    }

    /// What has decided in any run.
    var deciders: Set<StoreDecider> { read { try StoreDecider.used($0) } ?? [] }
}
