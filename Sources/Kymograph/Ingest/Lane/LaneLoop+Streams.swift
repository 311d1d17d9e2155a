import CKymographLinux
import Glibc
import KymographCore

/// Streams and their clients.
extension LaneLoop {
    /// Accepts the clients that wait at listener `index`.
    mutating func accept(
        _ index: Int, _ listener: OpenedSource.Listener, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        let source = sources[index]
        var refusals = 0
        while hasRoom(index, listener) {
            let raw = kymo_accept(source.opened.descriptor.raw)
            if raw == -EAGAIN || raw == -ECONNABORTED || raw == -EINTR { return }
            guard raw >= 0 else { return pause(index) }
            let descriptor = Descriptor(raw)
            let peer = listener.peer(raw)
            if let limit = passedLimit(index, listener, peer) {
                refuse(peer, limit, source: index, &consumer)
                refusals += 1
                // Others have their turn, however quickly one connects.
                guard refusals < LaneLoop.maxRefusals else { return }
                continue
            }
            listener.prepare(raw)
            try open(
                Stream(
                    descriptor, source: index, configuration: source.configuration, listener: listener, peer: peer))
            var counts = SourceCounts()
            counts.connections = 1
            source.counters.add(counts)
        }
        pause(index)
    }

    /// Connections of listener `index` that a stopping lane has read, and keeps for their acknowledgements only.
    func heldOpen(_ index: Int) -> Int {
        guard isStopping else { return 0 }
        var count = 0
        for slot in acknowledging {
            if let stream = streams.stream(slot), stream.isHalfClosed, stream.source == index { count += 1 }
        }
        return count
    }

    /// Leaves further clients in the kernel's queue until a connection ends or the lane is quiet: at the cap, or out of
    /// descriptors, the listener would stay ready and the loop would spin.
    mutating func pause(_ index: Int) {
        readiness.remove(sources[index].opened.descriptor.raw)
        pausedListeners.append(index)
    }

    mutating func resumeListeners() throws(SourceError) {
        let paused = pausedListeners
        pausedListeners.removeAll()
        for index in paused { try watch(source: index) }
    }

    /// Reads one chunk of `stream`, or one batch of messages, and hands it on.
    mutating func read(
        _ stream: Stream, _ consumer: inout some PayloadConsumer & ~Copyable
    ) -> StreamTable.Outcome {
        consumer.batchBegin()
        consumer.sender(stream.peer)
        var intake = StreamIntake(stream.progress)
        let outcome =
            switch stream.content {
            case .messages: readMessages(stream, &intake, &consumer)
            case .bytes(let decoder):
                streams.readChunk(stream, decoder, broken: broken(stream), &intake, to: &consumer)
            }
        settle(stream, intake)
        return outcome
    }

    /// What a failed read makes of an unfinished payload. A network breaks connections anywhere; elsewhere a sender has
    /// gone that did not read what it was told.
    private func broken(_ stream: Stream) -> StreamEnding {
        sources[stream.source].configuration.capabilities.contains(.network) ? .cut(.frameIncomplete) : .ended
    }

    /// Counts what was read of `stream`.
    func settle(_ stream: Stream, _ intake: StreamIntake) {
        if intake.counts.bytes > 0 { stream.lastReceived = lastIdle }
        if stream.progress.acknowledging == .onRequest { stream.progress.acknowledger?.add(lines: intake.payloads) }
        sources[stream.source].counters.add(intake.counts)
    }

    /// Reads one chunk of stream `slot`.
    mutating func readStream(
        _ slot: Int, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        guard let stream = streams.stream(slot) else { return }
        let outcome = read(stream, &consumer)
        consumer.batchEnd()
        note(slot, stream, &consumer)
        switch outcome {
        case .more, .nothing: return
        case .ended: break
        case .failed(let code):
            if case .stream = sources[stream.source].opened.form {
                throw .system(code, "read", sources[stream.source].name)
            }
        }
        try end(slot, stream, &consumer)
    }

    mutating func end(
        _ slot: Int, _ stream: Stream, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        // A client that has only shut down its writing side still wants to hear of its last lines.
        if stream.progress.acknowledger?.isWaiting ?? false, !stream.isHalfClosed {
            stream.isHalfClosed = true
            readiness.remove(stream.descriptor.raw)
            return
        }
        alwaysReady.removeAll { $0 == slot }
        readiness.remove(stream.descriptor.raw)
        streams.close(slot)
        switch sources[stream.source].opened.form {
        case .stream: liveSources -= 1
        case .returningStream: lose(stream.source, &consumer)
        case .listener, .datagrams: break
        }
        try resumeListeners()
    }
}
