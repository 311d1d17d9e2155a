/// Who sends what comes by a connection.
package enum Peer: Hashable, Sendable {
    /// A process of this machine.
    case process(PeerCredentials)
    /// A port of a host on the network.
    case network(NetworkAddress)

    /// In messages: `127.0.0.1:40123`, or a process with its user and group.
    package var name: String {
        switch self {
        case .process(let credentials): credentials.text
        case .network(let address): address.text
        }
    }

    /// For dead letters.
    package var text: String { "sent by \(name)" }

    /// The host, of which only so many connections are accepted; nil where none is told.
    var host: String? {
        switch self {
        case .process: nil
        case .network(let address): address.host
        }
    }
}
