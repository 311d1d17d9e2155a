/// A reading that was rejected after it had been mapped.
package struct RejectedReading: Sendable {
    /// Why.
    package var reason: Rejection
    /// The reading.
    package var measurement: Measurement
    /// Whose it is.
    package var identity: SeriesIdentity
    /// The number under which a journal knows the series, or -1 when it has none.
    package var series: Int
    /// Whether a closed window holds it all the same: the window as a whole gives no Observation.
    package var isInWindow: Bool
    /// By what it was taken back, if it was; or what it takes back, if it is a retraction itself.
    package var form: RetractionForm?
    /// Whether it is no reading, but a retraction.
    package var isRetraction = false
}

/// A rejected reading, for a store to keep as a dead letter and to count.
package struct KeptRejection: Sendable {
    /// Reading and reason.
    package var reading: RejectedReading
    /// The reading's value records.
    package var payload: [UInt8]
    /// The place in the journal of a reading that an earlier run had accepted: it is not to be taken from there again.
    package var place: JournalPlace?
    /// Whether it is the reading at ``place`` that has taken the place of this one: that is taken from there again.
    package var isReplacedFrom = false
    /// Whether the reading had taken the place of another, which has it again and is not superseded any more.
    package var undoesReplacement = false
    /// Whether it has a letter, and was counted, long since.
    package var isKnown = false

    /// Bytes that one takes in memory, about.
    static let byteCount = 256
}
