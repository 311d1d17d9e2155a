import KymographCore

/// Ends connections of clients that take too long. Of the lane's thread.
struct ClientTimeouts {
    /// How long a client may take until TLS is agreed on.
    private static let handshakeTime = Duration.seconds(10)

    private let sources: LaneSources
    private let streams: StreamTable
    private let notices: ClientNotices
    private let reader: StreamReader
    private let clock: LaneClock

    init(
        _ sources: LaneSources, _ streams: StreamTable, _ notices: ClientNotices, _ reader: StreamReader,
        _ clock: LaneClock
    ) {
        (self.sources, self.streams, self.notices) = (sources, streams, notices)
        (self.reader, self.clock) = (reader, clock)
    }

    /// Ends the connections of clients that have sent nothing for too long, and do not wait to hear of what they sent.
    func endIdleClients(
        _ now: ContinuousClock.Instant, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        let limits = sources.list.map(\.configuration.idleLimit)
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
    private func disconnect(
        _ slot: Int, _ stream: Stream, _ kind: ClientLimit.Kind, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        reader.giveUp(slot, stream, .frameIncomplete, &consumer)
        var counts = SourceCounts()
        counts.idleConnections = 1
        sources[stream.source].counters.add(counts)
        notices.tell(ClientLimit(kind: kind, source: stream.source), stream.peer, &consumer)
        try reader.end(slot, stream, &consumer)
    }

    /// Ends the connections of clients that take too long for what they send, and of those whose replies wait for too
    /// long, now that `passed` more has gone by.
    func endSlowClients(
        _ passed: Duration, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        for slot in streams.slots {
            guard let stream = streams.stream(slot), case .bytes(let decoder) = stream.content else { continue }
            guard stream.isEstablished else {
                guard !stream.isHeld, clock.lastIdle - stream.lastReceived > ClientTimeouts.handshakeTime else {
                    continue
                }
                noteSilence(stream, &consumer)
                try reader.end(slot, stream, &consumer)
                continue
            }
            // What is not read has all the time until it is.
            if !stream.isHalfClosed, !stream.isPaused, !stream.isHeld, decoder.hasExpired(after: passed) {
                try disconnect(slot, stream, .slow, &consumer)
            } else if stream.progress.acknowledger?.isOverdue(after: passed) ?? false {
                stream.progress.acknowledger?.giveUp(decoder.base.overdueReply)
                stream.fail("what came is not on disk for too long")
                if !stream.isHalfClosed { try reader.end(slot, stream, &consumer) }
            }
        }
    }

    /// Notes that `stream` did not begin in time.
    private func noteSilence(_ stream: Stream, _ consumer: inout some PayloadConsumer & ~Copyable) {
        if stream.proxyHeader != nil { return notices.refuseProxy(stream, &consumer) }
        if stream.isOfBroker, NetworkAddress.peer(of: stream.descriptor.raw) == nil {
            // There is no connection yet.
            return stream.fail("there is no answer from its host in time: look at the network and its firewalls")
        }
        stream.fail("it did not agree on TLS in time: look whether the port is its port for TLS")
        notices.countFault(stream, .handshake, &consumer)
    }
}
