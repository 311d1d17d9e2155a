/// Who sends what comes by a connection.
public enum Peer: Hashable, Sendable {
    /// A process of this machine.
    case process(PeerCredentials)
    /// A port of a host on the network.
    case network(NetworkAddress)

    /// For dead letters.
    public var text: String {
        switch self {
        case .process(let credentials): credentials.text
        case .network(let address): "sent by \(address.text)"
        }
    }

    /// The host, of which only so many connections are accepted; nil where none is told.
    var host: String? {
        switch self {
        case .process: nil
        case .network(let address): address.host
        }
    }
}
