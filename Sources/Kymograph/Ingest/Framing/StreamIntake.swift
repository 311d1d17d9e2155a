public import KymographCore

/// Where and when bytes arrived.
package struct Arrival: Sendable {
    /// The source's number.
    package var source: Int
    /// When the batch was received.
    package var received: Instant
}

/// One look at a stream: its protocol hands on payloads here, and they are counted.
public struct StreamIntake {
    private let stream: StreamProgress
    /// Where and when the bytes arrived.
    package private(set) var arrival: Arrival
    /// What the look has given.
    var counts = SourceCounts()

    /// A look at `stream` now.
    init(_ stream: StreamProgress, received: Instant = WallClock.now()) {
        self.stream = stream
        arrival = Arrival(source: stream.number, received: received)
    }

    /// Notes that the bytes have been read by now, and not when the look began.
    mutating func noteRead() { arrival.received = WallClock.now() }

    /// Payloads that were handed on or rejected.
    var payloads: UInt64 { counts.lines + counts.datagrams }

    /// Hands on one whole payload, unless it is the stream's first one and is none: it asks for acknowledgements, or
    /// may be a part of what was sent before the stream was opened.
    public mutating func payload(_ bytes: ByteView, to consumer: inout some PayloadReceiver & ~Copyable) {
        switch first(bytes, &consumer) {
        case .payload: handOn(bytes, to: &consumer)
        case .part: reject(.beginningMissed, bytes, to: &consumer)
        case .request: break
        }
    }

    /// Hands on a payload that nothing but the end of the stream has completed, unless it may be a part.
    public mutating func lastPayload(_ bytes: ByteView, to consumer: inout some PayloadReceiver & ~Copyable) {
        guard !stream.mayBePart(bytes) else { return reject(.frameIncomplete, bytes, to: &consumer) }
        handOn(bytes, to: &consumer)
    }

    /// Gives up bytes that are no payload: the first ones of them, as many as a payload may have.
    public mutating func reject(
        _ reason: Rejection, _ bytes: ByteView, to consumer: inout some PayloadReceiver & ~Copyable
    ) {
        stream.isFresh = false
        counts.lines += 1
        counts.rejected += 1
        consumer.rejected(
            reason, bytes: bytes[0..<min(bytes.count, stream.lineCap)], source: arrival.source,
            received: arrival.received)
    }

    /// Tells the sender `bytes` once everything handed on so far is durable, or at once where nothing ever is. Replies
    /// leave in order. For protocols with ``Acknowledging/byProtocol``.
    public mutating func reply(_ bytes: [UInt8]) { stream.expectReply(bytes) }

    /// Hands on one message of a socket that keeps them apart.
    mutating func message(
        _ bytes: ByteView, isTruncated: Bool, to consumer: inout some PayloadReceiver & ~Copyable
    ) {
        counts.bytes += UInt64(bytes.count)
        if case .request = first(bytes, &consumer) { return }
        counts.datagrams += 1
        guard isTruncated else {
            return consumer.datagram(bytes, source: arrival.source, received: arrival.received)
        }
        counts.rejected += 1
        consumer.rejected(.truncatedDatagram, bytes: bytes, source: arrival.source, received: arrival.received)
    }

    /// What the first payload of a stream may be.
    enum First {
        /// A payload, as are all others.
        case payload
        /// The request for acknowledgements, which begin then.
        case request
        /// The rest of a payload whose beginning came before the stream was opened.
        case part
    }

    /// Whether nothing has come yet.
    var isFresh: Bool { stream.isFresh }

    /// Whether the stream may begin and end within a payload.
    var hasOpenEnds: Bool { stream.hasOpenEnds }

    /// Passes over the first payload, which is empty, or the end of one that was too long.
    func passFirst() { stream.isFresh = false }

    /// Looks at `bytes`, which are the first payload if none came before.
    func first(_ bytes: ByteView, _ consumer: inout some PayloadReceiver & ~Copyable) -> First {
        guard stream.isFresh else { return .payload }
        stream.isFresh = false
        if stream.mayBePart(bytes) { return .part }
        guard stream.acknowledging == .onRequest, !stream.hasOpenEnds,
            bytes.equals(ByteView(Acknowledger.request))
        else { return .payload }
        stream.acknowledger = Acknowledger(canKeep: consumer.mark() != nil)
        return .request
    }

    /// Whether `bytes`, unfinished at the end, may be a part of what was sent.
    func mayBePart(_ bytes: ByteView) -> Bool { stream.mayBePart(bytes) }

    private mutating func handOn(_ bytes: ByteView, to consumer: inout some PayloadReceiver & ~Copyable) {
        counts.lines += 1
        consumer.datagram(bytes, source: arrival.source, received: arrival.received)
    }
}
