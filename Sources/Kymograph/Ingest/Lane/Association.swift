import KymographCore

/// What a UDP socket shares with one client by DTLS. Of the lane's thread.
final class Association {
    /// A handshake that goes on.
    struct Handshake {
        let connection: DatagramTLSConnection
        /// The certificate and keys that it began with.
        let context: TLSContext
        /// Of its ClientHello.
        let random: [UInt8]
        let begun: ContinuousClock.Instant
    }

    /// An association whose handshake is done.
    struct Established {
        let connection: DatagramTLSConnection
        /// The files by which its key or certificate was found good last.
        var context: TLSContext
        /// Of its ClientHello.
        let random: [UInt8]
        let begun: ContinuousClock.Instant
        /// Who the client is, by the list of peers; nil without one.
        let access: StreamAccess?
        /// When its certificate ends, or one above it, in seconds since 1970; the largest number without one.
        var goodUntil: Int64
        /// When a payload came last, or else when it began.
        var lastReceived: ContinuousClock.Instant
    }

    let endpoint: DatagramEndpoint
    /// The client, for letters and messages.
    let peer: Peer?
    private let address: [UInt8]?
    /// What is read; nil while the first handshake goes on.
    var established: Established?
    /// The handshake by which the client begins again, or for the first time. What was established before stays until
    /// this one is done, so that nobody else can end it.
    var handshake: Handshake?

    /// One with the client at `endpoint`, which is called `address`.
    init(_ endpoint: DatagramEndpoint, _ address: NetworkAddress?) {
        self.endpoint = endpoint
        peer = address.map { .network($0) }
        self.address = address.flatMap { NetworkRange.bytes(of: $0.host) }
    }

    /// What is known of the client for a list of peers.
    func identity(_ connection: DatagramTLSConnection) -> PeerIdentity {
        var identity = PeerIdentity(names: connection.clientNames)
        (identity.pskIdentity, identity.address) = (connection.identity, address)
        return identity
    }
}
