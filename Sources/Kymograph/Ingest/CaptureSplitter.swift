import KymographCore

/// Finds the packets in what a Bluetooth tool writes, and hands them on as frames of a bridge with the time they came.
final class CaptureSplitter {
    private let framing: CaptureFraming
    private var lines: FrameDecoder
    private var capture = TextCapture()
    /// Time of the last packet: packets that come in one read do not come at one moment.
    private var last = Instant.distantPast

    init(_ framing: CaptureFraming, cap: Int) {
        self.framing = framing
        lines = FrameDecoder(Framing(.delimiter([0x0A])), cap: cap)
    }

    /// Hands on the packets that `piece` completes.
    func split(
        _ piece: ByteView, _ arrival: Arrival, counts: inout SourceCounts,
        to consumer: inout some PayloadConsumer & ~Copyable
    ) {
        var position = 0
        while let event = lines.next(piece, from: &position) { take(event, arrival, counts: &counts, to: &consumer) }
    }

    /// Hands on what is complete at the end of the stream.
    func finish(_ arrival: Arrival, counts: inout SourceCounts, to consumer: inout some PayloadConsumer & ~Copyable) {
        end(.frameIncomplete, arrival, counts: &counts, to: &consumer)
    }

    /// Hands on what is complete, because nobody will read the rest.
    func abandon(_ arrival: Arrival, counts: inout SourceCounts, to consumer: inout some PayloadConsumer & ~Copyable) {
        end(.shutdown, arrival, counts: &counts, to: &consumer)
    }

    /// Gives up the unfinished line where it has a packet, or goes on with one: cut, it would be another packet.
    /// Nothing is lost with others: tools leave their prompt unfinished.
    private func end(
        _ reason: Rejection, _ arrival: Arrival, counts: inout SourceCounts,
        to consumer: inout some PayloadConsumer & ~Copyable
    ) {
        var before = capture
        let begun = before.finish()
        guard let line = lines.abandon() else {
            for packet in begun { handOn(packet, arrival, counts: &counts, to: &consumer) }
            return
        }
        let mayGoOn = !begun.isEmpty && line.array.allSatisfy { $0 == 0x20 || Character(UnicodeScalar($0)).isHexDigit }
        let all = packets(in: line) + capture.finish()
        guard !mayGoOn else { return reject(reason, line, arrival, counts: &counts, to: &consumer) }
        if all.starts(with: begun) { for packet in begun { handOn(packet, arrival, counts: &counts, to: &consumer) } }
        if all != begun { reject(reason, line, arrival, counts: &counts, to: &consumer) }
    }

    private func take(
        _ event: FrameEvent, _ arrival: Arrival, counts: inout SourceCounts,
        to consumer: inout some PayloadConsumer & ~Copyable
    ) {
        switch event {
        case .frame(let line):
            for packet in packets(in: line) { handOn(packet, arrival, counts: &counts, to: &consumer) }
        case .rejected(let reason, let bytes), .broken(let reason, let bytes):
            reject(reason, bytes, arrival, counts: &counts, to: &consumer)
        }
    }

    /// The packets that `line` completes. Prompts are drawn again and again on one line, with carriage returns between.
    private func packets(in line: ByteView) -> [CapturedPacket] {
        line.array.split(separator: 0x0D).flatMap { capture.packets(in: String(decoding: $0, as: UTF8.self)) }
    }

    private func handOn(
        _ packet: CapturedPacket, _ arrival: Arrival, counts: inout SourceCounts,
        to consumer: inout some PayloadConsumer & ~Copyable
    ) {
        var packet = packet
        last = max(arrival.received, last.advanced(by: 1_000))
        packet.time = last
        let frame = PaddedBytes(
            copying: packet.frame(device: framing.device, offsetMinutes: framing.offsetMinutes))
        counts.lines += 1
        consumer.datagram(frame.view, source: arrival.source, received: arrival.received)
    }

    private func reject(
        _ reason: Rejection, _ bytes: ByteView, _ arrival: Arrival, counts: inout SourceCounts,
        to consumer: inout some PayloadConsumer & ~Copyable
    ) {
        counts.lines += 1
        counts.rejected += 1
        consumer.rejected(reason, bytes: bytes, source: arrival.source, received: arrival.received)
    }
}
