/// MLLP on a numeric IPv4 or IPv6 host, for messages of HL7 v2; port 0 lets the kernel choose.
package struct MLLPSource: ListeningSource {
    /// Where it listens.
    package var address: NetworkAddress

    /// Makes a source.
    package init(_ address: NetworkAddress) { self.address = address }

    /// What all MLLP sources have in common.
    package static let descriptor: SourceDescriptor = {
        var descriptor = SourceDescriptor(
            key: "mllp", form: "numeric address and port",
            about: "MLLP: messages of HL7 v2 (ORU^R01), each acknowledged",
            flag: .option(
                help: "Listen on MLLP for HL7 v2: 127.0.0.1:2575, [::1]:2575; others need --insecure. Repeatable.",
                valueName: "host:port"),
            capabilities: [.clients, .network, .peers, .tls, .clientCertificates]
        ) { (text) throws(SettingProblem) in MLLPSource(try NetworkAddress.setting(text)) }
        descriptor.connectionLimit = 256
        return descriptor
    }()

    /// `mllp 127.0.0.1:2575`.
    package var name: String { "mllp \(address.text)" }

    /// An address that others reach, without a word that they may; or readings that may be dropped after they were
    /// acknowledged.
    package func problem(in configuration: SourceConfiguration) -> SettingProblem? {
        NetworkListener.problem(address, "MLLP", configuration, answers: "acknowledgements of MLLP say")
    }

    /// Binds a socket and listens.
    ///
    /// - Throws: ``SourceError`` when the address is none of this machine, or in use.
    package func open(_ configuration: SourceConfiguration) throws(SourceError) -> OpenedSource {
        let (descriptor, bound) = try NetworkListener.listen(address, name)
        var listener = try NetworkListener.form(configuration)
        listener.messages = HeldBytes()
        return OpenedSource(MLLPSource(bound), descriptor, .listener(listener))
    }
}

extension SourceAddress where Self == MLLPSource {
    /// MLLP on a numeric host, without brackets.
    package static func mllp(host: String, port: UInt16) -> MLLPSource {
        MLLPSource(NetworkAddress(host: host, port: port))
    }
}
