import KymographCore

/// What limits of clients refuse: it is counted, and the operator is told once of each. Of the lane's thread.
final class ClientNotices {
    private let sources: LaneSources
    /// Limits of clients that the operator has been told of.
    private var told: Set<ClientLimit> = []

    /// Those of `sources`, of which nothing was told yet.
    init(_ sources: LaneSources) { self.sources = sources }

    /// Whether the operator was told of `limit`.
    func knows(_ limit: ClientLimit) -> Bool { told.contains(limit) }

    /// Notes that the operator is told of `limit`; false when that has happened before.
    func note(_ limit: ClientLimit) -> Bool { told.insert(limit).inserted }

    /// Tells of the limits of source `index` again.
    func forget(_ index: Int) { told = told.filter { $0.source != index } }

    /// Counts a client that was not accepted.
    func refuse(
        _ peer: Peer?, _ kind: ClientLimit.Kind, source index: Int,
        _ consumer: inout some PayloadConsumer & ~Copyable
    ) {
        var counts = SourceCounts()
        counts.refusedConnections = 1
        sources[index].counters.add(counts)
        tell(ClientLimit(kind: kind, source: index), peer, &consumer)
    }

    /// Notes that `stream` has failed with the errno `code`, and counts one with which there is no TLS.
    func noteFailure(
        _ code: Int, of stream: Stream, _ consumer: inout some PayloadConsumer & ~Copyable
    ) {
        stream.fail(code: Int32(code))
        if let fault = stream.transport.fault { countFault(stream, .tls(fault), &consumer) }
    }

    /// Counts a connection that came to no TLS, as `kind` says.
    func countFault(
        _ stream: Stream, _ kind: ClientLimit.Kind, _ consumer: inout some PayloadConsumer & ~Copyable
    ) {
        var counts = SourceCounts()
        counts.tlsFailures = 1
        sources[stream.source].counters.add(counts)
        // Of a broker, the reason is told when the next attempt is.
        guard case .listener = sources[stream.source].opened.form else { return }
        if stream.transport.lacksGoodCertificate {
            consumer.refusedClient(of: sources[stream.source].name, "untrustedCertificate")
        }
        tell(ClientLimit(kind: kind, source: stream.source), stream.peer, &consumer)
    }

    /// Counts a client that the list of peers does not know.
    func refuseStranger(
        _ peer: Peer?, _ failure: AuthFailure, source index: Int,
        _ consumer: inout some PayloadConsumer & ~Copyable
    ) {
        var counts = SourceCounts()
        counts.authFailures[failure] = 1
        sources[index].counters.add(counts)
        consumer.refusedClient(of: sources[index].name, failure.rawValue)
        tell(ClientLimit(kind: .stranger, source: index), peer, &consumer)
    }

    /// Counts a connection that does not begin as a proxy begins it.
    func refuseProxy(_ stream: Stream, _ consumer: inout some PayloadConsumer & ~Copyable) {
        let proxy = NetworkAddress.peer(of: stream.descriptor.raw).map { Peer.network($0) }
        refuseProxy(.proxyHeader, proxy, source: stream.source, &consumer)
    }

    /// Counts a connection that does not come as a proxy brings it.
    func refuseProxy(
        _ kind: ClientLimit.Kind, _ peer: Peer?, source index: Int,
        _ consumer: inout some PayloadConsumer & ~Copyable
    ) {
        var counts = SourceCounts()
        counts.proxyFailures = 1
        sources[index].counters.add(counts)
        tell(ClientLimit(kind: kind, source: index), peer, &consumer)
    }

    /// Tells the operator of `limit`, which `peer` has passed, unless that has happened before.
    func tell(
        _ limit: ClientLimit, _ peer: Peer?, _ consumer: inout some PayloadConsumer & ~Copyable
    ) {
        guard note(limit) else { return }
        let configuration = sources[limit.source].configuration
        let client = peer?.name ?? "a client"
        let text =
            switch limit.kind {
            case .connections:
                "refused \(client): "
                    + CountText.of(configuration.connectionLimit, one: "client is", many: "clients are")
                    + " connected; raise connections"
            case .connectionsPerPeer:
                "refused \(client): its host has "
                    + "\(CountText.of(configuration.maxConnectionsPerPeer, "connection")); raise connectionsPerPeer"
            case .idle:
                "disconnected \(client), which was silent for longer than idleLimit"
            case .stranger:
                "disconnected \(client), which the list of peers does not know"
            case .handshake:
                "disconnected \(client), which did not begin TLS in time"
            case .noProxy:
                "disconnected \(client), which is none of proxies"
            case .proxyHeader:
                "disconnected \(client), which did not begin with a good PROXY header in time"
            case .tls(let fault):
                "disconnected \(client): no TLS with it: \(fault)"
            case .association(let refusal, let fault):
                refusal.text(client, fault, configuration.associations)
            case .sealed(let reason):
                "rejected a datagram of \(client): \(reason.explanation)"
            case .slow:
                "disconnected \(client), whose request was not complete in time"
            }
        consumer.noted("\(sources[limit.source].name): \(text); further ones are only counted")
    }
}
