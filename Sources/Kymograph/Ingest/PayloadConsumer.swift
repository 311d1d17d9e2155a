public import KymographCore

/// What a lane does with the bytes it receives.
///
/// The pipeline implements it by mapping them. All methods are called on the lane's thread, and may block: a blocked
/// consumer is backpressure, which Unix sockets and pipes pass on to the sender and UDP shows as kernel drops.
/// Views are valid only during the call and have ``ByteView/padding`` readable bytes after them.
public protocol PayloadConsumer: ~Copyable {
    /// A batch of datagrams or a chunk of a stream has arrived, and its payloads follow; also called now and then while
    /// nothing arrives.
    mutating func batchBegin()

    /// One line of a stream, without its newline and without a carriage return before it. Empty lines are left out.
    mutating func line(_ bytes: ByteView, source: Int, received: Instant)

    /// One whole datagram.
    mutating func datagram(_ bytes: ByteView, source: Int, received: Instant)

    /// Bytes that are no payload: the first part (up to the cap) of a line that is too long, the first part of a
    /// datagram that is too long, or the unfinished line of a stream that was still open when the lane stopped.
    mutating func rejected(_ reason: Rejection, bytes: ByteView, source: Int, received: Instant)

    /// The end of a batch of datagrams or a chunk of a stream: the time to publish and to wake the shards.
    mutating func batchEnd()
}

extension PayloadConsumer where Self: ~Copyable {
    /// Does nothing.
    public mutating func batchBegin() {}
}
