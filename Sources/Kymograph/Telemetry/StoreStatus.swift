/// How many dead letters are of one kind.
package struct LetterCount: Codable, Sendable {
    /// The kind.
    package var kind: String
    /// How many.
    package var count: Int
}

/// What a store holds, as `kymo status` and counters show it.
package struct StoreStatus: Codable, Sendable {
    /// Series.
    package var series = 0
    /// Closed windows.
    package var windows = 0
    /// Blocks of the journal, and the readings in them.
    package var journalBlocks = 0
    /// Readings of the journal.
    package var journalReadings = 0
    /// Bundles that wait for some sink.
    package var outboxRows = 0
    /// When the oldest of them was made.
    package var outboxOldest: String?
    /// Its age in seconds.
    package var outboxOldestAge: Double?
    /// Dead letters that were not sent again.
    package var deadLetters = 0
    /// How many of them are of each kind; nil from an earlier version.
    package var lettersByKind: [LetterCount]?
    /// Readings that were acknowledged and are lost, since the store was damaged.
    package var lost = 0
    /// Whether more may be lost than anybody knows.
    package var isLostAtLeast = false
    /// Damaged rows that were put aside.
    package var quarantined = 0
    /// Bytes in use.
    package var usedBytes = 0
    /// Bytes that it may use.
    package var limitBytes = 0
    /// What is paused; nil from an earlier version.
    package var paused: [PausedStatus]?
    /// When sinks have last taken something, by type; nil from an earlier version.
    package var successes: [TypeSuccess]?
}

/// A type or source that is paused, as `kymo status` and counters show it.
package struct PausedStatus: Codable, Sendable {
    /// `type` or `source`.
    package var kind: String
    /// Its name.
    package var name: String
    /// Since when, RFC 3339 in UTC.
    package var since: String
    /// How long that is, in seconds.
    package var seconds: Double
    /// Dead letters that it has put aside.
    package var letters: Int
}

/// When a sink has last taken readings of a type.
package struct TypeSuccess: Codable, Sendable {
    /// Name of the sink.
    package var sink: String
    /// Name of the type.
    package var type: String
    /// When, RFC 3339 in UTC.
    package var at: String
    /// The same, in seconds since 1970.
    package var seconds: Int
}
