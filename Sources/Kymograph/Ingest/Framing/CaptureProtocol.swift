import KymographCore

/// What a Bluetooth tool writes: its packets are handed on as frames of a bridge, with the time they came.
final class CaptureProtocol: StreamProtocol {
    private let framing: CaptureFraming
    private var lines: FrameDecoder
    private var capture = TextCapture()
    /// Time of the last packet: packets that come in one read do not come at one moment.
    private var last = Instant.distantPast

    init(_ framing: CaptureFraming, cap: Int) {
        self.framing = framing
        lines = FrameDecoder(Framing(.delimiter([0x0A])), cap: cap)
    }

    /// Tools ask for nothing.
    var acknowledging: Acknowledging { .never }

    func take(
        _ piece: StreamPiece, _ intake: inout StreamIntake, to consumer: inout some PayloadReceiver & ~Copyable
    ) -> Bool {
        var position = 0
        while let event = lines.next(piece.bytes, from: &position) {
            switch event {
            case .frame(let line): handOn(packets(in: line), &intake, to: &consumer)
            case .rejected(let reason, let bytes), .broken(let reason, let bytes):
                intake.reject(reason, bytes, to: &consumer)
            }
        }
        return true
    }

    /// Gives up the unfinished line where it has a packet, or goes on with one: cut, it would be another packet.
    /// Nothing is lost with others: tools leave their prompt unfinished.
    func end(
        _ ending: StreamEnding, _ rest: ByteView, _ intake: inout StreamIntake,
        to consumer: inout some PayloadReceiver & ~Copyable
    ) {
        let reason: Rejection =
            switch ending {
            case .ended: .frameIncomplete
            case .cut(let reason): reason
            }
        var before = capture
        let begun = before.finish()
        guard let line = lines.abandon() else { return handOn(begun, &intake, to: &consumer) }
        let mayGoOn = !begun.isEmpty && line.array.allSatisfy { $0 == 0x20 || Character(UnicodeScalar($0)).isHexDigit }
        let all = packets(in: line) + capture.finish()
        guard !mayGoOn else { return intake.reject(reason, line, to: &consumer) }
        if all.starts(with: begun) { handOn(begun, &intake, to: &consumer) }
        if all != begun { intake.reject(reason, line, to: &consumer) }
    }

    /// The packets that `line` completes. Prompts are drawn again and again on one line, with carriage returns between.
    private func packets(in line: ByteView) -> [CapturedPacket] {
        line.array.split(separator: 0x0D).flatMap { capture.packets(in: String(decoding: $0, as: UTF8.self)) }
    }

    private func handOn(
        _ packets: [CapturedPacket], _ intake: inout StreamIntake,
        to consumer: inout some PayloadReceiver & ~Copyable
    ) {
        for var packet in packets {
            last = max(intake.arrival.received, last.advanced(by: 1_000))
            packet.time = last
            let frame = PaddedBytes(
                copying: packet.frame(device: framing.device, offsetMinutes: framing.offsetMinutes))
            intake.payload(frame.view, to: &consumer)
        }
    }
}
