import CKymographLinux
import KymographCore

/// What is done now and then, and at the end.
extension LaneLoop {
    /// Does what is due now and then, if it is, however busy the lane.
    mutating func idle(_ consumer: inout some PayloadConsumer & ~Copyable) throws(SourceError) {
        let now = ContinuousClock.now
        let passed = now - lastIdle
        guard passed >= .milliseconds(Int64(LaneLoop.idleMilliseconds)) else { return }
        lastIdle = now
        for index in sources.indices where isDatagram(index) { refreshDrops(index) }
        if hasLeaving { showSources() }
        try resumeListeners()
        try endIdleClients(now, &consumer)
        // While the lane waited for room, nobody could send.
        let countedTime = min(passed, .milliseconds(2 * Int64(LaneLoop.idleMilliseconds)))
        try endSlowClients(countedTime, &consumer)
        try reopenStreams(now, &consumer)
        if !associations.isEmpty { tendAssociations(now, &consumer) }
        if !sealed.isEmpty { tendSealed(&consumer) }
        if !brokers.isEmpty { try tendBrokers(now, countedTime, &consumer) }
        try tendFeeds(now, &consumer)
        consumer.batchBegin()
        consumer.idled()
    }

    /// Takes what the kernel has already queued, and no more: senders may never pause.
    mutating func drain(_ consumer: inout some PayloadConsumer & ~Copyable) throws(SourceError) {
        if !held.isEmpty { takeHeld(held, &consumer) }
        for index in sources.indices where isDatagram(index) { try takeQueued(index, &consumer) }
        for index in sources.indices where !isDatagram(index) { try takeQueued(index, &consumer) }
        for slot in streams.slots { try drainStream(slot, &consumer) }
        try acknowledgeLast(&consumer)
    }

    /// Takes what the kernel has queued of source `index`: datagrams, and clients that wait.
    mutating func takeQueued(
        _ index: Int, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        guard !sources[index].isGone, !held.contains(index) else { return }
        switch sources[index].opened.form {
        case .datagrams:
            // The kernel charges UDP at least 512 bytes for a datagram, and a Unix socket's queue is short.
            let queued = max(refreshDrops(index) / 512, 4096)
            try receive(index, maxBatches: queued / DatagramBatch.size + 1, &consumer)
            refreshDrops(index)
        case .sealed(let form):
            let queued = max(refreshDrops(index) / 512, 4096)
            try receive(index, form, maxBatches: queued / DatagramBatch.size + 1, &consumer)
            refreshDrops(index)
        case .associations(let associations):
            let queued = max(refreshDrops(index) / 512, 4096)
            try receive(index, associations, maxBatches: queued / DatagramBatch.size + 1, &consumer)
            refreshDrops(index)
            endAssociations(of: index)
        case .listener(let listener): try drainListener(index, listener, &consumer)
        case .stream, .returningStream, .broker, .records: break
        }
    }

    /// Takes the clients that wait at listener `index`, as many at a time as the cap allows. Those that have been read
    /// and only wait for acknowledgements do not count; when there is no descriptor left, they make room, too.
    mutating func drainListener(
        _ index: Int, _ listener: OpenedSource.Listener, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        for _ in 0..<LaneLoop.maxDrainRounds {
            pausedListeners.removeAll { $0 == index }
            let before = streams.connections(of: index)
            try accept(index, listener, &consumer)
            let open = streams.connections(of: index)
            let isStuck = open == before && !acknowledging.isEmpty
            for slot in streams.slots where streams.stream(slot)?.source == index {
                try drainStream(slot, &consumer)
            }
            if !pausedListeners.contains(index) { return }
            // Clients of other sources do not wait for the room that those of one need that ends.
            if isStuck, !isStopping, streams.connections(of: index) >= open { return }
            if isStuck { try makeRoom(&consumer) }
        }
    }

    /// Ends the connections that wait for acknowledgements. What is not acknowledged in time has been handed on all the
    /// same: its client sends it again, and it counts as duplicate.
    mutating func makeRoom(_ consumer: inout some PayloadConsumer & ~Copyable) throws(SourceError) {
        try acknowledgeLast(&consumer)
        for slot in acknowledging {
            guard let stream = streams.stream(slot), stream.isHalfClosed else { continue }
            try end(slot, stream, &consumer)
        }
        acknowledging.removeAll()
    }

    /// Reads what waits in a client's connection, at most as much as can wait there, and gives up the payload that is
    /// not complete.
    mutating func drainStream(
        _ slot: Int, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        guard let stream = streams.stream(slot), !stream.isHalfClosed else { return }
        if stream.isHeld { return leave(slot, stream, &consumer) }
        guard case .yes = letIn(stream, &consumer) else {
            giveUp(slot, stream, .frameIncomplete, &consumer)
            // A broker that is not known yet hears nothing.
            if !stream.isEstablished { return close(slot, stream) }
            guard stream.progress.acknowledger?.isWaiting ?? false else { return close(slot, stream) }
            stream.isHalfClosed = true
            return
        }
        var chunks = queuedChunks(of: sources[stream.source].opened.form)
        var outcome = StreamTable.Outcome.more
        while chunks > 0, case .more = outcome {
            outcome = read(stream, &consumer)
            chunks -= 1
        }
        abandon(stream, .shutdown, &consumer)
        consumer.batchEnd()
        note(slot, stream, &consumer)
        if stream.progress.acknowledger == nil { close(slot, stream) } else { stream.isHalfClosed = true }
    }

    /// Ends a connection without a look at what waits in it: its client hears of what was taken before, and sends the
    /// rest again.
    private mutating func leave(
        _ slot: Int, _ stream: Stream, _ consumer: inout some PayloadConsumer & ~Copyable
    ) {
        giveUp(slot, stream, .shutdown, &consumer)
        if stream.progress.acknowledger?.isWaiting ?? false { stream.isHalfClosed = true } else { close(slot, stream) }
    }

    /// Most chunks that a stopping lane still takes from a stream; of a source that ends of its own none.
    private func queuedChunks(of form: OpenedSource.Form) -> Int {
        switch form {
        case .stream, .datagrams, .associations, .sealed: 0
        case .returningStream, .broker, .records: LaneLoop.queuedLineBytes / StreamTable.chunkBytes
        case .listener(let listener): listener.queuedBytes / StreamTable.chunkBytes
        }
    }

    /// Gives up the unfinished payload of `stream`, for `reason`, as a batch of its own.
    mutating func giveUp(
        _ slot: Int, _ stream: Stream, _ reason: Rejection, _ consumer: inout some PayloadConsumer & ~Copyable
    ) {
        consumer.batchBegin()
        abandon(stream, reason, &consumer)
        consumer.batchEnd()
        note(slot, stream, &consumer)
    }

    /// Gives up the unfinished payload of `stream`, for `reason`.
    mutating func abandon(
        _ stream: Stream, _ reason: Rejection, _ consumer: inout some PayloadConsumer & ~Copyable
    ) {
        guard case .bytes(let decoder) = stream.content else { return }
        consumer.sender(stream.peer)
        consumer.admit(stream.progress.access?.admission, mapping: nil)
        var intake = StreamIntake(stream.progress)
        streams.abandon(decoder, reason, &intake, to: &consumer)
        settle(stream, intake)
    }
}
