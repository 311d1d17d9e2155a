import KymographCore

/// Entries that are stored in one transaction.
struct PostgresBatch: ~Copyable {
    /// Those that are stored, or that a later one of the batch replaces.
    private(set) var entries: [PostgresEntry] = []
    /// Those that cannot, and why.
    private(set) var unfit: [(entry: PostgresEntry, detail: String)] = []
    private var heads = CopyWriter()
    private var values = CopyWriter()
    private var hasResources = false

    /// The rows of `part`.
    init(_ part: [PostgresEntry]) {
        // One statement changes a row once: of several versions, the last that can be is stored.
        var stored: Set<IdentifierText> = []
        for (place, entry) in part.enumerated().reversed() {
            guard !stored.contains(entry.key) else {
                entries.append(entry)
                continue
            }
            do throws(PostgresEntry.Unfit) {
                // Rows of one that cannot be stored are not to be among them.
                var head = CopyWriter()
                var value = CopyWriter()
                let isObservation = try entry.addRows(at: place, to: &head, &value)
                heads.append(head)
                values.append(value)
                hasResources = hasResources || !isObservation
                entries.append(entry)
                stored.insert(entry.key)
            } catch {
                unfit.append((entry, error.detail))
            }
        }
        entries.reverse()
    }

    /// Bytes of its rows.
    var size: Int { heads.count + values.count }

    /// The greatest sequence of its entries, or 0.
    var last: Int64 { entries.map(\.sequence).max() ?? 0 }

    /// Brings the rows to the server; the greatest sequence of `writer` that the tables have of what is as late as they
    /// are, or later; or 0.
    mutating func copy(_ link: PostgresLink, _ schema: PostgresSchema, writer: String) throws(PostgresFault) -> Int64 {
        for entry in entries { entry.attempts += 1 }
        try link.run("BEGIN")
        try link.copy("COPY pg_temp.kymo_entry FROM STDIN", heads.view)
        if values.count > 0 { try link.copy("COPY pg_temp.kymo_value FROM STDIN", values.view) }
        let found = try link.run(schema.notEarlier(writer: writer, hasResources: hasResources)).first?.first ?? nil
        return found.flatMap { Int64($0) } ?? 0
    }

    /// Stores what was brought; it is durable when this returns.
    func merge(_ link: PostgresLink, _ schema: PostgresSchema, writer: String) throws(PostgresFault) {
        do throws(PostgresFault) {
            try link.commit(schema.merge(writer: writer, hasResources: hasResources))
        } catch {
            guard error.state.hasPrefix("54") else { throw error }
            throw PostgresFault(ofValue: error.state)
        }
    }
}
