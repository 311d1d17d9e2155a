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
    }

    var kind: Kind
    /// Index of the source.
    var source: Int
}

/// Limits of clients. What they refuse is counted, and the operator is told once of each.
extension LaneLoop {
    /// Whether another client of listener `index` can be accepted, if only to be refused.
    func hasRoom(_ index: Int, _ listener: OpenedSource.Listener) -> Bool {
        if case .isRefused = listener.overflow, !isStopping { return true }
        return streams.connections(of: index) < sources[index].configuration.connectionLimit + heldOpen(index)
    }

    /// The limit that a new connection of `peer` passes; nil when it may stay. A lane that stops takes all who wait,
    /// one after the other.
    func passedLimit(_ index: Int, _ listener: OpenedSource.Listener, _ peer: Peer?) -> ClientLimit.Kind? {
        guard case .isRefused = listener.overflow, !isStopping else { return nil }
        let configuration = sources[index].configuration
        if streams.connections(of: index) >= configuration.connectionLimit { return .connections }
        guard let host = peer?.host else { return nil }
        let open = streams.connections(of: index, host: host)
        return open >= configuration.maxConnectionsPerPeer ? .connectionsPerPeer : nil
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
                case .listener = sources[stream.source].opened.form, !stream.isHalfClosed,
                !(stream.progress.acknowledger?.isWaiting ?? false), now - stream.lastReceived > .nanoseconds(limit)
            else { continue }
            consumer.batchBegin()
            abandon(stream, .frameIncomplete, &consumer)
            consumer.batchEnd()
            var counts = SourceCounts()
            counts.idleConnections = 1
            sources[stream.source].counters.add(counts)
            tell(ClientLimit(kind: .idle, source: stream.source), stream.peer, &consumer)
            try end(slot, stream, &consumer)
        }
    }

    private mutating func tell(
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
            }
        consumer.noted("\(sources[limit.source].name): \(text); further ones are only counted")
    }
}
