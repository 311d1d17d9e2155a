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
}
