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
            if stream.isHalfClosed || isRefused, !isWaiting || !isReachable { try end(slot, stream, &consumer) }
        }
    }

    /// Writes what `stream`'s client is to hear, as far as it takes it; false when it has gone.
    func answer(_ stream: Stream, _ consumer: inout some PayloadConsumer & ~Copyable) -> Bool {
        guard let bytes = stream.progress.acknowledger?.answer(&consumer), !bytes.isEmpty else { return true }
        let size = bytes.withByteView { FileSystem.send(stream.descriptor.raw, $0) }
        if size > 0 { stream.progress.acknowledger?.sent(size) }
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
