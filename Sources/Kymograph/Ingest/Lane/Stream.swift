import KymographCore

/// One open stream: a client's connection, a serial line, or standard input.
final class Stream {
    /// What the kernel gives of it.
    enum Content {
        /// Bytes, which a protocol reads.
        case bytes(StreamDecoder)
        /// Messages, each of which is a payload.
        case messages
    }

    let descriptor: Descriptor
    /// Index of the source it belongs to.
    let source: Int
    /// The source's number for the consumer.
    let number: Int
    let content: Content
    /// Most bytes of a payload.
    let lineCap: Int
    /// Who the client is, where the kernel says it.
    let peer: Peer?
    /// How its sender hears what is durable.
    let acknowledging: Acknowledging
    /// What its sender is told, once there is something to tell.
    var acknowledger: Acknowledger?
    /// Whether the client writes no more, and waits for its acknowledgements.
    var isHalfClosed = false
    /// Whether nothing has come yet: the first payload may ask for acknowledgements, or be the rest of one that began
    /// before the line was opened.
    var isFresh: Bool
    /// Whether payloads may begin before the stream is opened, and end after it has gone, and nothing else tells.
    let hasOpenEnds: Bool
    /// When bytes came last, or else when it was opened.
    var lastReceived = ContinuousClock.now

    /// A stream of source `source`; `listener` is what its client has connected to.
    init(
        _ descriptor: Descriptor, source: Int, configuration: SourceConfiguration,
        listener: OpenedSource.Listener? = nil, peer: Peer? = nil
    ) {
        self.descriptor = descriptor
        self.peer = peer
        self.source = source
        number = configuration.number
        lineCap = configuration.lineCap
        hasOpenEnds = configuration.hasOpenEnds
        isFresh = listener != nil || configuration.hasOpenEnds
        let decoder = StreamDecoder(configuration.framing, cap: configuration.lineCap)
        let hasMessages = listener?.hasMessages ?? false
        content = hasMessages ? .messages : .bytes(decoder)
        acknowledging = hasMessages ? .onRequest : decoder.base.acknowledging
    }

    /// Whether `payload`, the first or the unfinished last one, may be a part of what was sent. A part of a JSON
    /// document is none, but one of a packet can be another packet.
    func mayBePart(_ payload: ByteView) -> Bool {
        guard hasOpenEnds else { return false }
        var start = payload.startBehindByteOrderMark
        while start < payload.count, payload[start] <= 0x20 { start += 1 }
        return start == payload.count || payload[start] != UInt8(ascii: "{") && payload[start] != UInt8(ascii: "[")
    }

    /// Tells the sender `reply` once everything handed on so far is durable.
    func expectReply(_ reply: [UInt8]) {
        if acknowledger == nil { acknowledger = Acknowledger() }
        acknowledger?.add(reply: reply)
    }
}
