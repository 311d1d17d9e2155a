import CKymographLinux

/// What sources that clients of a network connect to have in common.
///
/// Without TLS nothing on the way is encrypted, and anybody who reaches the port may send: other addresses than this
/// machine's own need ``SourceConfiguration/isInsecure``. Clients beyond a limit are disconnected at once, so that
/// those who keep connections open cannot keep others waiting.
enum NetworkListener {
    /// Seconds of silence after which the kernel asks whether a client is still there, between two of its questions,
    /// and after which a client has gone that does not take what it was sent.
    private static let (silence, interval, unread): (Int32, Int32, Int32) = (60, 10, 120)
    /// How often it asks.
    private static let probes: Int32 = 6
    /// More than the largest receive buffer that the kernel gives a connection by default (tcp_rmem: 6 MiB).
    private static let queuedBytes = 8 << 20

    /// Binds a socket and listens; the socket, and its address with the port that the kernel chose. `name` is for
    /// messages.
    static func listen(_ address: NetworkAddress, _ name: String) throws(SourceError) -> (Descriptor, NetworkAddress) {
        // Safe: Swift lends the host as a C string for the call.
        let raw = unsafe kymo_tcp_listen(address.host, address.port)
        guard raw >= 0 else { throw .system(-raw, "listen to", name) }
        let descriptor = Descriptor(raw)
        return (descriptor, try NetworkAddress.bound(raw, name: name))
    }

    /// How a lane takes its clients, as `configuration` says.
    static func form(_ configuration: SourceConfiguration) throws(SourceError) -> OpenedSource.Listener {
        var listener = OpenedSource.Listener(
            overflow: .isRefused, queuedBytes: queuedBytes,
            prepare: { kymo_tcp_watch($0, silence, interval, probes, unread) },
            peer: { NetworkAddress.peer(of: $0).map { .network($0) } })
        listener.tls = try configuration.tls.open(configuration.address.name)
        return listener
    }

    /// Reads the files of TLS, and binds the address for a moment, without listening: no client may connect to what
    /// ends at once.
    static func probe(
        _ address: NetworkAddress, _ name: String, _ configuration: SourceConfiguration
    ) throws(SourceError) {
        _ = try configuration.tls.open(name)
        // Safe: as for listening.
        let raw = unsafe kymo_tcp_bind(address.host, address.port)
        guard raw >= 0 else { throw .system(-raw, "listen to", name) }
        Descriptor(raw).close()
    }

    /// An address that others reach, without a word that they may; or readings that may be dropped, where `answers`
    /// ("replies of HTTP say") that they are on disk. `word` is what messages call the protocol.
    static func problem(
        _ address: NetworkAddress, _ word: String, _ configuration: SourceConfiguration, answers: String? = nil
    ) -> SettingProblem? {
        if let answers, configuration.dropsWhenFull {
            return SettingProblem(
                message: "\(answers) what is on disk, and this source drops readings", advice: "say whenFull: block")
        }
        if let problem = configuration.tls.problem { return problem }
        guard !configuration.isInsecure, !address.isLoopback, configuration.tls.files == nil else { return nil }
        return SettingProblem(
            message: "other machines can reach \(address.text), and \(word) neither encrypts nor asks who sends",
            advice: "listen on 127.0.0.1 or [::1], name a certificateFile for TLS, or say insecure: true (--insecure "
                + "on the command line)")
    }
}

/// A source that listens on a TCP port, whatever its clients speak.
package protocol ListeningSource: ProbedSource {
    /// Where it listens.
    var address: NetworkAddress { get }
}

extension ListeningSource {
    /// The port, which only one of them can have; nothing when the kernel chooses it.
    package var claim: String? { address.port == 0 ? nil : "tcp \(address.text)" }

    /// Binds the address for a moment, without listening: no client may connect to what ends at once.
    ///
    /// - Throws: ``SourceError`` as opening it would.
    package func probe(_ configuration: SourceConfiguration) throws(SourceError) {
        try NetworkListener.probe(address, name, configuration)
    }
}
