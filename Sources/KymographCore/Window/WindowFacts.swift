/// What an archive is told of a window besides its content.
package struct WindowFacts: Sendable, BitwiseCopyable {
    /// First instant after the window; of a correlation window, its last reading.
    package var end: Instant
    /// First reading.
    package var firstReading: Instant
    /// Last reading.
    package var lastReading: Instant
    /// Readings by the number of their source (``ReadingSource``).
    package var readings: InlineArray<16, UInt32>
    /// Readings that added values to one that was there, since the window was opened.
    package var merged: UInt32
    /// Readings that were there already, since the window was opened.
    package var duplicates: UInt32
    /// Readings whose values differed from what was there, since the window was opened.
    package var conflicts: UInt32
    /// The journal's block of the first reading since the window was opened.
    package var journal: Int64
    /// Whether the archive had content of it when it was opened.
    package private(set) var isRestored = false
    private var former = InlineArray<16, UInt32>(repeating: 0)
    /// Who gets the Observations that have shown it since it was opened.
    package var route = BundleRoute.none
    /// Whether the archive has this content already, and only receive times are new: nothing was amended.
    package var isRestamped = false
    /// Whether its readings were Observations of their own: they left before it, in bundles that may be of earlier
    /// units.
    package var isCarrier = false

    /// Notes that the archive had `readings` of it, by the number of their source, when it was opened.
    package mutating func noteRestored(_ readings: InlineArray<16, UInt32>) { (isRestored, former) = (true, readings) }

    /// Appends `source:count` pairs of the sources that have readings, with spaces between; gives how many readings
    /// there are.
    package func appendSources(to writer: inout ByteWriter) -> Int {
        var total = 0
        for source in 0..<16 {
            let count = readings[source]
            if count == 0 { continue }
            if total > 0 { writer.append(UInt8(ascii: " ")) }
            writer.append(digits: UInt64(source))
            writer.append(UInt8(ascii: ":"))
            writer.append(digits: UInt64(count))
            total += Int(count)
        }
        return total
    }

    /// In place of the facts, for an archive that does not read them.
    static let unread = WindowFacts(
        end: .distantPast, firstReading: .distantPast, lastReading: .distantPast, readings: .init(repeating: 0),
        duplicates: 0, conflicts: 0, journal: 0)

    /// Readings, by the number of their source, that the archive had when the window was opened; empty for a new one.
    ///
    /// Not stored as an array: facts are copied for each window, and references to it would be counted each time.
    package var restored: [UInt32] {
        get { isRestored ? former.indices.map { former[$0] } : [] }
        set {
            isRestored = !newValue.isEmpty
            former = .init(repeating: 0)
            for (source, count) in newValue.enumerated() { former[source] = count }
        }
    }

    /// The facts of a window.
    package init(
        end: Instant, firstReading: Instant, lastReading: Instant, readings: InlineArray<16, UInt32>,
        merged: UInt32 = 0, duplicates: UInt32, conflicts: UInt32, journal: Int64
    ) {
        (self.end, self.firstReading, self.lastReading) = (end, firstReading, lastReading)
        (self.readings, self.duplicates, self.conflicts) = (readings, duplicates, conflicts)
        self.merged = merged
        self.journal = journal
    }
}
