import CKymographLinux
import Glibc
import KymographCore

/// Streams and their clients.
extension LaneLoop {
    /// Accepts the clients that wait at listener `index`.
    mutating func accept(_ index: Int) throws(SourceError) {
        let source = sources[index]
        let most = source.configuration.maxConnections + heldOpen(index)
        while streams.connections(of: index) < most {
            let raw = kymo_accept(source.descriptor.raw)
            if raw == -EAGAIN || raw == -ECONNABORTED || raw == -EINTR { return }
            guard raw >= 0 else { return pause(index) }
            try open(Descriptor(raw), source: index, peer: PeerCredentials(raw))
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
        readiness.remove(sources[index].descriptor.raw)
        pausedListeners.append(index)
    }

    mutating func resumeListeners() throws(SourceError) {
        let paused = pausedListeners
        pausedListeners.removeAll()
        for index in paused {
            _ = try readiness.add(sources[index].descriptor.raw, token: Token.source.rawValue << 32 | UInt64(index))
        }
    }

    /// Reads one chunk of `stream`, or one batch of messages.
    mutating func read(
        _ stream: Stream, counts: inout SourceCounts, _ consumer: inout some PayloadConsumer & ~Copyable
    ) -> StreamTable.Outcome {
        if stream.hasMessages { return readMessages(stream, counts: &counts, &consumer) }
        return streams.readChunk(stream, counts: &counts, to: &consumer)
    }

    /// Reads one chunk of stream `slot`.
    mutating func readStream(
        _ slot: Int, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        guard let stream = streams.stream(slot) else { return }
        var counts = SourceCounts()
        let outcome = read(stream, counts: &counts, &consumer)
        sources[stream.source].counters.add(counts)
        consumer.batchEnd()
        note(slot, stream, &consumer)
        switch outcome {
        case .more, .nothing: return
        case .ended: break
        case .failed(let code):
            guard !sources[stream.source].configuration.kind.canEnd else {
                throw .system(code, "read", sources[stream.source].boundKind.name)
            }
        }
        try end(slot, stream, &consumer)
    }

    mutating func end(
        _ slot: Int, _ stream: Stream, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        // A client that has only shut down its writing side still wants to hear of its last lines.
        if stream.acknowledger?.isWaiting ?? false, !stream.isHalfClosed {
            stream.isHalfClosed = true
            readiness.remove(stream.descriptor.raw)
            return
        }
        alwaysReady.removeAll { $0 == slot }
        if sources[stream.source].configuration.kind.canEnd { liveSources -= 1 }
        readiness.remove(stream.descriptor.raw)
        streams.close(slot)
        if case .serial = sources[stream.source].configuration.kind { lose(stream.source, &consumer) }
        try resumeListeners()
    }
}
