/// A Unix socket at a path whose clients connect and send messages with preserved boundaries (SOCK_SEQPACKET).
package struct UnixMessageSource: RoutedSource {
    /// Where its file is.
    package var path: String

    /// Makes a source.
    package init(path: String) { self.path = path }

    /// What all such sockets have in common.
    package static let descriptor = SourceDescriptor(
        key: "seqpacket", form: "path", about: "Unix socket of messages (`SOCK_SEQPACKET`), each as a datagram",
        flag: .option(
            help: "Listen on a Unix socket of messages (SOCK_SEQPACKET). Repeatable.", valueName: "path"),
        capabilities: [.clients, .socketFile, .peers]
    ) { (text) throws(SettingProblem) in UnixMessageSource(path: try UnixSocket.path(text)) }

    /// `seqpacket ./kymo.sock`.
    package var name: String { "seqpacket \(path)" }
    /// The path.
    package var claim: String? { UnixSocket.claim(path) }
    /// Messages of a connection.
    package var route: SourceRoute? { .unixSeqpacket(path: path) }

    /// Binds a socket and listens.
    ///
    /// - Throws: ``SourceError`` when the path is in use, or no socket can be made there.
    package func open(_ configuration: SourceConfiguration) throws(SourceError) -> OpenedSource {
        let listener = OpenedSource.Listener(hasMessages: true, peer: UnixSocket.peer)
        return try UnixSocket.open(path, .messages, configuration, .listener(listener))
    }
}

extension UnixMessageSource: FileChangingSource {
    /// The folder of the path.
    package var writePlaces: [WritePlace] { [UnixSocket.writePlace(path)] }
}

extension UnixMessageSource: ProbedSource {
    /// Looks at the path.
    ///
    /// - Throws: ``SourceError`` as opening it would.
    package func probe(_ configuration: SourceConfiguration) throws(SourceError) {
        try UnixSocket.probe(path, .messages)
    }
}

extension SourceAddress where Self == UnixMessageSource {
    /// A Unix socket of messages at a path.
    package static func unixSeqpacket(path: String) -> UnixMessageSource { UnixMessageSource(path: path) }
}
