/// A Unix stream socket at a path.
public struct UnixStreamSource: SourceAddress {
    /// Where its file is.
    public var path: String

    /// Makes a source.
    public init(path: String) { self.path = path }

    /// What all Unix stream sockets have in common.
    public static let descriptor = SourceDescriptor(
        key: "unix", form: "path", about: "Unix stream socket",
        flag: .option(help: "Listen on a Unix stream socket. Repeatable.", valueName: "path"),
        capabilities: [.framing, .clients, .socketFile]
    ) { (text) throws(SettingProblem) in UnixStreamSource(path: try UnixSocket.path(text)) }

    /// `unix ./kymo.sock`.
    public var name: String { "unix \(path)" }
    /// The path.
    public var claim: String? { UnixSocket.claim(path) }
    /// A connection.
    public var route: SourceRoute? { .unixStream(path: path) }

    /// Binds a socket and listens.
    public func open(_ configuration: SourceConfiguration) throws(SourceError) -> OpenedSource {
        let listener = OpenedSource.Listener(peer: UnixSocket.peer)
        return try UnixSocket.open(path, .bytes, configuration, .listener(listener))
    }
}

extension SourceAddress where Self == UnixStreamSource {
    /// A Unix stream socket at a path.
    public static func unixStream(path: String) -> UnixStreamSource { UnixStreamSource(path: path) }
}
