/// A Unix datagram socket at a path. It holds few datagrams, and makes its senders wait.
package struct UnixDatagramSource: RoutedSource {
    /// Where its file is.
    package var path: String

    /// Makes a source.
    package init(path: String) { self.path = path }

    /// What all Unix datagram sockets have in common.
    package static let descriptor = SourceDescriptor(
        key: "unixgram", form: "path",
        about: "Unix datagram socket: one reading, an array or NDJSON per datagram",
        flag: .option(help: "Listen on a Unix datagram socket. Repeatable.", valueName: "path"),
        capabilities: [.receiveBuffer, .socketFile]
    ) { (text) throws(SettingProblem) in UnixDatagramSource(path: try UnixSocket.path(text)) }

    /// `unixgram ./kymo.sock`.
    package var name: String { "unixgram \(path)" }
    /// The path.
    package var claim: String? { UnixSocket.claim(path) }
    /// Datagrams.
    package var route: SourceRoute? { .unixDatagram(path: path) }

    /// Binds a socket.
    ///
    /// - Throws: ``SourceError`` when the path is in use, or no socket can be made there.
    package func open(_ configuration: SourceConfiguration) throws(SourceError) -> OpenedSource {
        var opened = try UnixSocket.open(path, .datagrams, configuration, .datagrams(mayGather: false))
        try opened.setReceiveBuffer(configuration)
        return opened
    }
}

extension UnixDatagramSource: FileChangingSource {
    /// The folder of the path.
    package var writePlaces: [WritePlace] { [UnixSocket.writePlace(path)] }
}

extension UnixDatagramSource: ProbedSource {
    /// Looks at the path.
    ///
    /// - Throws: ``SourceError`` as opening it would.
    package func probe(_ configuration: SourceConfiguration) throws(SourceError) {
        try UnixSocket.probe(path, .datagrams)
    }
}

extension SourceAddress where Self == UnixDatagramSource {
    /// A Unix datagram socket at a path.
    package static func unixDatagram(path: String) -> UnixDatagramSource { UnixDatagramSource(path: path) }
}
