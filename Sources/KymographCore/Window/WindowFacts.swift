/// What an archive is told of a window besides its content.
public struct WindowFacts: Sendable {
    /// First instant after the window; of a correlation window, its last reading.
    public var end: Instant
    /// First reading.
    public var firstReading: Instant
    /// Last reading.
    public var lastReading: Instant
    /// Readings by the number of their source (``ReadingSource``).
    public var readings: InlineArray<16, UInt32>
    /// Readings that added values to one that was there, since the window was opened.
    public var merged: UInt32
    /// Readings that were there already, since the window was opened.
    public var duplicates: UInt32
    /// Readings whose values differed from what was there, since the window was opened.
    public var conflicts: UInt32
    /// The journal's block of the first reading since the window was opened.
    public var journal: Int64
    /// Readings, by the number of their source, that the archive had when the window was opened; empty for a new one.
    public var restored: [UInt32] = []
    /// Who gets the Observations that have shown it since it was opened.
    public var route = BundleRoute.none
    /// Whether its readings were Observations of their own: they left before it, in bundles that may be of earlier
    /// units.
    public var isCarrier = false

    /// In place of the facts, for an archive that does not read them.
    static let unread = WindowFacts(
        end: .distantPast, firstReading: .distantPast, lastReading: .distantPast, readings: .init(repeating: 0),
        duplicates: 0, conflicts: 0, journal: 0)

    /// The facts of a window.
    public init(
        end: Instant, firstReading: Instant, lastReading: Instant, readings: InlineArray<16, UInt32>,
        merged: UInt32 = 0, duplicates: UInt32, conflicts: UInt32, journal: Int64
    ) {
        (self.end, self.firstReading, self.lastReading) = (end, firstReading, lastReading)
        (self.readings, self.duplicates, self.conflicts) = (readings, duplicates, conflicts)
        self.merged = merged
        self.journal = journal
    }
}
