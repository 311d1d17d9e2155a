import KymographCore

/// The instance that the console shows.
struct ConsoleSubject: Sendable {
    /// Its data directory.
    var directory: String
    /// Its settings as they are now.
    var present: @Sendable () -> PipelineSettings
    /// When it began.
    var started: Instant
    var view: InstanceView
    /// What was found by looking again and again.
    var seen: @Sendable () -> InstanceWatch.Seen
    var actions: ConsoleActions
    /// Nil when mappings cannot be reloaded.
    var mappingChanges: MappingChanges?
    var notes: LogTaker

    var settings: PipelineSettings { present() }

    /// Writes to the log what somebody did, whatever its level is, and each time; without identifiers.
    /// Before it returns it is in the audit trail, unless the thread may not wait for that (`isDeferred`).
    func audit(
        _ kind: DeedKind, _ session: ConsoleSessions.Session, _ text: String, isDeferred: Bool = false
    ) {
        let agent = "session \(session.name) (\(session.role.rawValue), for \(session.asker))"
        var entry = LogEntry.deed(
            kind, by: agent, "console: \(agent) \(text)",
            fields: [
                ("session", .text(session.name)), ("role", .text(session.role.rawValue)),
                ("asker", .text(session.asker)),
            ])
        entry.isDeferred = isDeferred
        notes(entry)
    }

    /// The store, for reading alone.
    func reader() throws(ConsoleRefusal) -> StoreReader {
        do throws(PipelineError) { return try StoreReader(directory: directory) } catch { throw ConsoleRefusal(error) }
    }
}
