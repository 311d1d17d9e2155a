/// HTTP/1.1 on a numeric IPv4 or IPv6 host, for `POST /v1/ingest`; port 0 lets the kernel choose.
package struct HTTPSource: ListeningSource {
    /// Where it listens.
    package var address: NetworkAddress

    /// Makes a source.
    package init(_ address: NetworkAddress) { self.address = address }

    /// What all HTTP sources have in common.
    package static let descriptor: SourceDescriptor = {
        var descriptor = SourceDescriptor(
            key: "http", form: "numeric address and port", about: "HTTP: readings in the bodies of POST requests",
            flag: .option(
                help: "Listen on HTTP: 127.0.0.1:5780, [::1]:5780; others need --insecure. Repeatable.",
                valueName: "host:port"),
            capabilities: [.clients, .network, .peers, .tls, .clientCertificates]
        ) { (text) throws(SettingProblem) in HTTPSource(try NetworkAddress.setting(text)) }
        descriptor.connectionLimit = 256
        return descriptor
    }()

    /// `http 127.0.0.1:5780`.
    package var name: String { "http \(address.text)" }

    /// An address that others reach, without a word that they may; or readings that may be dropped after they were
    /// answered for.
    package func problem(in configuration: SourceConfiguration) -> SettingProblem? {
        NetworkListener.problem(address, "HTTP", configuration, answers: "replies of HTTP say")
    }

    /// Binds a socket and listens.
    ///
    /// - Throws: ``SourceError`` when the address is none of this machine, or in use.
    package func open(_ configuration: SourceConfiguration) throws(SourceError) -> OpenedSource {
        let (descriptor, bound) = try NetworkListener.listen(address, name)
        var listener = try NetworkListener.form(configuration)
        listener.requests = HeldBytes()
        return OpenedSource(HTTPSource(bound), descriptor, .listener(listener))
    }
}

extension SourceAddress where Self == HTTPSource {
    /// HTTP on a numeric host, without brackets.
    package static func http(host: String, port: UInt16) -> HTTPSource {
        HTTPSource(NetworkAddress(host: host, port: port))
    }
}
