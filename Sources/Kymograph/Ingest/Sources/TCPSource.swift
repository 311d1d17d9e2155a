import CKymographLinux

/// TCP on a numeric IPv4 or IPv6 host; port 0 lets the kernel choose. An IPv6 host does not accept IPv4.
///
/// Without TLS nothing on the way is encrypted, and anybody who reaches the port may send: other addresses than this
/// machine's own need ``SourceConfiguration/isInsecure``. Clients beyond a limit are disconnected at once, so that
/// those who keep connections open cannot keep others waiting.
package struct TCPSource: RoutedSource {
    /// Seconds of silence after which the kernel asks whether a client is still there, between two of its questions,
    /// and after which a client has gone that does not take what it was sent.
    private static let (silence, interval, unread): (Int32, Int32, Int32) = (60, 10, 120)
    /// How often it asks.
    private static let probes: Int32 = 6
    /// More than the largest receive buffer that the kernel gives a connection by default (tcp_rmem: 6 MiB).
    private static let queuedBytes = 8 << 20

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
            capabilities: [.framing, .clients, .network]
        ) { (text) throws(SettingProblem) in TCPSource(try NetworkAddress.setting(text)) }
        descriptor.connectionLimit = 256
        return descriptor
    }()

    /// `tcp 127.0.0.1:5757`.
    package var name: String { "tcp \(address.text)" }
    /// The address; nothing when the kernel chooses the port.
    package var claim: String? { address.port == 0 ? nil : name }
    /// A connection.
    package var route: SourceRoute? { address.port == 0 ? nil : .tcp(address) }

    /// An address that others reach, without a word that they may.
    package func problem(in configuration: SourceConfiguration) -> SettingProblem? {
        guard !configuration.isInsecure, !address.isLoopback else { return nil }
        return SettingProblem(
            message: "other machines can reach \(address.text), and TCP neither encrypts nor asks who sends",
            advice: "listen on 127.0.0.1 or [::1], or say insecure: true (--insecure on the command line)")
    }

    /// Binds a socket and listens.
    ///
    /// - Throws: ``SourceError`` when the address is none of this machine, or in use.
    package func open(_ configuration: SourceConfiguration) throws(SourceError) -> OpenedSource {
        // Safe: Swift lends the host as a C string for the call.
        let raw = unsafe kymo_tcp_listen(address.host, address.port)
        guard raw >= 0 else { throw .system(-raw, "listen to", name) }
        let descriptor = Descriptor(raw)
        let bound = TCPSource(try NetworkAddress.bound(raw, name: name))
        let listener = OpenedSource.Listener(
            overflow: .isRefused, queuedBytes: Self.queuedBytes,
            prepare: { kymo_tcp_watch($0, Self.silence, Self.interval, Self.probes, Self.unread) },
            peer: { NetworkAddress.peer(of: $0).map { .network($0) } })
        return OpenedSource(bound, descriptor, .listener(listener))
    }
}

extension TCPSource: ProbedSource {
    /// Binds the address for a moment, without listening: no client may connect to what ends at once.
    ///
    /// - Throws: ``SourceError`` as opening it would.
    package func probe(_ configuration: SourceConfiguration) throws(SourceError) {
        // Safe: as for opening.
        let raw = unsafe kymo_tcp_bind(address.host, address.port)
        guard raw >= 0 else { throw .system(-raw, "listen to", name) }
        Descriptor(raw).close()
    }
}

extension SourceAddress where Self == TCPSource {
    /// TCP on a numeric host, without brackets.
    package static func tcp(host: String, port: UInt16) -> TCPSource {
        TCPSource(NetworkAddress(host: host, port: port))
    }
}
