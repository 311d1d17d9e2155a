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
    let content: Content
    /// What its payloads depend on, which protocols see.
    let progress: StreamProgress
    /// Who the client is, where the kernel says it.
    let peer: Peer?
    /// Whether the client writes no more, and waits for its acknowledgements.
    var isHalfClosed = false
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
        let decoder = StreamDecoder(configuration)
        let hasMessages = listener?.hasMessages ?? false
        content = hasMessages ? .messages : .bytes(decoder)
        progress = StreamProgress(
            number: configuration.number, lineCap: configuration.lineCap,
            acknowledging: hasMessages ? .onRequest : decoder.base.acknowledging,
            isFresh: listener != nil || configuration.hasOpenEnds, hasOpenEnds: configuration.hasOpenEnds)
    }
}
