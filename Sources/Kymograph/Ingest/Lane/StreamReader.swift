import Glibc
import KymographCore

/// Reads streams, as far as they go. Of the lane's thread.
final class StreamReader {
    private let sources: LaneSources
    private let streams: StreamTable
    private let watch: LaneWatch
    private let clock: LaneClock
    private let notices: ClientNotices
    private let replies: PendingReplies
    private let listeners: LaneListeners
    private let check: ClientCheck
    private let connections: KeptConnections
    private let datagrams: DatagramBatch

    init(
        _ sources: LaneSources, _ streams: StreamTable, _ watch: LaneWatch, _ clock: LaneClock,
        _ notices: ClientNotices, _ replies: PendingReplies, _ listeners: LaneListeners, _ check: ClientCheck,
        _ connections: KeptConnections, _ datagrams: DatagramBatch
    ) {
        (self.sources, self.streams, self.watch, self.clock) = (sources, streams, watch, clock)
        (self.notices, self.replies, self.listeners) = (notices, replies, listeners)
        (self.check, self.connections, self.datagrams) = (check, connections, datagrams)
    }

    /// A batch of `stream` follows.
    func begin(_ stream: Stream, _ consumer: inout some PayloadConsumer & ~Copyable) {
        consumer.batchBegin()
        consumer.sender(stream.peer)
        consumer.admit(stream.progress.access?.admission, mapping: nil)
    }

    /// Reads one chunk of `stream`, or one batch of messages, and hands it on.
    func read(
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
        if intake.counts.bytes > 0 { stream.lastReceived = clock.lastIdle }
        if stream.progress.acknowledging == .onRequest { stream.progress.acknowledger?.add(lines: intake.payloads) }
        sources[stream.source].counters.add(intake.counts)
    }

    /// Reads one chunk of stream `slot`.
    func readStream(
        _ slot: Int, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        // It may have been given up in the same round.
        guard let stream = streams.stream(slot), !stream.isHalfClosed, !stream.isHeld else { return }
        switch check.letIn(stream, &consumer) {
        case .yes: break
        case .notYet: return
        case .no:
            giveUp(slot, stream, .frameIncomplete, &consumer)
            return try end(slot, stream, &consumer)
        }
        let outcome = read(stream, &consumer)
        consumer.batchEnd()
        replies.note(slot, stream, &consumer)
        switch outcome {
        case .more, .nothing:
            if replies.isPausing(stream) {
                watch.remove(stream.descriptor)
            } else if case .more = outcome, stream.transport.hasBuffered {
                watch.noteBuffered(slot)
            }
            return
        case .ended: break
        case .failed(let code):
            if case .stream = sources[stream.source].opened.form {
                throw .system(code, "read", sources[stream.source].name)
            }
            notices.noteFailure(Int(code), of: stream, &consumer)
        }
        try end(slot, stream, &consumer)
    }

    /// Reads one chunk of each stream of which the socket does not tell that more is there.
    func readBuffered(_ consumer: inout some PayloadConsumer & ~Copyable) throws(SourceError) {
        for slot in watch.takeBuffered() { try readStream(slot, &consumer) }
    }

    /// Ends stream `slot`, unless its client still waits to hear of what it sent.
    func end(
        _ slot: Int, _ stream: Stream, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        // Nobody hears of it: what a broker has not heard comes again.
        if case .bytes(.messages(let messages)) = stream.content, !messages.isParting {
            stream.progress.acknowledger = nil
        }
        // A client that has only shut down its writing side still wants to hear of its last lines.
        if stream.progress.acknowledger?.isWaiting ?? false, !stream.isHalfClosed {
            stream.isHalfClosed = true
            watch.remove(stream.descriptor)
            return
        }
        watch.forget(slot, stream.descriptor)
        streams.close(slot)
        switch sources[stream.source].opened.form {
        case .stream: sources.noteEnd()
        case .returningStream: if !sources[stream.source].isGone { connections.lose(stream.source, &consumer) }
        case .broker: connections.loseBroker(stream.source, &consumer)
        case .records: if !sources[stream.source].isGone { connections.noteLost(stream.source, at: .now) }
        case .listener, .datagrams, .associations, .sealed: break
        }
        try listeners.resume()
    }

    /// Hands on the messages that wait in the connection of `stream`, at most a batch. An empty one is the end: the
    /// kernel gives both alike.
    private func readMessages(
        _ stream: Stream, _ intake: inout StreamIntake, _ consumer: inout some PayloadConsumer & ~Copyable
    ) -> StreamTable.Outcome {
        let count = datagrams.receive(stream.descriptor.raw)
        guard count > 0 else { return streams.readFailure(count) }
        intake.noteRead()
        for place in 0..<count {
            let message = datagrams.datagram(place)
            guard message.count > 0 else { return .ended }
            intake.message(message, isTruncated: datagrams.isTruncated(place), to: &consumer)
        }
        return .more
    }

    /// Gives up the unfinished payload of `stream`, for `reason`, as a batch of its own.
    func giveUp(
        _ slot: Int, _ stream: Stream, _ reason: Rejection, _ consumer: inout some PayloadConsumer & ~Copyable
    ) {
        consumer.batchBegin()
        abandon(stream, reason, &consumer)
        consumer.batchEnd()
        replies.note(slot, stream, &consumer)
    }

    /// Gives up the unfinished payload of `stream`, for `reason`.
    func abandon(
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
