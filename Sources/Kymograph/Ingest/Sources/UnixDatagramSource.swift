/// A Unix datagram socket at a path. It holds few datagrams, and makes its senders wait.
public struct UnixDatagramSource: SourceAddress {
    /// Where its file is.
    public var path: String

    /// Makes a source.
    public init(path: String) { self.path = path }

    /// What all Unix datagram sockets have in common.
    public static let descriptor = SourceDescriptor(
        key: "unixgram", form: "path",
        about: "Unix datagram socket: one reading, an array or NDJSON per datagram",
        flag: .option(help: "Listen on a Unix datagram socket. Repeatable.", valueName: "path"),
        capabilities: [.receiveBuffer, .socketFile]
    ) { (text) throws(SettingProblem) in UnixDatagramSource(path: try UnixSocket.path(text)) }

    /// `unixgram ./kymo.sock`.
    public var name: String { "unixgram \(path)" }
    /// The path.
    public var claim: String? { UnixSocket.claim(path) }
    /// Datagrams.
    public var route: SourceRoute? { .unixDatagram(path: path) }

    /// Binds a socket.
    public func open(_ configuration: SourceConfiguration) throws(SourceError) -> OpenedSource {
        var opened = try UnixSocket.open(path, .datagrams, configuration, .datagrams(mayGather: false))
        try opened.setReceiveBuffer(configuration)
        return opened
    }
}

extension SourceAddress where Self == UnixDatagramSource {
    /// A Unix datagram socket at a path.
    public static func unixDatagram(path: String) -> UnixDatagramSource { UnixDatagramSource(path: path) }
}
