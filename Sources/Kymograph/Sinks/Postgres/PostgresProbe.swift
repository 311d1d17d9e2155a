/// Looks whether a database can be delivered to, and changes nothing there.
struct PostgresProbe {
    private let target: PostgresTarget

    /// Of the database that `target` names.
    init(_ target: PostgresTarget) { self.target = target }

    /// What is there, in words.
    ///
    /// - Throws: ``PostgresFault`` with what is in the way.
    func ask(_ link: PostgresLink) throws(PostgresFault) -> String {
        let schema = PostgresSchema(name: target.schema)
        let (state, server) = try schema.state(link)
        try need("has_database_privilege(current_database(), 'TEMP')", "make temporary tables", link)
        switch state {
        case .current:
            let tables = [
                ("observation", "SELECT, INSERT, UPDATE"), ("reading", "SELECT, INSERT, DELETE"),
                ("resource", "SELECT, INSERT, UPDATE"),
            ]
            for (table, rights) in tables {
                for right in rights.split(separator: ", ") {
                    let name = schema.sql("$.\(table)")
                    try need("has_table_privilege('\(name)', '\(right)')", "\(right) on \(name)", link)
                }
            }
            return "PostgreSQL \(server), schema \(schema.name), version \(PostgresSchema.version)"
        case .older(0):
            let isThere = "to_regnamespace('\"\(schema.name)\"')"
            try need(
                "CASE WHEN \(isThere) IS NULL THEN has_database_privilege(current_database(), 'CREATE') "
                    + "ELSE has_schema_privilege(\(isThere), 'CREATE') END", "make the schema \(schema.name)", link)
            return "PostgreSQL \(server); kymo run makes the schema \(schema.name)"
        case .older(let version):
            return "PostgreSQL \(server), schema \(schema.name), version \(version); kymo run brings it to "
                + "\(PostgresSchema.version)"
        case .newer(let version): throw schema.tooNew(version)
        }
    }

    private func need(_ right: String, _ what: String, _ link: PostgresLink) throws(PostgresFault) {
        guard try link.run("SELECT \(right)").first?.first == "t" else {
            throw PostgresFault(.refused, "the user may not \(what): grant it")
        }
    }
}
