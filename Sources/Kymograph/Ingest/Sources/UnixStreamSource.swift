/// A Unix stream socket at a path.
package struct UnixStreamSource: RoutedSource {
    /// Where its file is.
    package var path: String

    /// Makes a source.
    package init(path: String) { self.path = path }

    /// What all Unix stream sockets have in common.
    package static let descriptor = SourceDescriptor(
        key: "unix", form: "path", about: "Unix stream socket",
        flag: .option(help: "Listen on a Unix stream socket. Repeatable.", valueName: "path"),
        capabilities: [.framing, .clients, .socketFile, .peers]
    ) { (text) throws(SettingProblem) in UnixStreamSource(path: try UnixSocket.path(text)) }

    /// `unix ./kymo.sock`.
    package var name: String { "unix \(path)" }
    /// The path.
    package var claim: String? { UnixSocket.claim(path) }
    /// A connection.
    package var route: SourceRoute? { .unixStream(path: path) }

    /// Binds a socket and listens.
    ///
    /// - Throws: ``SourceError`` when the path is in use, or no socket can be made there.
    package func open(_ configuration: SourceConfiguration) throws(SourceError) -> OpenedSource {
        let listener = OpenedSource.Listener(peer: UnixSocket.peer)
        return try UnixSocket.open(path, .bytes, configuration, .listener(listener))
    }
}

extension UnixStreamSource: FileChangingSource {
    /// The folder of the path.
    package var writePlaces: [WritePlace] { [UnixSocket.writePlace(path)] }
}

extension UnixStreamSource: ProbedSource {
    /// Looks at the path.
    ///
    /// - Throws: ``SourceError`` as opening it would.
    package func probe(_ configuration: SourceConfiguration) throws(SourceError) {
        try UnixSocket.probe(path, .bytes)
    }
}

extension SourceAddress where Self == UnixStreamSource {
    /// A Unix stream socket at a path.
    package static func unixStream(path: String) -> UnixStreamSource { UnixStreamSource(path: path) }
}
