import KymographCore

/// Reads sources for the last time: all when a lane stops, or one that is removed. Of the lane's thread.
struct SourceDrain {
    private let sources: LaneSources
    private let held: HeldSources
    private let pauses: SourcePauses
    private let watch: LaneWatch
    private let datagrams: DatagramReaders
    private let listeners: LaneListeners
    private let streams: StreamTable
    private let replies: ReplySender
    private let drain: StreamDrain
    private let connections: KeptConnections

    init(
        _ sources: LaneSources, _ held: HeldSources, _ pauses: SourcePauses, _ watch: LaneWatch,
        _ datagrams: DatagramReaders, _ listeners: LaneListeners, _ streams: StreamTable, _ replies: ReplySender,
        _ drain: StreamDrain, _ connections: KeptConnections
    ) {
        (self.sources, self.held, self.pauses, self.watch) = (sources, held, pauses, watch)
        (self.datagrams, self.listeners, self.streams) = (datagrams, listeners, streams)
        (self.replies, self.drain, self.connections) = (replies, drain, connections)
    }

    /// Takes what the kernel has already queued, and no more: senders may never pause.
    func drain(_ consumer: inout some PayloadConsumer & ~Copyable) throws(SourceError) {
        if !held.places.isEmpty { pauses.takeHeld(held.places, &consumer) }
        for index in sources.indices where datagrams.isDatagram(index) { try takeQueued(index, &consumer) }
        for index in sources.indices where !datagrams.isDatagram(index) { try takeQueued(index, &consumer) }
        for slot in streams.slots { try drain.drainStream(slot, &consumer) }
        try replies.acknowledgeLast(&consumer)
    }

    /// Reads what has come by source `index`, as at the end, and closes it. Its clients hear what became of what they
    /// sent, and then that nothing more is read.
    func remove(
        _ index: Int, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        sources.leaving = index
        defer { sources.leaving = nil }
        if held.contains(index) { pauses.takeHeld([index], &consumer) }
        try takeQueued(index, &consumer)
        watch.remove(sources[index].opened.descriptor)
        listeners.forget(index)
        held.forget(index)
        for slot in streams.slots {
            guard let stream = streams.stream(slot), stream.source == index else { continue }
            watch.forget(slot, stream.descriptor)
            try drain.drainStream(slot, &consumer)
        }
        connections.end(index)
        datagrams.end(index)
        sources.close(index)
    }

    /// Takes what the kernel has queued of source `index`: datagrams, and clients that wait.
    private func takeQueued(
        _ index: Int, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        guard !sources[index].isGone, !held.contains(index) else { return }
        switch sources[index].opened.form {
        case .datagrams, .sealed, .associations: try datagrams.takeQueued(index, &consumer)
        case .listener(let listener): try drain.drainListener(index, listener, &consumer)
        case .stream, .returningStream, .broker, .records: break
        }
    }
}
