import CKymographLinux
import KymographCore

/// Tells clients what has become durable of what they sent. Of the lane's thread.
struct ReplySender {
    /// How long a lane waits before it asks again what has become durable: a commit takes about as long.
    static let pauseMilliseconds: Int32 = 2
    /// Longest time, in milliseconds, that a stopping lane waits for the last lines to become durable.
    private static let lastAcknowledgement = 2_000

    private let streams: StreamTable
    private let replies: PendingReplies
    private let watch: LaneWatch
    private let check: ClientCheck
    private let reader: StreamReader

    init(
        _ streams: StreamTable, _ replies: PendingReplies, _ watch: LaneWatch, _ check: ClientCheck,
        _ reader: StreamReader
    ) {
        (self.streams, self.replies, self.watch) = (streams, replies, watch)
        (self.check, self.reader) = (check, reader)
    }

    /// Whether clients wait.
    var areWaiting: Bool { !replies.slots.isEmpty }

    /// Whether one of them may hear something soon, and not only when it reads.
    var areDueSoon: Bool { replies.areDueSoon }

    /// Tells clients what has become durable, and closes the streams that have heard all.
    func acknowledge(_ consumer: inout some PayloadConsumer & ~Copyable) throws(SourceError) {
        replies.beginTelling()
        for slot in replies.slots {
            guard let stream = streams.stream(slot) else {
                replies.remove(slot)
                continue
            }
            let isReachable = replies.answer(stream, &consumer)
            let isWaiting = stream.progress.acknowledger?.isWaiting ?? false
            if !isWaiting || !isReachable { replies.remove(slot) }
            if isWaiting, isReachable, !(stream.progress.acknowledger?.isUnread ?? false) { replies.noteDue() }
            let isRefused = stream.progress.acknowledger?.isRefused ?? false
            // Its client has gone, and nothing else will tell: it is not read.
            if !isReachable, stream.isPaused || isRefused { stream.isHalfClosed = true }
            if stream.isHalfClosed || isRefused, !isWaiting || !isReachable {
                try reader.end(slot, stream, &consumer)
            } else if isReachable {
                try goOn(slot, stream, &consumer)
            }
        }
    }

    /// Reads a stream on that has been paused, when its client has taken enough, and tells a client that has heard all
    /// of a connection that nothing more comes.
    private func goOn(
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
        guard case .yes = check.letIn(stream, &consumer) else {
            reader.giveUp(slot, stream, .frameIncomplete, &consumer)
            return try reader.end(slot, stream, &consumer)
        }
        reader.begin(stream, &consumer)
        var intake = StreamIntake(stream.progress)
        let goesOn = streams.resume(decoder, &intake, to: &consumer)
        reader.settle(stream, intake)
        consumer.batchEnd()
        replies.note(slot, stream, &consumer)
        stream.isPaused = false
        guard goesOn else { return try reader.end(slot, stream, &consumer) }
        guard !replies.isPausing(stream) else { return }
        try watch.watch(slot, stream.descriptor)
        if stream.transport.hasBuffered { watch.noteBuffered(slot) }
    }

    /// Gives the last lines of clients that wait some time to become durable.
    func acknowledgeLast(_ consumer: inout some PayloadConsumer & ~Copyable) throws(SourceError) {
        var left = ReplySender.lastAcknowledgement
        while areWaiting, left > 0 {
            try acknowledge(&consumer)
            Wait.milliseconds(Int(ReplySender.pauseMilliseconds))
            left -= Int(ReplySender.pauseMilliseconds)
        }
    }
}
