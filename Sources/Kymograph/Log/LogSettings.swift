/// What of a run is written to standard error, and when a state is worth a line.
package struct LogSettings: Sendable {
    /// The form of the lines.
    package var format = LogFormat.auto
    /// Entries that matter less are left out.
    package var level = LogLevel.info
    /// Age of the oldest bundle in the outbox that is told of, in nanoseconds; 0 for never.
    package var outboxAge: Int64 = 300_000_000_000
    /// Silence of a source that is told of, in nanoseconds; 0 for never.
    package var silentAfter: Int64 = 900_000_000_000

    /// The defaults.
    package init() {}

    /// Takes over what may change while a run writes.
    mutating func takeOver(_ other: LogSettings) {
        (level, outboxAge, silentAfter) = (other.level, other.outboxAge, other.silentAfter)
    }
}
