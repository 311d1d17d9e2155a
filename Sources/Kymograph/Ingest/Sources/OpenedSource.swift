import CKymographLinux

/// An open source: what a lane reads, and how.
public struct OpenedSource: Sendable {
    /// How a lane reads it.
    public enum Form: Sendable {
        /// A socket of datagrams. Where they may gather, a lane lets them do so in the receive buffer while they come
        /// densely; where few fit and senders wait, it takes each at once.
        case datagrams(mayGather: Bool)
        /// A socket of datagrams by DTLS.
        case associations(Associations)
        /// A socket of sealed datagrams.
        case sealed(Sealed)
        /// A socket that clients connect to.
        case listener(Listener)
        /// A stream with which the source ends.
        case stream
        /// A stream that may go and come back. A lane waits for it with `reopen`, and so it does at the start when the
        /// descriptor is -1.
        case returningStream(reopen: Reopen)
        /// A broker, to which a lane connects again and again.
        case broker(Broker)
        /// A topic, which a thread of its own reads for the lane.
        case records(Records)
    }

    /// Opens a stream again.
    ///
    /// - Throws: ``SourceError`` while it is not there.
    public typealias Reopen = @Sendable () throws(SourceError) -> Descriptor

    /// A broker of messages: where it is, and what it is asked for.
    public struct Broker: Sendable {
        /// Its host, a name or a numeric address, and its port.
        package var address: NetworkAddress
        /// Whether it may be on another machine.
        package var mayBeRemote: Bool
        /// How it is reached by TLS; nil for no TLS.
        package var tls: BrokerTLS?
        /// What it is asked for.
        package var settings: MQTTSettings
        /// The name of the session.
        package var clientID: String

        /// A broker of MQTT.
        package init(
            _ address: NetworkAddress, mayBeRemote: Bool, tls: BrokerTLS? = nil, settings: MQTTSettings,
            clientID: String
        ) {
            (self.address, self.mayBeRemote, self.tls) = (address, mayBeRemote, tls)
            (self.settings, self.clientID) = (settings, clientID)
        }
    }

    /// A topic of records.
    public struct Records: Sendable {
        /// What reads it.
        let feed: KafkaFeed
    }

    /// What clients of a socket of datagrams must speak.
    public struct Associations: Sendable {
        /// Its certificate and keys.
        package var tls: RenewedTLS
    }

    /// By what datagrams of a socket are sealed.
    public struct Sealed: Sendable {
        /// Its keys.
        package var keys: RenewedDatagramKeys
    }

    /// A socket that clients connect to.
    public struct Listener: Sendable {
        /// What becomes of clients beyond a limit.
        public enum Overflow: Sendable {
            /// They wait in the kernel's queue until one has gone.
            case waits
            /// They are disconnected at once, and counted.
            case isRefused
        }

        /// Whether the kernel keeps messages apart.
        package var hasMessages: Bool
        /// What becomes of clients beyond a limit.
        package var overflow: Overflow
        /// Most bytes that may wait in a connection, and are still read when the lane stops.
        package var queuedBytes: Int
        /// What connections share whose bytes are HTTP requests; nil where a framing says what they are.
        package var requests: HeldBytes?
        /// What clients must speak; nil where bytes come as they are.
        package var tls: RenewedTLS?
        /// What connections share whose bytes are messages of HL7 v2; nil where a framing says what they are.
        package var messages: HeldBytes?
        /// Who has connected; nil where the kernel does not say.
        package var peer: @Sendable (Int32) -> Peer?
        /// Sets what a new connection needs.
        package var prepare: @Sendable (Int32) -> Void

        /// A listener of which the kernel says who has connected, by `peer`.
        package init(
            hasMessages: Bool = false, overflow: Overflow = .waits, queuedBytes: Int = 4 << 20,
            prepare: @escaping @Sendable (Int32) -> Void = { _ in }, peer: @escaping @Sendable (Int32) -> Peer?
        ) {
            self.hasMessages = hasMessages
            self.overflow = overflow
            self.queuedBytes = queuedBytes
            self.prepare = prepare
            self.peer = peer
        }

        /// A listener, bound and listening. With `hasMessages` each message of a connection is a payload, and no
        /// framing applies (SOCK_SEQPACKET). `overflow` is what becomes of clients beyond the limit of the
        /// configuration, `queuedBytes` how many bytes that wait in a connection are still read when the pipeline
        /// stops. `prepare` gets the descriptor of each new connection, on the lane's thread, to set what it needs.
        public init(
            hasMessages: Bool = false, overflow: Overflow = .waits, queuedBytes: Int = 4 << 20,
            prepare: @escaping @Sendable (Int32) -> Void = { _ in }
        ) {
            self.init(
                hasMessages: hasMessages, overflow: overflow, queuedBytes: queuedBytes, prepare: prepare,
                peer: { _ in nil })
        }
    }

    /// What was opened, with the port that the kernel chose.
    package var address: any SourceAddress
    /// The socket or stream, non-blocking.
    package var descriptor: Descriptor
    /// How a lane reads it.
    package var form: Form
    /// Bytes of receive buffer that the kernel granted, 0 where it has no size of its own.
    package var bufferBytes = 0
    /// The socket's file, removed on close.
    var file: SocketFile?

    /// What `address` has opened: `descriptor` is non-blocking, and closed when the source ends.
    public init(_ address: any SourceAddress, _ descriptor: Descriptor, _ form: Form) {
        self.address = address
        self.descriptor = descriptor
        self.form = form
    }

    /// Asks for the receive buffer of `configuration`, and notes what the kernel granted.
    mutating func setReceiveBuffer(_ configuration: SourceConfiguration) throws(SourceError) {
        let granted = kymo_receive_buffer(descriptor.raw, Int32(clamping: configuration.receiveBufferBytes))
        guard granted >= 0 else {
            throw .system(-granted, "set the receive buffer of", configuration.address.name)
        }
        bufferBytes = Int(granted)
    }

    /// Closes the socket and removes its file. Once: a later file at the path may have got the same inode number.
    func close() {
        if case .records(let records) = form { records.feed.close() }
        guard descriptor.raw >= 0 else { return }
        file?.remove()
        descriptor.close()
    }

    /// Waits until what it has begun on other threads has ended, but not for ever; behind ``close()``.
    func waitForEnd() {
        if case .records(let records) = form { records.feed.wait() }
    }
}
