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
        guard !stream.mayBeBeginning(bytes) else { return reject(.frameIncomplete, bytes, to: &consumer) }
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
    public mutating func reply(_ bytes: [UInt8]) {
        if !bytes.isEmpty { stream.expectReply(bytes) }
    }

    /// Tells the sender `bytes` as ``reply(_:)`` does, with what `telling` says then in place of those in `place`.
    mutating func reply(_ bytes: [UInt8], telling: ReplyTelling, in place: Range<Int>) {
        stream.expectReply(bytes, telling: telling, in: place)
    }

    /// Tells the sender behind all replies that nothing more comes.
    mutating func endReplies() { stream.acknowledger?.endsSending = true }

    /// Tells the sender `bytes` at once, and nothing that waits to be durable any more.
    mutating func sendLast(_ bytes: [UInt8]) {
        stream.acknowledger?.giveUp([])
        send(bytes)
    }

    /// Who sends a request.
    enum Sender {
        /// There is no list of peers.
        case anybody
        /// One of them.
        case known(PeerAdmission)
        /// None of them.
        case unknown
    }

    /// Whether a list of peers says who may send.
    var asksWhoSends: Bool { stream.access != nil }

    /// Who sends a request that bears `credential`, or none; counts one that is not known.
    mutating func sender(bearing credential: RequestCredential?) -> Sender {
        guard let access = stream.access else { return .anybody }
        if let admission = access.admission(bearing: credential, at: arrival.received) { return .known(admission) }
        counts.authFailures[RequestCredential.failure(of: credential)] += 1
        return .unknown
    }

    /// Tells the sender `bytes` at once, whatever waits to be durable. For protocols with ``Acknowledging/byProtocol``.
    mutating func send(_ bytes: [UInt8]) {
        if !bytes.isEmpty { stream.send(bytes) }
    }

    /// Whether so many replies wait to be durable, or to be taken by the sender, that no more is to be handed on. What
    /// is left is asked for by an empty piece.
    var isFull: Bool { stream.acknowledger?.isFull ?? false }

    /// Hands on the first line of `bytes` if the consumer can tell it before its newline is looked for; its length.
    @inline(__always)
    mutating func knownLine(_ bytes: ByteView, to consumer: inout some PayloadReceiver & ~Copyable) -> Int? {
        // No further than a line may reach.
        let line = bytes[0..<min(bytes.count, stream.lineCap + 1)]
        guard let length = consumer.knownLine(line, source: arrival.source, received: arrival.received) else {
            return nil
        }
        counts.lines &+= 1
        return length
    }

    /// Hands on one line, without its end, or rejects one that is too long.
    mutating func line(_ bytes: ByteView, to consumer: inout some PayloadReceiver & ~Copyable) {
        guard bytes.count <= stream.lineCap else { return reject(.lineTooLong, bytes, to: &consumer) }
        counts.lines += 1
        consumer.line(bytes, source: arrival.source, received: arrival.received)
    }

    /// Hands on one JSON document, or rejects one that is too long.
    mutating func document(_ bytes: ByteView, to consumer: inout some PayloadReceiver & ~Copyable) {
        guard bytes.count <= stream.lineCap else { return reject(.frameTooLong, bytes, to: &consumer) }
        handOn(bytes, to: &consumer)
    }

    /// Hands on one document of this device and patient, each nil where its content alone says who has sent it, or
    /// rejects one that is too long.
    mutating func document(
        _ bytes: ByteView, device: ByteView?, patient: ByteView?, to consumer: inout some PayloadReceiver & ~Copyable
    ) {
        guard bytes.count <= stream.lineCap else { return reject(.frameTooLong, bytes, to: &consumer) }
        guard device != nil || patient != nil else { return handOn(bytes, to: &consumer) }
        counts.lines += 1
        consumer.datagram(bytes, device: device, patient: patient, source: arrival.source, received: arrival.received)
    }

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

    /// Whether the stream may end within a payload, though its sender has ended it.
    var mayEndWithin: Bool { stream.mayEndWithin }

    /// Passes over the first payload, which is empty, or the end of one that was too long.
    func passFirst() { stream.isFresh = false }

    /// Looks at `bytes`, which are the first payload if none came before.
    func first(_ bytes: ByteView, _ consumer: inout some PayloadReceiver & ~Copyable) -> First {
        guard stream.isFresh else { return .payload }
        stream.isFresh = false
        if stream.mayBeRest(bytes) { return .part }
        guard stream.acknowledging == .onRequest, !stream.hasOpenEnds,
            bytes.equals(ByteView(Acknowledger.request))
        else { return .payload }
        let refusal: Acknowledger.Refusal? = consumer.mark() == nil ? .keepsNothing : stream.drops ? .drops : nil
        stream.acknowledger = Acknowledger(refusing: refusal)
        return .request
    }

    /// Whether `bytes`, unfinished at the end, may be the beginning of what was sent.
    func mayBeBeginning(_ bytes: ByteView) -> Bool { stream.mayBeBeginning(bytes) }

    private mutating func handOn(_ bytes: ByteView, to consumer: inout some PayloadReceiver & ~Copyable) {
        counts.lines += 1
        consumer.datagram(bytes, source: arrival.source, received: arrival.received)
    }
}
