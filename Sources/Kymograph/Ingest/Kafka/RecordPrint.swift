import KymographCore

/// What tells a record from all others: a digest of its time, key and value. A store keeps it, and nothing of the
/// record.
struct RecordPrint: Hashable, Sendable {
    /// How many bytes it has.
    static let size = 32

    /// They.
    let bytes: [UInt8]

    /// That of `record`.
    init(_ record: TopicRecord) {
        let size = (record.key?.count ?? 0) + (record.value?.count ?? 0)
        var writer = ByteWriter(capacity: size + 24)
        Self.append(record.milliseconds ?? -1, to: &writer)
        for part in [record.key, record.value] {
            // With its length: the end of a key is no beginning of a value, and a tombstone no empty one.
            Self.append(part.map { Int64($0.count) } ?? -1, to: &writer)
            writer.append(part ?? [])
        }
        let digest = Digest256.openSSL.of(writer.view)
        bytes = (0..<Self.size).map { digest[$0] }
    }

    /// What a store has kept; nil for bytes of another length.
    init?(stored bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        self.bytes = bytes
    }

    private static func append(_ number: Int64, to writer: inout ByteWriter) {
        for place in 0..<8 { writer.append(UInt8(truncatingIfNeeded: number >> (8 * Int64(place)))) }
    }
}
