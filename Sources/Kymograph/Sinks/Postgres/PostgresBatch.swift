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

    /// Stores the rows; they are durable when this returns.
    mutating func write(_ link: PostgresLink, _ schema: PostgresSchema, writer: String) throws(PostgresFault) {
        for entry in entries { entry.attempts += 1 }
        try link.run("BEGIN")
        try link.copy("COPY pg_temp.kymo_entry FROM STDIN", heads.view)
        if values.count > 0 { try link.copy("COPY pg_temp.kymo_value FROM STDIN", values.view) }
        try link.commit(schema.merge(writer: writer, hasResources: hasResources))
    }
}
