/// Reads the readings of an archived window's block. Nothing in the bytes is trusted: they may have been damaged.
package struct ArchivedReadings {
    private var decoder: WindowBlockDecoder

    /// Reads what comes before the readings; nil when it is damaged or of another version.
    package init?(_ block: ByteView) {
        guard let decoder = WindowBlockDecoder(block) else { return nil }
        self.decoder = decoder
    }

    /// Readings that the block says it has.
    package var count: Int { decoder.count }

    /// Whether all readings were read, and nothing else is there.
    package var isComplete: Bool { decoder.isComplete }

    /// The next reading with its value records, or nil at the end and when the block is damaged.
    package mutating func next() -> (reading: Measurement, payload: ByteView)? {
        guard var reading = decoder.next() else { return nil }
        // Receive times of single values follow the payload; they matter to the merging of late readings only.
        reading.mark &= ReadingMark.source
        return (reading, decoder.payload[0..<reading.payloadBytes])
    }
}

extension Grouping {
    /// The start under which the archive keeps the window around `instant`.
    package func archiveStart(around instant: Instant) -> Instant {
        SeriesState.span(of: self, around: instant).key
    }
}
