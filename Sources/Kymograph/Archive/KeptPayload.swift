import GRDB
package import KymographCore

/// A payload that readings of a window came from.
package struct KeptPayload: Sendable {
    /// The source's number in the store.
    package var source: Int
    /// When it came.
    package var received: Instant
    /// The times of its readings in the window, in the order in which it has them.
    package var readings: [Instant]
    /// As it was mapped: a line without its end, a datagram, the payload of a frame.
    package var bytes: [UInt8]
}

extension StoreReader {
    /// Whether payloads are kept (`store.keepRaw`).
    ///
    /// - Throws: ``PipelineError`` when the database cannot be read.
    package func hasPayloads() throws(PipelineError) -> Bool { try read { try StoredPayloads.exist($0) } }

    /// Hands to `body` the payloads with readings of the same series and time as those of `window` that `isWanted` by
    /// their times, in the order in which they were stored. What came several times is several; what came at another
    /// time, and was moved or taken back since, is none. `types` are those of the store. It ends when `body` gives
    /// false: what comes later is not read then.
    ///
    /// - Returns: whether all that was asked for could be read; false also when the window cannot be.
    /// - Throws: ``PipelineError`` when the database cannot be read.
    package func forEachPayload(
        of window: ArchivedWindow, where isWanted: (Instant) -> Bool, types: [MeasurementType],
        _ body: (KeptPayload) -> Bool
    ) throws(PipelineError) -> Bool {
        var instants: Set<Instant> = []
        var isWhole = window.forEachReading { reading, _ in
            if isWanted(reading.instant) { instants.insert(reading.instant) }
        }
        guard let earliest = instants.min(), let latest = instants.max() else { return isWhole }
        let wanted = PayloadSeries(window.series, type: types[window.series.type].name)
        // One row at a time: whoever reads what `body` prints may be slow, and the log of the database grows meanwhile.
        var goesOn = true
        for number in try read({ try StoredPayloads.rows(of: wanted.device, first: earliest, last: latest, $0) }) {
            guard goesOn else { break }
            let content = try read { try StoredPayloads.content(ofRow: number, $0) }
            let isRead = content.map { content in
                PayloadRow.forEachSection(content) { bytes, reader in
                    while goesOn, let record = reader.next() {
                        let times = record.readings
                            .filter { reader.series[$0.series] == wanted && instants.contains($0.instant) }
                            .map(\.instant)
                        guard !times.isEmpty else { continue }
                        goesOn = body(
                            KeptPayload(
                                source: record.source, received: record.received, readings: times,
                                bytes: bytes[record.bytes].array))
                    }
                    return goesOn
                }
            }
            isWhole = isWhole && isRead == true
        }
        return isWhole
    }
}
