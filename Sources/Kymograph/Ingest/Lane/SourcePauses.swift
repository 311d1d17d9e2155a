import KymographCore

/// Sources that are paused. What can wait is not read: its senders wait, or keep what they have. Others are read as
/// ever, and the consumer rejects what they bring. Of the lane's thread.
struct SourcePauses {
    private let sources: LaneSources
    private let held: HeldSources
    private let streams: StreamTable
    private let watch: LaneWatch
    private let replies: PendingReplies
    private let listeners: LaneListeners
    private let brokers: BrokerConnector
    private let connections: KeptConnections

    init(
        _ sources: LaneSources, _ held: HeldSources, _ streams: StreamTable, _ watch: LaneWatch,
        _ replies: PendingReplies, _ listeners: LaneListeners, _ brokers: BrokerConnector,
        _ connections: KeptConnections
    ) {
        (self.sources, self.held, self.streams, self.watch) = (sources, held, streams, watch)
        (self.replies, self.listeners, self.brokers, self.connections) = (replies, listeners, brokers, connections)
    }

    /// Whether what is paused has changed.
    var haveChanged: Bool { held.haveChanged }

    /// Whether nothing is read of source `index`.
    func holds(_ index: Int) -> Bool { held.contains(index) }

    /// Follows a change of what is paused. Behind it nothing is read of what is held.
    func follow(_ consumer: inout some PayloadConsumer & ~Copyable) throws(SourceError) {
        let (numbers, generation) = held.wanted
        let wanted = Set(
            sources.indices.filter { index in
                let configuration = sources[index].configuration
                return !sources[index].isGone && configuration.canWait && numbers.contains(configuration.number)
            })
        for index in wanted.subtracting(held.places) { hold(index) }
        let released = held.places.subtracting(wanted)
        held.hold(wanted)
        for index in released { try release(index) }
        if !released.isEmpty { try listeners.resume() }
        held.noteFollowed(generation)
        consumer.pausesChanged(generation)
        brokers.rejectHeld(&consumer)
    }

    private func hold(_ index: Int) {
        switch sources[index].opened.form {
        case .listener: listeners.pause(index)
        case .broker: brokers.part(index)
        case .datagrams, .associations, .sealed, .stream, .returningStream, .records: break
        }
        for slot in streams.slots {
            guard let stream = streams.stream(slot), stream.source == index else { continue }
            stream.isHeld = true
            watch.forget(slot, stream.descriptor)
        }
    }

    /// Reads source `index` again.
    private func release(_ index: Int) throws(SourceError) {
        // What it was sent meanwhile, and has not acknowledged, comes again.
        if connections.brokers[index]?.messages.isMuted ?? false { brokers.part(index) }
        for slot in streams.slots {
            guard let stream = streams.stream(slot), stream.source == index, stream.isHeld else { continue }
            stream.isHeld = false
            // Nobody was silent of their own.
            stream.lastReceived = .now
            if stream.isHalfClosed { continue }
            if stream.isPaused {
                replies.add(slot)
                continue
            }
            try watch.watch(slot, stream.descriptor)
            if stream.transport.hasBuffered { watch.noteBuffered(slot) }
        }
    }

    /// Reads the paused sources `leaving` again, for the last time: what the system has of them would be lost with
    /// their sockets, and the consumer rejects it. Not of clients that hear what was taken: they send again what they
    /// have not heard of, and would not send what they hear was rejected.
    func takeHeld(_ leaving: Set<Int>, _ consumer: inout some PayloadConsumer & ~Copyable) {
        for index in leaving where !answers(index) { consumer.rejectsAll(of: sources[index].configuration.number) }
        held.hold(held.places.filter { !leaving.contains($0) || answers($0) })
        for slot in streams.slots {
            guard let stream = streams.stream(slot), stream.isHeld, !held.contains(stream.source) else { continue }
            stream.isHeld = stream.progress.acknowledger != nil
        }
    }

    /// Whether all clients of source `index` hear what becomes of what they send.
    private func answers(_ index: Int) -> Bool {
        guard case .listener(let listener) = sources[index].opened.form else { return false }
        return listener.requests != nil || listener.messages != nil
    }
}
