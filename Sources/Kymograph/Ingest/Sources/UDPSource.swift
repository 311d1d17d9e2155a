import CKymographLinux

/// UDP on a numeric IPv4 or IPv6 host; port 0 lets the kernel choose. An IPv6 host does not receive IPv4, so that
/// `0.0.0.0` and `::` can be given together.
package struct UDPSource: RoutedSource {
    /// Where it listens.
    package var address: NetworkAddress

    /// Makes a source.
    package init(_ address: NetworkAddress) { self.address = address }

    /// What all UDP sources have in common.
    package static let descriptor = SourceDescriptor(
        key: "udp", form: "numeric address and port",
        about: "UDP, DTLS with certificateFile or pskFile, or sealed datagrams with sealedKeyFile: one reading, an "
            + "array or NDJSON per datagram",
        flag: .option(help: "Listen on UDP: 127.0.0.1:5757, [::1]:5757. Repeatable.", valueName: "host:port"),
        capabilities: [.receiveBuffer, .coalescing, .peers, .tls, .clientCertificates, .associations]
    ) { (text) throws(SettingProblem) in UDPSource(try NetworkAddress.setting(text)) }

    /// `udp 127.0.0.1:5757`.
    package var name: String { "udp \(address.text)" }
    /// The address; nothing when the kernel chooses the port.
    package var claim: String? { address.port == 0 ? nil : name }
    /// Lanes can share a port that is known.
    package var isShareable: Bool { address.port != 0 }
    /// Datagrams.
    package var route: SourceRoute? { address.port == 0 ? nil : .udp(address) }

    /// What does not go together of the settings of DTLS.
    package func problem(in configuration: SourceConfiguration) -> SettingProblem? { configuration.tls.datagramProblem }

    /// Binds a socket.
    ///
    /// - Throws: ``SourceError`` when the address is none of this machine, or in use.
    package func open(_ configuration: SourceConfiguration) throws(SourceError) -> OpenedSource {
        let tls = try configuration.tls.openDatagrams(name)
        let keys = try configuration.tls.openSealed(name)
        // Safe: Swift lends the host as a C string for the call.
        let raw = unsafe kymo_udp_open(address.host, address.port, configuration.sharesPort ? 1 : 0)
        guard raw >= 0 else { throw .system(-raw, "listen to", name) }
        let descriptor = Descriptor(raw)
        if configuration.coalesces { kymo_udp_coalesce(raw) }
        // On all addresses, answers go out from the one that was asked.
        if tls != nil, case let code = kymo_udp_locate(raw), code < 0 { throw .system(-code, "listen to", name) }
        let bound = UDPSource(try NetworkAddress.bound(raw, name: name))
        let form =
            tls.map { OpenedSource.Form.associations(OpenedSource.Associations(tls: $0)) }
            ?? keys.map { .sealed(OpenedSource.Sealed(keys: $0)) }
        var opened = OpenedSource(bound, descriptor, form ?? .datagrams(mayGather: true))
        try opened.setReceiveBuffer(configuration)
        return opened
    }
}

extension UDPSource: ProbedSource {
    /// Binds the address for a moment.
    ///
    /// - Throws: ``SourceError`` as opening it would.
    package func probe(_ configuration: SourceConfiguration) throws(SourceError) { _ = try open(configuration) }
}

extension SourceAddress where Self == UDPSource {
    /// UDP on a numeric host, without brackets.
    package static func udp(host: String, port: UInt16) -> UDPSource {
        UDPSource(NetworkAddress(host: host, port: port))
    }
}
