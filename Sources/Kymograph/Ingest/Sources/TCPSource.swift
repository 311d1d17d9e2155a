/// TCP on a numeric IPv4 or IPv6 host; port 0 lets the kernel choose. An IPv6 host does not accept IPv4.
package struct TCPSource: RoutedSource, ListeningSource {
    /// Where it listens.
    package var address: NetworkAddress

    /// Makes a source.
    package init(_ address: NetworkAddress) { self.address = address }

    /// What all TCP sources have in common.
    package static let descriptor: SourceDescriptor = {
        var descriptor = SourceDescriptor(
            key: "tcp", form: "numeric address and port", about: "TCP: a stream of each client",
            flag: .option(
                help: "Listen on TCP: 127.0.0.1:5757, [::1]:5757; others need --insecure. Repeatable.",
                valueName: "host:port"),
            capabilities: [.framing, .clients, .network, .peers, .tls, .clientCertificates]
        ) { (text) throws(SettingProblem) in TCPSource(try NetworkAddress.setting(text)) }
        descriptor.connectionLimit = 256
        return descriptor
    }()

    /// `tcp 127.0.0.1:5757`.
    package var name: String { "tcp \(address.text)" }
    /// A connection.
    package var route: SourceRoute? { address.port == 0 ? nil : .tcp(address) }

    /// An address that others reach, without a word that they may.
    package func problem(in configuration: SourceConfiguration) -> SettingProblem? {
        NetworkListener.problem(address, "TCP", configuration)
    }

    /// Binds a socket and listens.
    ///
    /// - Throws: ``SourceError`` when the address is none of this machine, or in use.
    package func open(_ configuration: SourceConfiguration) throws(SourceError) -> OpenedSource {
        let (descriptor, bound) = try NetworkListener.listen(address, name)
        return OpenedSource(TCPSource(bound), descriptor, .listener(try NetworkListener.form(configuration)))
    }
}

extension SourceAddress where Self == TCPSource {
    /// TCP on a numeric host, without brackets.
    package static func tcp(host: String, port: UInt16) -> TCPSource {
        TCPSource(NetworkAddress(host: host, port: port))
    }
}
