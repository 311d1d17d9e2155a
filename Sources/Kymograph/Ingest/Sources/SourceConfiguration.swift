/// One source of a lane and its limits.
public struct SourceConfiguration: Sendable {
    /// Where readings come from.
    package var address: any SourceAddress
    /// The number that the consumer gets with every payload.
    package var number: Int
    /// Receive buffer to ask the kernel for, in bytes. Sockets only.
    public package(set) var receiveBufferBytes = 4 << 20
    /// How the bytes of a stream become payloads. Sources of streams only.
    package var framing = StreamFraming.lines
    /// Longest line in bytes, without its end, or longest payload of a frame. Sources of streams only.
    package var lineCap = 1 << 20
    /// Whether readings that find the buffer to the windows full are dropped and counted, in place of waiting; nothing
    /// can be acknowledged then.
    package var dropsWhenFull = false
    /// Permissions of a Unix socket's file.
    public package(set) var socketMode: UInt32 = 0o660
    /// Whether other lanes may listen to the same UDP port (SO_REUSEPORT).
    package var sharesPort = false
    /// Whether the kernel hands over datagrams of one sender that came together as one message (UDP_GRO). It is
    /// quicker, but then counts each such message that it drops as one datagram.
    package var coalesces = false
    /// Most nanoseconds that UDP datagrams may gather in the receive buffer while they come densely; 0 when each is to
    /// be received at once. A lane rests no longer than all of its sources let it.
    package var longestRest: Int64 = 0
    /// Most clients at a time; nil for the number of the kind. What becomes of further ones, the kind says.
    package var maxConnections: Int?
    /// Most connections of one host at a time; network sources only.
    package var maxConnectionsPerPeer = 32
    /// Proxies that connections come from, each of which says first who its client is; empty where clients connect by
    /// themselves. Network sources only.
    package var proxies: [NetworkRange] = []
    /// Nanoseconds after which a client that sends nothing is disconnected; 0 for never.
    package var idleLimit: Int64 = 0
    /// Who may bring readings, and which; nil for everybody.
    package var peers: PeerBook?
    /// Who sent what comes again, by ``peers``; nil for whoever connects.
    var former: FormerPeer?
    /// By which files it speaks TLS; network sources only.
    package var tls = SourceTLS()
    /// How many clients there may be by DTLS; UDP only.
    package var associations = AssociationLimits()
    /// Whether other machines may send without encryption and authentication; network sources only.
    public package(set) var isInsecure = false
    /// What a broker is asked for; sources of brokers only.
    package var mqtt = MQTTSettings()
    /// What is read of a topic; sources of topics only.
    package var kafka = KafkaReading()
    /// What the configuration calls the source; empty for the name of its address.
    package var statedName = ""

    /// Makes a configuration with default limits.
    package init(_ address: some SourceAddress, number: Int = 0) {
        self.address = address
        self.number = number
    }

    /// What sources of its kind can do.
    package var capabilities: SourceCapabilities { address.kind.capabilities }

    /// Whether `kymo dead replay` cannot send to it: it speaks no TLS, seals nothing, and is no proxy.
    var isClosedToReplay: Bool { tls.datagramFiles != nil || isSealed || !proxies.isEmpty }

    /// Whether it is a UDP socket that speaks DTLS.
    var hasAssociations: Bool { capabilities.contains(.associations) && tls.datagramFiles != nil }

    /// Whether it is a UDP socket that takes sealed datagrams only.
    var isSealed: Bool { capabilities.contains(.associations) && tls.sealedKeyFile != nil }

    /// Whether several lanes can open it. The clients of DTLS are known to one of them, and keys of sealed datagrams
    /// are used by one.
    var isShareable: Bool { address.isShareable && !hasAssociations && !isSealed }

    /// Most clients at a time.
    var connectionLimit: Int { maxConnections ?? address.kind.connectionLimit }

    /// Whether a payload may have begun before the source was opened, or go on after it has gone, and nothing but its
    /// content tells: on a serial line, unless the framing tells.
    var hasOpenEnds: Bool { capabilities.contains(.openEnds) && framing.hidesCuts }

    /// Whether a payload that nothing but the end of a stream completes may be cut by it: clients may be killed.
    var mayEndWithin: Bool { hasOpenEnds || capabilities.contains(.clients) }

    /// Whether nothing is lost while it is not read: its senders wait, or keep what they have, as a broker does by its
    /// session. The system drops what comes by datagrams and serial lines.
    var canWait: Bool {
        if capabilities.contains(.broker) { return mqtt.keepsMessages }
        return !capabilities.isDisjoint(with: [.clients, .ends, .records])
    }

    /// Whether the limits of clients are those of `other`.
    func hasLimits(of other: SourceConfiguration) -> Bool {
        maxConnections == other.maxConnections && maxConnectionsPerPeer == other.maxConnectionsPerPeer
            && idleLimit == other.idleLimit && associations == other.associations
    }

    /// Takes over the limits of clients of `other`, and of their lines, which hold for those that come, and for silence
    /// from now on.
    mutating func takeLimits(of other: SourceConfiguration) {
        maxConnections = other.maxConnections
        maxConnectionsPerPeer = other.maxConnectionsPerPeer
        idleLimit = other.idleLimit
        lineCap = other.lineCap
        associations = other.associations
    }

    /// Whether the first bytes tell how the input is read: of what ends, since files are piped into it.
    var isRecognised: Bool { capabilities.contains(.ends) && RecognisingProtocol.applies(to: framing) }
}

extension StreamDecoder {
    /// The protocol of a stream of the source `configuration`.
    init(_ configuration: SourceConfiguration) {
        let (framing, cap) = (configuration.framing, configuration.lineCap)
        if configuration.isRecognised {
            self = .recognising(RecognisingProtocol(framing, cap: cap))
        } else {
            self.init(framing, cap: cap)
        }
    }
}
