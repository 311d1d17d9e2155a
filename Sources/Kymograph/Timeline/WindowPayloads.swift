import GRDB
package import KymographCore

/// The payloads, as they came, that the readings of a window were made of: what `store.keepRaw` keeps.
package struct WindowPayloads: Sendable {
    /// One of them.
    package struct Payload: Sendable {
        /// When it came.
        package var received: Instant
        /// The source's name; empty when the store does not know it any more.
        package var source: String
        /// Readings of the window that it gave.
        package var readings: Int
        /// As it was mapped.
        package var bytes: [UInt8]
    }

    /// Whether the store keeps any.
    package var isKept: Bool
    /// In the order in which they were stored.
    package var payloads: [Payload] = []
    /// Whether there are more.
    package var isPartial = false
    /// Whether some of those before the limit are damaged, or readings of the window are.
    package var isDamaged = false
}

extension StoreReader {
    /// Those of the window that `cursor` names, at most `limit` with at most `bytes` bytes together; nil when there is
    /// no such window.
    ///
    /// - Throws: ``PipelineError`` when the database cannot be read.
    package func payloads(
        ofWindow cursor: ArchiveCursor, limit: Int, bytes limitOfBytes: Int
    ) throws(PipelineError) -> WindowPayloads? {
        let row = try read { db in
            try Row.fetchOne(
                db,
                sql: """
                    SELECT \(ArchivedWindow.columns) FROM window JOIN series ON series.number = window.series
                    WHERE window.start = ? AND window.series = ?
                    """, arguments: [cursor.start, cursor.series]
            ).map { ArchivedWindow($0) }
        }
        let types = try types()
        guard let window = row, types.indices.contains(window.series.type) else { return nil }
        var found = WindowPayloads(isKept: try hasPayloads())
        guard found.isKept else { return found }
        let sources = try sourceNames()
        var size = 0
        let isWhole = try forEachPayload(of: window, where: { _ in true }, types: types) { payload in
            let isFirst = found.payloads.isEmpty
            guard found.payloads.count < limit, isFirst || size + payload.bytes.count <= limitOfBytes else {
                found.isPartial = true
                return false
            }
            size += payload.bytes.count
            found.payloads.append(
                WindowPayloads.Payload(
                    received: payload.received, source: sources[payload.source] ?? "",
                    readings: payload.readings.count, bytes: payload.bytes))
            return true
        }
        found.isDamaged = !isWhole
        return found
    }
}
