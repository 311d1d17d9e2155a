import KymographCore

/// Tells when the oldest bundle of the outbox has waited for longer than a limit, and when none has any more.
struct OutboxWatch {
    private var limit: Double
    private var isOver = false

    /// `limit` in nanoseconds, 0 for none.
    init(limit: Int64) { self.limit = Double(limit) / 1e9 }

    /// Goes by another limit from here on.
    mutating func follow(limit: Int64) { self.limit = Double(limit) / 1e9 }

    /// What has changed, when the oldest bundle is `age` seconds old; 0 when none waits.
    mutating func entry(age: Double) -> LogEntry? {
        guard limit > 0 else { return nil }
        // At the limit it would come and go with each bundle.
        if isOver ? age > limit * 0.8 : age <= limit { return nil }
        isOver.toggle()
        let shown = Duration.seconds(age).inWholeSeconds
        let text =
            isOver
            ? "the oldest bundle has waited in the store for \(shown), more than log.outboxAge "
                + "(\(Duration.seconds(limit).inWholeSeconds)): 'kymo status' names the sink that does not take it"
            : "no bundle waits in the store for longer than log.outboxAge any more"
        return LogEntry(
            isOver ? .warning : .info, text,
            fields: [("event", .text(isOver ? "outbox.old" : "outbox.recent")), ("seconds", .number(Int(age)))])
    }
}
