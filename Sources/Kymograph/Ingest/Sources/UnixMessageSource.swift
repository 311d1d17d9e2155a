/// A Unix socket at a path whose clients connect and send messages with borders (SOCK_SEQPACKET).
public struct UnixMessageSource: SourceAddress {
    /// Where its file is.
    public var path: String

    /// Makes a source.
    public init(path: String) { self.path = path }

    /// What all such sockets have in common.
    public static let descriptor = SourceDescriptor(
        key: "seqpacket", form: "path", about: "Unix socket of messages (`SOCK_SEQPACKET`), each as a datagram",
        flag: .option(
            help: "Listen on a Unix socket of messages (SOCK_SEQPACKET). Repeatable.", valueName: "path"),
        capabilities: [.clients, .socketFile]
    ) { (text) throws(SettingProblem) in UnixMessageSource(path: try UnixSocket.path(text)) }

    /// `seqpacket ./kymo.sock`.
    public var name: String { "seqpacket \(path)" }
    /// The path.
    public var claim: String? { UnixSocket.claim(path) }
    /// Messages of a connection.
    public var route: SourceRoute? { .unixSeqpacket(path: path) }

    /// Binds a socket and listens.
    public func open(_ configuration: SourceConfiguration) throws(SourceError) -> OpenedSource {
        let listener = OpenedSource.Listener(hasMessages: true, peer: UnixSocket.peer)
        return try UnixSocket.open(path, .messages, configuration, .listener(listener))
    }
}

extension SourceAddress where Self == UnixMessageSource {
    /// A Unix socket of messages at a path.
    public static func unixSeqpacket(path: String) -> UnixMessageSource { UnixMessageSource(path: path) }
}
