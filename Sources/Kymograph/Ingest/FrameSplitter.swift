import KymographCore

/// Hands on the frames of one stream. A class, because a stream may have none.
final class FrameSplitter {
    private var decoder: FrameDecoder

    init(_ framing: Framing, cap: Int) { decoder = FrameDecoder(framing, cap: cap) }

    /// Hands on the frames of `piece`, except a first one that asks for acknowledgements or may be a part; false when
    /// nothing can be made of what follows.
    func split(
        _ piece: ByteView, of stream: Stream, _ arrival: Arrival, counts: inout SourceCounts,
        to consumer: inout some PayloadConsumer & ~Copyable
    ) -> Bool {
        var position = 0
        while var event = decoder.next(piece, from: &position) {
            if stream.isFresh {
                if case .frame(let bytes) = event {
                    if stream.asksForAcknowledgements(bytes, &consumer) { continue }
                    if stream.mayBePart(bytes) { event = .rejected(.beginningMissed, bytes) }
                }
                stream.isFresh = false
            }
            guard deliver(event, arrival, counts: &counts, to: &consumer) else { return false }
        }
        return true
    }

    /// Hands on what the end of the stream completes, or rejects what it leaves incomplete.
    func finish(
        _ stream: Stream, _ arrival: Arrival, counts: inout SourceCounts,
        to consumer: inout some PayloadConsumer & ~Copyable
    ) {
        guard var event = decoder.finish() else { return }
        if case .frame(let bytes) = event, stream.mayBePart(bytes) { event = .rejected(.frameIncomplete, bytes) }
        _ = deliver(event, arrival, counts: &counts, to: &consumer)
    }

    /// Gives up the unfinished frame of a stream that is still open, because nobody will read its rest.
    func abandon(_ arrival: Arrival, counts: inout SourceCounts, to consumer: inout some PayloadConsumer & ~Copyable) {
        guard let bytes = decoder.abandon() else { return }
        _ = deliver(.rejected(.shutdown, bytes), arrival, counts: &counts, to: &consumer)
    }

    private func deliver(
        _ event: FrameEvent, _ arrival: Arrival, counts: inout SourceCounts,
        to consumer: inout some PayloadConsumer & ~Copyable
    ) -> Bool {
        counts.lines += 1
        switch event {
        case .frame(let bytes):
            consumer.datagram(bytes, source: arrival.source, received: arrival.received)
            return true
        case .rejected(let reason, let bytes):
            counts.rejected += 1
            consumer.rejected(reason, bytes: bytes, source: arrival.source, received: arrival.received)
            return true
        case .broken(let reason, let bytes):
            counts.rejected += 1
            consumer.rejected(reason, bytes: bytes, source: arrival.source, received: arrival.received)
            return false
        }
    }
}
