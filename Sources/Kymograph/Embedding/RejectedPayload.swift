public import KymographCore

/// A reading, or a payload that gave none, that does not arrive, with the reason and its bytes.
///
/// Most are rejected when they are mapped. What only a window can tell, such as a reading that comes after its window
/// has left the archive, is rejected later. With a store it is among the dead letters too (`kymo dead`).
public struct RejectedPayload: Sendable {
    /// The reason.
    public let reason: Rejection
    /// What is known besides: the rule, the value, the sender. For people; may be empty.
    public let detail: String
    /// The source's name in messages, such as `app main` or `udp 127.0.0.1:5757`.
    public let source: String
    /// When it was received.
    public let receivedAt: Instant
    /// What was received, as far as it is kept (`limits.lineBytes`); or, with ``isMapped``, the reading.
    public let bytes: [UInt8]
    /// Whether ``bytes`` are the reading as it was mapped, in JSON, because it was rejected later than that.
    public let isMapped: Bool

    init(_ reason: Rejection, _ letter: StoredDeadLetter) {
        self.reason = reason
        detail = letter.detail
        source = letter.source
        receivedAt = letter.at
        bytes = letter.bytes
        isMapped = letter.kind == .measurement
    }
}
