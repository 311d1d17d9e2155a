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
            var peer = listener.peer(raw)
            var header: ProxyHeader?
            if !source.configuration.proxies.isEmpty {
                guard isProxy(peer, source.configuration) else {
                    refuseProxy(.noProxy, peer, source: index, &consumer)
                    refusals += 1
                    guard refusals < LaneLoop.maxRefusals else { return }
                    continue
                }
                (peer, header) = (nil, ProxyHeader())
            }
            if let limit = passedLimit(index, listener, peer) {
                refuse(peer, limit, source: index, &consumer)
                refusals += 1
                // Others have their turn, however quickly one connects.
                guard refusals < LaneLoop.maxRefusals else { return }
                continue
            }
            listener.prepare(raw)
            guard let transport = transport(raw, index, listener, &consumer) else { return pause(index) }
            try open(
                Stream(
                    descriptor, source: index, configuration: source.configuration, listener: listener, peer: peer,
                    proxyHeader: header, transport: transport))
            var counts = SourceCounts()
            counts.connections = 1
            source.counters.add(counts)
        }
        pause(index)
    }

    /// How the bytes of a new connection come and go; nil when there is no memory for it.
    private func transport(
        _ raw: Int32, _ index: Int, _ listener: OpenedSource.Listener,
        _ consumer: inout some PayloadConsumer & ~Copyable
    ) -> StreamTransport? {
        guard let tls = listener.tls else { return .plain }
        let name = sources[index].name
        let context = tls.current { consumer.noted("\(name): \($0)") }
        return context.accept(raw).map { .tls($0) }
    }

    /// Connections of listener `index` that have been read for the last time, and are kept for their acknowledgements
    /// only.
    func heldOpen(_ index: Int) -> Int {
        guard isLeaving(index) else { return 0 }
        var count = 0
        for slot in acknowledging {
            if let stream = streams.stream(slot), stream.isHalfClosed, stream.source == index { count += 1 }
        }
        return count
    }

    /// Leaves further clients in the kernel's queue until a connection ends or the lane is quiet: at the cap, or out of
    /// descriptors, the listener would stay ready and the loop would spin.
    mutating func pause(_ index: Int) {
        guard !pausedListeners.contains(index) else { return }
        readiness.remove(sources[index].opened.descriptor.raw)
        pausedListeners.append(index)
    }

    mutating func resumeListeners() throws(SourceError) {
        let paused = pausedListeners.filter { !held.contains($0) }
        pausedListeners.removeAll { !held.contains($0) }
        for index in paused { try watch(source: index) }
    }

    /// A batch of `stream` follows.
    func begin(_ stream: Stream, _ consumer: inout some PayloadConsumer & ~Copyable) {
        consumer.batchBegin()
        consumer.sender(stream.peer)
        consumer.admit(stream.progress.access?.admission, mapping: nil)
    }

    /// Reads one chunk of `stream`, or one batch of messages, and hands it on.
    mutating func read(
        _ stream: Stream, _ consumer: inout some PayloadConsumer & ~Copyable
    ) -> StreamTable.Outcome {
        begin(stream, &consumer)
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
        // It may have been given up in the same round.
        guard let stream = streams.stream(slot), !stream.isHalfClosed, !stream.isHeld else { return }
        switch letIn(stream, &consumer) {
        case .yes: break
        case .notYet: return
        case .no:
            giveUp(slot, stream, .frameIncomplete, &consumer)
            return try end(slot, stream, &consumer)
        }
        let outcome = read(stream, &consumer)
        consumer.batchEnd()
        note(slot, stream, &consumer)
        switch outcome {
        case .more, .nothing:
            if isPausing(stream) {
                readiness.remove(stream.descriptor.raw)
            } else if case .more = outcome, stream.transport.hasBuffered {
                buffered.insert(slot)
            }
            return
        case .ended: break
        case .failed(let code):
            if case .stream = sources[stream.source].opened.form {
                throw .system(code, "read", sources[stream.source].name)
            }
            noteFailure(Int(code), of: stream, &consumer)
        }
        try end(slot, stream, &consumer)
    }

    /// Reads one chunk of each stream of which the socket does not tell that more is there.
    mutating func readBuffered(_ consumer: inout some PayloadConsumer & ~Copyable) throws(SourceError) {
        let slots = buffered
        buffered.removeAll(keepingCapacity: true)
        for slot in slots { try readStream(slot, &consumer) }
    }

    mutating func end(
        _ slot: Int, _ stream: Stream, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        // Nobody hears of it: what a broker has not heard comes again.
        if case .bytes(.messages(let messages)) = stream.content, !messages.isParting {
            stream.progress.acknowledger = nil
        }
        // A client that has only shut down its writing side still wants to hear of its last lines.
        if stream.progress.acknowledger?.isWaiting ?? false, !stream.isHalfClosed {
            stream.isHalfClosed = true
            readiness.remove(stream.descriptor.raw)
            return
        }
        alwaysReady.removeAll { $0 == slot }
        readiness.remove(stream.descriptor.raw)
        close(slot, stream)
        switch sources[stream.source].opened.form {
        case .stream:
            liveSources -= 1
            live.leave()
        case .returningStream: if !sources[stream.source].isGone { lose(stream.source, &consumer) }
        case .broker: loseBroker(stream.source, &consumer)
        case .records: if !sources[stream.source].isGone { lostStreams[stream.source] = LostStream(at: .now) }
        case .listener, .datagrams, .associations, .sealed: break
        }
        try resumeListeners()
    }
}
