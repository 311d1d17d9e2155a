import Glibc

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
    /// How its bytes come and go.
    let transport: StreamTransport
    /// Index of the source it belongs to.
    let source: Int
    let content: Content
    /// What its payloads depend on, which protocols see.
    let progress: StreamProgress
    /// Who the client is, where the kernel or a proxy says it.
    private(set) var peer: Peer?
    /// What a proxy says first; nil once it has, and where no proxy is.
    var proxyHeader: ProxyHeader?
    /// Whether it is known who the client is, and both sides know each other.
    var isEstablished: Bool { proxyHeader == nil && transport.isEstablished }
    /// What is known of the client for a list of peers.
    var identity: PeerIdentity {
        var identity = PeerIdentity(names: transport.peerNames)
        switch peer {
        case .network(let address): identity.address = NetworkRange.bytes(of: address.host)
        case .process(let credentials): identity.user = credentials.user
        case .topic, .key, nil: break
        }
        return identity
    }

    /// Whether the client writes no more, and waits for its acknowledgements.
    var isHalfClosed = false
    /// Whether nothing is read of it until its client has taken replies.
    var isPaused = false
    /// Whether nothing is read of it because its source is paused.
    var isHeld = false
    /// When bytes came last, or else when it was opened.
    var lastReceived = ContinuousClock.now

    /// Notes that the connection to a broker has failed with the errno `code`. One that was cut says no more than one
    /// that the broker has closed.
    func fail(code: Int32) {
        if let fault = transport.fault {
            fail(fault)
        } else if code != ECONNRESET, code != EPIPE {
            fail(ErrorText.of(code))
        }
    }

    /// Whether a broker is at its other end.
    var isOfBroker: Bool { if case .bytes(.messages) = content { true } else { false } }

    /// Notes who the client is, as a proxy has said.
    func name(_ peer: Peer?) { (self.peer, proxyHeader) = (peer, nil) }

    /// Notes why the connection to a broker cannot go on; of no other stream is that told by its protocol.
    func fail(_ reason: String) {
        if case .bytes(.messages(let messages)) = content { messages.fail(reason) }
    }

    /// A stream of source `source`; `listener` is what its client has connected to, `messages` reads those of a
    /// broker, and `records` those of a topic.
    init(
        _ descriptor: Descriptor, source: Int, configuration: SourceConfiguration,
        listener: OpenedSource.Listener? = nil, peer: Peer? = nil, proxyHeader: ProxyHeader? = nil,
        transport: StreamTransport = .plain, messages: MQTTProtocol? = nil, records: RecordProtocol? = nil
    ) {
        self.descriptor = descriptor
        self.transport = transport
        self.proxyHeader = proxyHeader
        self.peer = peer ?? (messages?.namesSenders ?? false ? .topic : nil)
        self.source = source
        let decoder =
            messages.map { .messages($0) } ?? records.map { .records($0) } ?? listener?.requests.map {
                .requests(HTTPIngestProtocol($0))
            }
            ?? listener?.messages.map { .acknowledged(MLLPProtocol($0, cap: configuration.lineCap)) }
            ?? StreamDecoder(configuration)
        let hasMessages = listener?.hasMessages ?? false
        content = hasMessages ? .messages : .bytes(decoder)
        progress = StreamProgress(
            number: configuration.number, lineCap: configuration.lineCap,
            acknowledging: hasMessages ? .onRequest : decoder.base.acknowledging,
            isFresh: listener != nil || configuration.hasOpenEnds, hasOpenEnds: configuration.hasOpenEnds,
            mayEndWithin: configuration.mayEndWithin || FileSystem.isPipe(descriptor.raw),
            drops: configuration.dropsWhenFull,
            access: configuration.peers.map {
                StreamAccess($0, former: configuration.former, hasRequests: listener?.requests != nil)
            })
    }
}
