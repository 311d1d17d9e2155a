/// A reading that was rejected after it had been mapped.
public struct RejectedReading: Sendable {
    /// Why.
    public var reason: Rejection
    /// The reading.
    public var measurement: Measurement
    /// Whose it is.
    public var identity: SeriesIdentity
    /// The number under which a journal knows the series, or -1 when it has none.
    public var series: Int
    /// Whether a closed window holds it all the same: the window as a whole gives no Observation.
    public var isInWindow: Bool
}

/// A rejected reading, for a store to keep as a dead letter and to count.
public struct KeptRejection: Sendable {
    /// Reading and reason.
    public var reading: RejectedReading
    /// The reading's value records.
    public var payload: [UInt8]
    /// The place in the journal of a reading that an earlier run had accepted: it is not to be taken from there again.
    public var place: JournalPlace?
    /// Whether it is the reading at ``place`` that has taken the place of this one: that is taken from there again.
    public var isReplacedFrom = false
    /// Whether the reading had taken the place of another, which has it again and is not superseded any more.
    public var undoesReplacement = false
    /// Whether it has a letter, and was counted, long since.
    public var isKnown = false

    /// Bytes that one takes in memory, about.
    static let byteCount = 256
}
