/// State of one reading of a window, in ``StoredReading/mark``.
enum ReadingMark {
    /// Instance grouping: not yet emitted as it is now.
    static let unsent: UInt8 = 1
    /// Instance grouping: was emitted before, and not kept from every sink by rules.
    static let emitted: UInt8 = 2
    /// Of a record of the journal, where it is no state of a window's: it took the place of another reading, which was
    /// counted and kept as a dead letter then.
    static let supersedes: UInt8 = 1
    /// Of a record of the journal: the reading, which was there, has moved to another time, and the next record is what
    /// it became.
    static let moves: UInt8 = 2
    /// Of a record of the journal: the reading, which was there, was taken back. No other record has both marks.
    static let retracts: UInt8 = moves | supersedes
    /// Of a record of the journal, or of a ring: a dead letter that was taken again. What is there was there after it.
    static let returned: UInt8 = 4
    /// Instance grouping: is being encoded by the owner; any change takes this away.
    static let sending: UInt8 = 4
    /// Its values were received at different times, which follow the payload.
    static let mixedReceipt: UInt8 = 8
    /// The upper four bits name the source, see ``ReadingSource``.
    static let source: UInt8 = 0xF0
}
