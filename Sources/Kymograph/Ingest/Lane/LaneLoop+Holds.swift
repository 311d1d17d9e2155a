import KymographCore

/// Sources that are paused. What can wait is not read: its senders wait, or keep what they have. Others are read as
/// ever, and the consumer rejects what they bring.
extension LaneLoop {
    /// Follows a change of what is paused. Behind it nothing is read of what is held.
    mutating func followHolds(_ consumer: inout some PayloadConsumer & ~Copyable) throws(SourceError) {
        let (numbers, generation) = holds.current
        let wanted = Set(
            sources.indices.filter { index in
                let configuration = sources[index].configuration
                return !sources[index].isGone && configuration.canWait && numbers.contains(configuration.number)
            })
        for index in wanted.subtracting(held) { hold(index) }
        let released = held.subtracting(wanted)
        held = wanted
        for index in released { try release(index) }
        if !released.isEmpty { try resumeListeners() }
        heldGeneration = generation
        consumer.pausesChanged(generation)
        rejectedBrokers.formIntersection(held)
        for index in rejectedBrokers { consumer.rejectsAll(of: sources[index].configuration.number) }
    }

    private mutating func hold(_ index: Int) {
        switch sources[index].opened.form {
        case .listener: pause(index)
        case .broker: part(index)
        case .datagrams, .associations, .sealed, .stream, .returningStream, .records: break
        }
        for slot in streams.slots {
            guard let stream = streams.stream(slot), stream.source == index else { continue }
            stream.isHeld = true
            readiness.remove(stream.descriptor.raw)
            buffered.remove(slot)
            alwaysReady.removeAll { $0 == slot }
        }
    }

    /// Ends the connection to the broker of source `index`, whose session keeps what comes meanwhile. What it has not
    /// heard of comes again.
    private mutating func part(_ index: Int) {
        guard let connection = brokers[index] else { return }
        if case .open(let slot) = connection.phase, let stream = streams.stream(slot) {
            stream.progress.acknowledger = nil
            acknowledging.remove(slot)
            buffered.remove(slot)
            readiness.remove(stream.descriptor.raw)
            close(slot, stream)
            _ = connection.messages.ended()
        }
        brokers[index]?.phase = .waiting(until: .now)
    }

    /// The broker of source `index`, which is paused since before there was a connection, has granted what it grants:
    /// whether the connection ends, since it keeps what comes. Else all of it is rejected from here on.
    mutating func granted(
        _ index: Int, _ messages: MQTTProtocol, _ consumer: inout some PayloadConsumer & ~Copyable
    ) -> Bool {
        if messages.keepsMessages == true {
            part(index)
            return true
        }
        messages.isMuted = false
        rejectedBrokers.insert(index)
        consumer.rejectsAll(of: sources[index].configuration.number)
        consumer.noted(
            "\(sources[index].name): it is paused, and its broker grants no session that keeps messages: what comes is "
                + "put aside as dead letters")
        return false
    }

    /// Reads source `index` again.
    private mutating func release(_ index: Int) throws(SourceError) {
        // What it was sent meanwhile, and has not acknowledged, comes again.
        if brokers[index]?.messages.isMuted ?? false { part(index) }
        for slot in streams.slots {
            guard let stream = streams.stream(slot), stream.source == index, stream.isHeld else { continue }
            stream.isHeld = false
            // Nobody was silent of their own.
            stream.lastReceived = .now
            if stream.isHalfClosed { continue }
            if stream.isPaused {
                acknowledging.insert(slot)
                acknowledgesSoon = true
                continue
            }
            try watch(slot, stream.descriptor)
            if stream.transport.hasBuffered { buffered.insert(slot) }
        }
    }

    /// Reads the paused sources `leaving` again, for the last time: what the system has of them would be lost with
    /// their sockets, and the consumer rejects it. Not of clients that hear what was taken: they send again what they
    /// have not heard of, and would not send what they hear was rejected.
    mutating func takeHeld(_ leaving: Set<Int>, _ consumer: inout some PayloadConsumer & ~Copyable) {
        for index in leaving where !answers(index) { consumer.rejectsAll(of: sources[index].configuration.number) }
        held = held.filter { !leaving.contains($0) || answers($0) }
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
