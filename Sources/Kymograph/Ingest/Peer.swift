/// Who sends what comes by a connection.
package enum Peer: Hashable, Sendable {
    /// A process of this machine.
    case process(PeerCredentials)
    /// A port of a host on the network.
    case network(NetworkAddress)
    /// Whoever publishes to a topic that names the device or patient.
    case topic
    /// Who has the key of this name, by which a datagram is sealed.
    case key(String)

    /// In messages: `127.0.0.1:40123`, or a process with its user and group.
    package var name: String {
        switch self {
        case .process(let credentials): credentials.text
        case .network(let address): address.text
        case .topic: "its topic"
        case .key(let name): "the key \(name)"
        }
    }

    /// Stands before the name of a peer, at the end of the details of dead letters.
    static let listedText = ", the peer "

    /// Stands before the mapping that a request has chosen, in the details of dead letters.
    static let mappingText = ", for the mapping "

    /// Ends the details of dead letters of which the topic, that is not kept, says something.
    static let topicText = "its topic names the device or patient"

    /// For dead letters.
    package var text: String {
        switch self {
        case .topic: Self.topicText
        case .key: "sealed by \(name)"
        case .process, .network: "sent by \(name)"
        }
    }

    /// The host, of which only so many connections are accepted; nil where none is told.
    var host: String? {
        switch self {
        case .process, .topic, .key: nil
        case .network(let address): address.host
        }
    }
}
