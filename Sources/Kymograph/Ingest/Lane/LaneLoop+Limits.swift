import KymographCore

/// A limit of the clients of one source.
struct ClientLimit: Hashable {
    /// What is limited.
    enum Kind: Hashable {
        /// Connections of all clients.
        case connections
        /// Connections of one host.
        case connectionsPerPeer
        /// Time without a byte.
        case idle
        /// Time for one request.
        case slow
        /// Who it is: the list of peers does not know it.
        case stranger
        /// Time until both sides know each other.
        case handshake
        /// It is none of the proxies.
        case noProxy
        /// What a proxy has to say first.
        case proxyHeader
        /// What TLS asks of a client, for this reason.
        case tls(String)
        /// What DTLS asks of a client, and what OpenSSL says of it.
        case association(AssociationRefusal, String)
        /// What a sealed datagram must be, and was not.
        case sealed(Rejection)
    }

    var kind: Kind
    /// Index of the source.
    var source: Int
}

/// Limits of clients. What they refuse is counted, and the operator is told once of each.
extension LaneLoop {
    /// Whether another client of listener `index` can be accepted, if only to be refused.
    func hasRoom(_ index: Int, _ listener: OpenedSource.Listener) -> Bool {
        if case .isRefused = listener.overflow, !isLeaving(index) { return true }
        return streams.connections(of: index) < sources[index].configuration.connectionLimit + heldOpen(index)
    }

    /// The limit that a new connection of `peer` passes; nil when it may stay. A lane that stops takes all who wait,
    /// one after the other.
    func passedLimit(_ index: Int, _ listener: OpenedSource.Listener, _ peer: Peer?) -> ClientLimit.Kind? {
        guard case .isRefused = listener.overflow, !isLeaving(index) else { return nil }
        if streams.connections(of: index) >= sources[index].configuration.connectionLimit { return .connections }
        return passedHostLimit(index, peer)
    }

    /// The limit of the host of `peer` that another connection to listener `index` passes.
    func passedHostLimit(_ index: Int, _ peer: Peer?) -> ClientLimit.Kind? {
        guard let host = peer?.host, !isLeaving(index) else { return nil }
        let open = streams.connections(of: index, host: host)
        return open >= sources[index].configuration.maxConnectionsPerPeer ? .connectionsPerPeer : nil
    }

    /// Counts a client that was not accepted.
    mutating func refuse(
        _ peer: Peer?, _ kind: ClientLimit.Kind, source index: Int,
        _ consumer: inout some PayloadConsumer & ~Copyable
    ) {
        var counts = SourceCounts()
        counts.refusedConnections = 1
        sources[index].counters.add(counts)
        tell(ClientLimit(kind: kind, source: index), peer, &consumer)
    }

    /// Ends the connections of clients that have sent nothing for too long, and do not wait to hear of what they sent.
    mutating func endIdleClients(
        _ now: ContinuousClock.Instant, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        let limits = sources.map(\.configuration.idleLimit)
        guard limits.contains(where: { $0 > 0 }) else { return }
        for slot in streams.slots {
            guard let stream = streams.stream(slot), case let limit = limits[stream.source], limit > 0,
                case .listener = sources[stream.source].opened.form, !stream.isHalfClosed, !stream.isHeld,
                !(stream.progress.acknowledger?.isWaiting ?? false), now - stream.lastReceived > .nanoseconds(limit)
            else { continue }
            try disconnect(slot, stream, .idle, &consumer)
        }
    }

    /// Ends the connection of a client that has kept others waiting.
    private mutating func disconnect(
        _ slot: Int, _ stream: Stream, _ kind: ClientLimit.Kind, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        giveUp(slot, stream, .frameIncomplete, &consumer)
        var counts = SourceCounts()
        counts.idleConnections = 1
        sources[stream.source].counters.add(counts)
        tell(ClientLimit(kind: kind, source: stream.source), stream.peer, &consumer)
        try end(slot, stream, &consumer)
    }

    /// Notes that `stream` has failed with the errno `code`, and counts one with which there is no TLS.
    mutating func noteFailure(
        _ code: Int, of stream: Stream, _ consumer: inout some PayloadConsumer & ~Copyable
    ) {
        stream.fail(code: Int32(code))
        if let fault = stream.transport.fault { countFault(stream, .tls(fault), &consumer) }
    }

    private mutating func countFault(
        _ stream: Stream, _ kind: ClientLimit.Kind, _ consumer: inout some PayloadConsumer & ~Copyable
    ) {
        var counts = SourceCounts()
        counts.tlsFailures = 1
        sources[stream.source].counters.add(counts)
        // Of a broker, the reason is told when the next attempt is.
        guard case .listener = sources[stream.source].opened.form else { return }
        if case .tls = kind { consumer.refusedClient(of: sources[stream.source].name, "tls") }
        tell(ClientLimit(kind: kind, source: stream.source), stream.peer, &consumer)
    }

    /// Ends the connections of clients that take too long for what they send, and of those whose replies wait for too
    /// long, now that `passed` more has gone by.
    mutating func endSlowClients(
        _ passed: Duration, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        for slot in streams.slots {
            guard let stream = streams.stream(slot), case .bytes(let decoder) = stream.content else { continue }
            guard stream.isEstablished else {
                guard !stream.isHeld, lastIdle - stream.lastReceived > LaneLoop.handshakeTime else { continue }
                noteSilence(stream, &consumer)
                try end(slot, stream, &consumer)
                continue
            }
            // What is not read has all the time until it is.
            if !stream.isHalfClosed, !stream.isPaused, !stream.isHeld, decoder.hasExpired(after: passed) {
                try disconnect(slot, stream, .slow, &consumer)
            } else if stream.progress.acknowledger?.isOverdue(after: passed) ?? false {
                stream.progress.acknowledger?.giveUp(decoder.base.overdueReply)
                stream.fail("what came is not on disk for too long")
                if !stream.isHalfClosed { try end(slot, stream, &consumer) }
            }
        }
    }

    /// Notes that `stream` did not begin in time.
    private mutating func noteSilence(_ stream: Stream, _ consumer: inout some PayloadConsumer & ~Copyable) {
        if stream.proxyHeader != nil { return refuseProxy(stream, &consumer) }
        if stream.isOfBroker, NetworkAddress.peer(of: stream.descriptor.raw) == nil {
            // There is no connection yet.
            return stream.fail("there is no answer from its host in time: look at the network and its firewalls")
        }
        stream.fail("it did not agree on TLS in time: look whether the port is its port for TLS")
        countFault(stream, .handshake, &consumer)
    }

    mutating func tell(
        _ limit: ClientLimit, _ peer: Peer?, _ consumer: inout some PayloadConsumer & ~Copyable
    ) {
        guard toldLimits.insert(limit).inserted else { return }
        let configuration = sources[limit.source].configuration
        let client = peer?.name ?? "a client"
        let text =
            switch limit.kind {
            case .connections:
                "refused \(client): \(configuration.connectionLimit) clients are connected; raise connections"
            case .connectionsPerPeer:
                "refused \(client): its host has \(configuration.maxConnectionsPerPeer) connections; raise "
                    + "connectionsPerPeer"
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
