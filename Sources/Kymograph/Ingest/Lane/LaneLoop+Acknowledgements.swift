import CKymographLinux
import Glibc
import KymographCore

/// Acknowledgements.
extension LaneLoop {
    /// Notes what stream `slot` has handed on, if its client wants to hear of it.
    mutating func note(
        _ slot: Int, _ stream: Stream, _ consumer: inout some PayloadConsumer & ~Copyable
    ) {
        guard stream.progress.acknowledger != nil else { return }
        stream.progress.acknowledger?.note(consumer.mark())
        acknowledging.insert(slot)
        acknowledgesSoon = true
    }

    /// Tells clients what has become durable, and closes the streams that have heard all.
    mutating func acknowledge(_ consumer: inout some PayloadConsumer & ~Copyable) throws(SourceError) {
        acknowledgesSoon = false
        for slot in acknowledging {
            guard let stream = streams.stream(slot) else {
                acknowledging.remove(slot)
                continue
            }
            let isReachable = answer(stream, &consumer)
            let isWaiting = stream.progress.acknowledger?.isWaiting ?? false
            if !isWaiting || !isReachable { acknowledging.remove(slot) }
            if isWaiting, isReachable, !(stream.progress.acknowledger?.isUnread ?? false) { acknowledgesSoon = true }
            let isRefused = stream.progress.acknowledger?.isRefused ?? false
            // Its client has gone, and nothing else will tell: it is not read.
            if !isReachable, stream.isPaused || isRefused { stream.isHalfClosed = true }
            if stream.isHalfClosed || isRefused, !isWaiting || !isReachable {
                try end(slot, stream, &consumer)
            } else if isReachable {
                try goOn(slot, stream, &consumer)
            }
        }
    }

    /// Reads a stream on that has been paused, when its client has taken enough, and tells a client that has heard all
    /// of a connection that nothing more comes.
    private mutating func goOn(
        _ slot: Int, _ stream: Stream, _ consumer: inout some PayloadConsumer & ~Copyable
    ) throws(SourceError) {
        guard !stream.isHalfClosed, let acknowledger = stream.progress.acknowledger else { return }
        if acknowledger.endsSending, !acknowledger.isWaiting {
            stream.transport.endSending(to: stream.descriptor.raw)
        }
        guard stream.isPaused, !stream.isHeld, !acknowledger.isFull, case .bytes(let decoder) = stream.content else {
            return
        }
        // Whoever sends may be none of the list of peers any more.
        guard case .yes = letIn(stream, &consumer) else {
            giveUp(slot, stream, .frameIncomplete, &consumer)
            return try end(slot, stream, &consumer)
        }
        begin(stream, &consumer)
        var intake = StreamIntake(stream.progress)
        let goesOn = streams.resume(decoder, &intake, to: &consumer)
        settle(stream, intake)
        consumer.batchEnd()
        note(slot, stream, &consumer)
        stream.isPaused = false
        guard goesOn else { return try end(slot, stream, &consumer) }
        guard !isPausing(stream) else { return }
        try watch(slot, stream.descriptor)
        if stream.transport.hasBuffered { buffered.insert(slot) }
    }

    /// Pauses `stream` if too many replies wait; whether it is paused.
    func isPausing(_ stream: Stream) -> Bool {
        guard isFull(stream) else { return false }
        stream.isPaused = true
        return true
    }

    /// Whether too many replies wait for more of `stream` to be read.
    func isFull(_ stream: Stream) -> Bool { stream.progress.acknowledger?.isFull ?? false }

    /// Writes what `stream`'s client is to hear, as far as it takes it; false when it has gone.
    func answer(_ stream: Stream, _ consumer: inout some PayloadConsumer & ~Copyable) -> Bool {
        guard let bytes = stream.progress.acknowledger?.answer(&consumer), !bytes.isEmpty else { return true }
        let size = bytes.withByteView { stream.transport.send($0, to: stream.descriptor.raw) }
        if size > 0 { stream.progress.acknowledger?.sent(size) }
        // The kernel tells of a connection that has failed once.
        if size < 0, size != -Int(EAGAIN) { stream.fail(code: Int32(-size)) }
        return size > 0 || size == -Int(EAGAIN)
    }

    /// Gives the last lines of clients that wait some time to become durable.
    mutating func acknowledgeLast(_ consumer: inout some PayloadConsumer & ~Copyable) throws(SourceError) {
        var left = LaneLoop.lastAcknowledgement
        while !acknowledging.isEmpty, left > 0 {
            try acknowledge(&consumer)
            Wait.milliseconds(Int(LaneLoop.acknowledgeMilliseconds))
            left -= Int(LaneLoop.acknowledgeMilliseconds)
        }
    }
}
