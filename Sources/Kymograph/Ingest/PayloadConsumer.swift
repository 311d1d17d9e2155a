package import KymographCore

/// What a lane does with the bytes it receives.
///
/// The pipeline implements it by mapping them. All methods are called on the lane's thread, and may block: a blocked
/// consumer is backpressure, which Unix sockets and pipes pass on to the sender and UDP shows as kernel drops.
/// Views are valid only during the call and have ``ByteView/padding`` readable bytes after them.
package protocol PayloadConsumer: ~Copyable {
    /// A batch of datagrams or a chunk of a stream has arrived, and its payloads follow; also called now and then while
    /// nothing arrives.
    mutating func batchBegin()

    /// Says who sends the payloads that follow, up to the next call; nil when the source cannot tell. Called after
    /// ``batchBegin()``, per batch.
    mutating func sender(_ peer: Peer?)

    /// One line of a stream of NDJSON, without its newline and without a carriage return before it. Empty lines are
    /// left out.
    mutating func line(_ bytes: ByteView, source: Int, received: Instant)

    /// Takes the first line of `bytes` if it can be told before its end is found; its length without its newline, or
    /// nil when nothing has happened: the line comes by ``line(_:source:received:)`` then.
    mutating func knownLine(_ bytes: ByteView, source: Int, received: Instant) -> Int?

    /// One whole datagram, one message of a socket that keeps them apart, or one frame of a stream that is not
    /// NDJSON.
    mutating func datagram(_ bytes: ByteView, source: Int, received: Instant)

    /// Bytes that are no payload: the first part (up to the cap) of a line or frame that is too long, the first part of
    /// a datagram that is too long, what is no frame, or the unfinished line or frame of a stream that was still open
    /// when the lane stopped.
    mutating func rejected(_ reason: Rejection, bytes: ByteView, source: Int, received: Instant)

    /// Names the place up to which payloads have been handed over and published, for ``isDurable(_:)``; nil when
    /// nothing becomes durable here.
    mutating func mark() -> DurableMark?

    /// Whether everything before `mark` is durable: in windows of the journal, or among the dead letters.
    mutating func isDurable(_ mark: DurableMark) -> Bool

    /// Called about four times a second, however busy or quiet the lane.
    mutating func idled()

    /// Something about a source that its operator should know: a serial line has gone, or is back.
    mutating func noted(_ text: String)

    /// The end of a batch of datagrams or a chunk of a stream: the time to publish and to wake the shards.
    mutating func batchEnd()
}

extension PayloadConsumer where Self: ~Copyable {
    /// Does nothing.
    package mutating func batchBegin() {}

    /// Knows none.
    package mutating func knownLine(_ bytes: ByteView, source: Int, received: Instant) -> Int? { nil }

    /// Forgets it.
    package mutating func sender(_ peer: Peer?) {}

    /// Has nothing to do now and then.
    package mutating func idled() {}

    /// Default: ignored.
    package mutating func noted(_ text: String) {}

    /// Nothing becomes durable.
    package mutating func mark() -> DurableMark? { nil }

    /// Nothing becomes durable.
    package mutating func isDurable(_ mark: DurableMark) -> Bool { false }
}

/// A place in what a lane has handed over.
package struct DurableMark: Equatable, Sendable {
    /// Slots written to the ring of each shard.
    var positions: [UInt64]
    /// Changes given to the store.
    var changes: Int
}
