import KymographCore

/// A limit of the clients of one source.
struct ClientLimit: Hashable {
    /// What is limited.
    enum Kind: Hashable {
        /// Connections of all clients.
        case connections
        /// Connections of one host.
        case connectionsPerPeer
        /// Time without a byte.
        case idle
        /// Time for one request.
        case slow
        /// Who it is: the list of peers does not know it.
        case stranger
        /// Time until both sides know each other.
        case handshake
        /// It is none of the proxies.
        case noProxy
        /// What a proxy has to say first.
        case proxyHeader
        /// What TLS asks of a client, for this reason.
        case tls(String)
        /// What DTLS asks of a client, and what OpenSSL says of it.
        case association(AssociationRefusal, String)
        /// What a sealed datagram must be, and was not.
        case sealed(Rejection)
    }

    var kind: Kind
    /// Index of the source.
    var source: Int
}
