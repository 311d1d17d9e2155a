import KymographCore

/// Reads streams and listeners for the last time. Of the lane's thread.
struct StreamDrain {
    /// Rounds of accepting clients when stopping: the kernel's queue holds 4,096 (SOMAXCONN).
    private static let maxDrainRounds = 4096
    /// Most bytes that a stopping lane still takes from a stream that may come back.
    private static let queuedLineBytes = 4 << 20

    private let sources: LaneSources
    private let streams: StreamTable
    private let replies: PendingReplies
    private let listeners: LaneListeners
    private let check: ClientCheck
    private let reader: StreamReader
    private let sender: ReplySender

    init(
        _ sources: LaneSources, _ streams: StreamTable, _ replies: PendingReplies, _ listeners: LaneListeners,
        _ check: ClientCheck, _ reader: StreamReader, _ sender: ReplySender
    ) {
        (self.sources, self.streams, self.replies, self.listeners) = (sources, streams, replies, listeners)
        (self.check, self.reader, self.sender) = (check, reader, sender)
    }

    /// Takes the clients that wait at listener `index`, as many at a time as the cap allows. Those that have been read
    /// and only wait for acknowledgements do not count; when there is no descriptor left, they make room, too.
    func drainListener(
        _ index: Int, _ listener: OpenedSource.Listener, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        for _ in 0..<StreamDrain.maxDrainRounds {
            listeners.forget(index)
            let before = streams.connections(of: index)
            try listeners.accept(index, listener, &consumer)
            let open = streams.connections(of: index)
            let isStuck = open == before && !replies.slots.isEmpty
            for slot in streams.slots where streams.stream(slot)?.source == index {
                try drainStream(slot, &consumer)
            }
            if !listeners.isPaused(index) { return }
            // Clients of other sources do not wait for the room that those of one need that ends.
            if isStuck, !sources.isStopping, streams.connections(of: index) >= open { return }
            if isStuck { try makeRoom(&consumer) }
        }
    }

    /// Ends the connections that wait for acknowledgements. What is not acknowledged in time has been handed on all the
    /// same: its client sends it again, and it counts as duplicate.
    private func makeRoom(_ consumer: inout some PayloadConsumer & ~Copyable) throws(SourceError) {
        try sender.acknowledgeLast(&consumer)
        for slot in replies.slots {
            guard let stream = streams.stream(slot), stream.isHalfClosed else { continue }
            try reader.end(slot, stream, &consumer)
        }
        replies.removeAll()
    }

    /// Reads what waits in a client's connection, at most as much as can wait there, and gives up the payload that is
    /// not complete.
    func drainStream(
        _ slot: Int, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        guard let stream = streams.stream(slot), !stream.isHalfClosed else { return }
        if stream.isHeld { return leave(slot, stream, &consumer) }
        guard case .yes = check.letIn(stream, &consumer) else {
            reader.giveUp(slot, stream, .frameIncomplete, &consumer)
            // A broker that is not known yet hears nothing.
            if !stream.isEstablished { return streams.close(slot) }
            guard stream.progress.acknowledger?.isWaiting ?? false else { return streams.close(slot) }
            stream.isHalfClosed = true
            return
        }
        var chunks = queuedChunks(of: sources[stream.source].opened.form)
        var outcome = StreamTable.Outcome.more
        while chunks > 0, case .more = outcome {
            outcome = reader.read(stream, &consumer)
            chunks -= 1
        }
        reader.abandon(stream, .shutdown, &consumer)
        consumer.batchEnd()
        replies.note(slot, stream, &consumer)
        if stream.progress.acknowledger == nil { streams.close(slot) } else { stream.isHalfClosed = true }
    }

    /// Ends a connection without a look at what waits in it: its client hears of what was taken before, and sends the
    /// rest again.
    private func leave(
        _ slot: Int, _ stream: Stream, _ consumer: inout some PayloadConsumer & ~Copyable
    ) {
        reader.giveUp(slot, stream, .shutdown, &consumer)
        if stream.progress.acknowledger?.isWaiting ?? false { stream.isHalfClosed = true } else { streams.close(slot) }
    }

    /// Most chunks that a stopping lane still takes from a stream; of a source that ends of its own none.
    private func queuedChunks(of form: OpenedSource.Form) -> Int {
        switch form {
        case .stream, .datagrams, .associations, .sealed: 0
        case .returningStream, .broker, .records: StreamDrain.queuedLineBytes / StreamTable.chunkBytes
        case .listener(let listener): listener.queuedBytes / StreamTable.chunkBytes
        }
    }
}
