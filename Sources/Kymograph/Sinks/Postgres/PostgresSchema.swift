/// The tables that a database sink keeps, and how those of earlier versions become those of this one.
///
/// A change is a further step, and never another text of one that there is: databases have been made by it.
struct PostgresSchema {
    /// What is found in a database.
    enum State: Hashable {
        /// Tables of this version.
        case current
        /// Tables of an earlier version, 0 for none.
        case older(Int)
        /// Tables of a later version.
        case newer(Int)
    }

    /// The version that this program writes.
    static let version = steps.count
    /// The first PostgreSQL that has what the tables need.
    private static let oldestServer = 120_000
    /// Two instances that start together make the tables one after the other.
    private static let lock = 0x6B79_6D6F

    /// The schema.
    let name: String

    /// `sql` with the schema's name, which needs no more than its quotes, in place of `$`.
    func sql(_ sql: String) -> String { sql.replacing("$", with: "\"\(name)\"") }

    // MARK: State

    /// What `link` leads to; nothing is changed.
    ///
    /// - Throws: ``PostgresFault`` also for a server that cannot be used.
    func state(_ link: PostgresLink) throws(PostgresFault) -> (state: State, server: String) {
        // From the catalogue itself: by its cache, what another has made while this waited for the lock may be missing.
        let row =
            try link.run(
                sql(
                    """
                    SELECT current_setting('server_version_num'), current_setting('server_encoding'),
                        EXISTS (
                            SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
                            WHERE n.nspname = '\(name)' AND c.relname = 'schema_version'),
                        current_setting('server_version')
                    """)
            ).first ?? []
        guard row.count == 4, let number = row[0].flatMap({ Int($0) }), let encoding = row[1], let server = row[3]
        else {
            throw PostgresFault(.unfit, "it does not answer as PostgreSQL does")
        }
        guard number >= PostgresSchema.oldestServer else {
            throw PostgresFault(.unfit, "PostgreSQL \(server) is too old: 12 or later is needed")
        }
        guard encoding == "UTF8" else {
            throw PostgresFault(
                .unfit, "the database has the encoding \(encoding): make one with the encoding UTF8")
        }
        guard row[2] == "t" else { return (.older(0), server) }
        let found = try link.run(sql("SELECT max(version) FROM $.schema_version")).first?.first ?? nil
        let version = found.flatMap { Int($0) } ?? 0
        let state: State =
            version == PostgresSchema.version
            ? .current : version > PostgresSchema.version ? .newer(version) : .older(version)
        return (state, server)
    }

    /// Brings the tables to this version, one instance at a time; gives the server's version.
    func prepare(_ link: PostgresLink) throws(PostgresFault) -> String {
        var (state, server) = try state(link)
        if case .older = state {
            try link.run("BEGIN; SELECT pg_advisory_xact_lock(\(PostgresSchema.lock))")
            // Another instance may have made them meanwhile.
            state = try self.state(link).state
            if case .older(let version) = state { try migrate(link, from: version) }
            try link.commit("COMMIT")
        }
        if case .newer(let version) = state { throw tooNew(version) }
        return server
    }

    /// The fault for tables that this version does not know.
    func tooNew(_ version: Int) -> PostgresFault {
        PostgresFault(
            .unfit,
            "the schema \(name) was made by a newer kymo (version \(version), this one knows "
                + "\(PostgresSchema.version)): "
                + "use that version, or another schema")
    }

    private func migrate(_ link: PostgresLink, from version: Int) throws(PostgresFault) {
        let known = "SELECT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = '\(name)')"
        let isThere = try link.run(known).first?.first == "t"
        if !isThere { try link.run(sql("CREATE SCHEMA $")) }
        for step in PostgresSchema.steps[version...] { try link.run(sql(step)) }
        if version == 0 { try makeHypertable(link) }
        try link.run(
            sql("INSERT INTO $.schema_version (version, kymo) VALUES (")
                + "\(PostgresSchema.version), '\(KymographVersion.number)')")
    }

    /// Has TimescaleDB, where the database has it, keep readings in parts of a week.
    private func makeHypertable(_ link: PostgresLink) throws(PostgresFault) {
        let extensions = try link.run(
            """
            SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
                WHERE extname = 'timescaledb'
            """)
        guard let place = extensions.first?.first ?? nil else { return }
        try link.run(
            "SELECT \(place)." + sql("create_hypertable('$.reading', 'time', create_default_indexes => false)"))
    }

    // MARK: Steps

    private static let steps = [tables, resources]

    private static let tables = """
        CREATE TABLE $.schema_version (
            version integer PRIMARY KEY, kymo text NOT NULL, at timestamptz NOT NULL DEFAULT now());
        CREATE TABLE $.observation (
            number bigint GENERATED ALWAYS AS IDENTITY UNIQUE, system text COLLATE "C" NOT NULL,
            identity text COLLATE "C" NOT NULL, id text, type text, code_system text, code text, device text,
            patient text, encounter text, start_time timestamptz, start_ns bigint, end_time timestamptz, end_ns bigint,
            status text, revision integer NOT NULL DEFAULT 1, writer text NOT NULL, sequence bigint NOT NULL,
            stored timestamptz NOT NULL DEFAULT now(), resource jsonb NOT NULL, PRIMARY KEY (identity, system));
        CREATE INDEX observation_type ON $.observation (type, start_time);
        CREATE INDEX observation_device ON $.observation (device, start_time);
        CREATE INDEX observation_patient ON $.observation (patient, start_time) WHERE patient IS NOT NULL;
        CREATE TABLE $.reading (
            observation bigint NOT NULL, time timestamptz NOT NULL, ordinal integer NOT NULL, kind text NOT NULL,
            time_ns bigint, start_time timestamptz, start_ns bigint, component_system text, component_code text,
            dimension integer, value numeric, flag text, text text, unit text, unit_system text,
            PRIMARY KEY (observation, time, ordinal));
        CREATE INDEX reading_time ON $.reading (time);
        CREATE VIEW $.readings AS
            SELECT r.time, r.value, r.text, r.flag, r.unit, r.unit_system, o.type, o.device, o.patient, o.encounter,
                o.code_system, o.code, r.component_system, r.component_code, r.dimension, r.start_time, r.time_ns,
                r.start_ns, o.status, o.system, o.identity, r.observation, r.ordinal
            FROM $.reading r JOIN $.observation o ON o.number = r.observation WHERE r.kind <> 'summary';
        """

    private static let resources = """
        CREATE TABLE $.resource (
            resource_type text NOT NULL, system text COLLATE "C" NOT NULL, identity text COLLATE "C" NOT NULL, id text,
            device text, patient text, encounter text, revision integer NOT NULL DEFAULT 1, writer text NOT NULL,
            sequence bigint NOT NULL, stored timestamptz NOT NULL DEFAULT now(), resource jsonb NOT NULL,
            PRIMARY KEY (identity, system, resource_type));
        """

    // MARK: What is written

    /// The temporary tables that a batch is copied into.
    static let incoming = """
        CREATE TEMP TABLE IF NOT EXISTS kymo_entry (
            place integer, resource_type text, system text COLLATE "C", identity text COLLATE "C", id text, type text,
            code_system text, code text, device text, patient text, encounter text, start_time timestamptz,
            start_ns bigint, end_time timestamptz, end_ns bigint, status text, sequence bigint, resource jsonb)
            ON COMMIT DELETE ROWS;
        CREATE TEMP TABLE IF NOT EXISTS kymo_value (
            place integer, ordinal integer, kind text, time timestamptz, time_ns bigint, start_time timestamptz,
            start_ns bigint, component_system text, component_code text, dimension integer, value numeric, flag text,
            text text, unit text, unit_system text) ON COMMIT DELETE ROWS;
        CREATE TEMP TABLE IF NOT EXISTS kymo_merged (place integer, number bigint, isold boolean) ON COMMIT DELETE ROWS
        """

    /// Asks for the greatest sequence of `writer` that the tables have of what was copied, and that is not earlier.
    func notEarlier(writer: String, hasResources: Bool) -> String {
        func asking(_ table: String, _ more: String) -> String {
            """
            SELECT o.sequence FROM pg_temp.kymo_entry e JOIN $.\(table) o USING (identity, system\(more))
                WHERE o.writer = '\(writer)' AND o.sequence >= e.sequence
            """
        }
        let others = hasResources ? " UNION ALL " + asking("resource", ", resource_type") : ""
        return sql("SELECT max(sequence) FROM (\(asking("observation", ""))\(others)) AS found")
    }

    /// Takes what was copied into the tables: what is there gives way to a later row of its store, or to any of
    /// another. `writer` is the store's id in hexadecimal digits.
    func merge(writer: String, hasResources: Bool) -> String {
        let wins = "WHERE o.writer <> excluded.writer OR o.sequence < excluded.sequence"
        let again = """
            id = excluded.id, device = excluded.device, patient = excluded.patient, encounter = excluded.encounter,
            revision = o.revision + 1, writer = excluded.writer, sequence = excluded.sequence, stored = now(),
            resource = excluded.resource
            """
        let others = """
            INSERT INTO $.resource AS o (
                resource_type, system, identity, id, device, patient, encounter, writer, sequence, resource)
            SELECT resource_type, system, identity, id, device, patient, encounter, '\(writer)', sequence, resource
                FROM pg_temp.kymo_entry WHERE resource_type <> 'Observation' ORDER BY identity, system, resource_type
            ON CONFLICT (identity, system, resource_type) DO UPDATE SET \(again) \(wins);
            """
        return sql(
            """
            WITH merged AS (
                INSERT INTO $.observation AS o (
                    system, identity, id, type, code_system, code, device, patient, encounter, start_time, start_ns,
                    end_time, end_ns, status, writer, sequence, resource)
                SELECT system, identity, id, type, code_system, code, device, patient, encounter, start_time, start_ns,
                    end_time, end_ns, status, '\(writer)', sequence, resource
                    FROM pg_temp.kymo_entry WHERE resource_type = 'Observation' ORDER BY identity, system
                ON CONFLICT (identity, system) DO UPDATE SET \(again), type = excluded.type,
                    code_system = excluded.code_system, code = excluded.code, start_time = excluded.start_time,
                    start_ns = excluded.start_ns, end_time = excluded.end_time, end_ns = excluded.end_ns,
                    status = excluded.status \(wins)
                RETURNING o.number, o.identity, o.system, o.revision > 1 AS isold)
            INSERT INTO pg_temp.kymo_merged
                SELECT e.place, m.number, m.isold FROM merged m JOIN pg_temp.kymo_entry e USING (identity, system)
                    WHERE e.resource_type = 'Observation';
            DELETE FROM $.reading r USING pg_temp.kymo_merged m WHERE m.isold AND r.observation = m.number;
            INSERT INTO $.reading (
                observation, ordinal, kind, time, time_ns, start_time, start_ns, component_system, component_code,
                dimension, value, flag, text, unit, unit_system)
            SELECT m.number, v.ordinal, v.kind, v.time, v.time_ns, v.start_time, v.start_ns, v.component_system,
                v.component_code, v.dimension, v.value, v.flag, v.text, v.unit, v.unit_system
                FROM pg_temp.kymo_value v JOIN pg_temp.kymo_merged m USING (place);
            \(hasResources ? others : "")
            COMMIT
            """)
    }
}
