import KymographCore

/// The framings of ``Framing``: each frame is a payload.
final class FrameProtocol: StreamProtocol {
    private var decoder: FrameDecoder
    /// Whether a checksum tells that a frame is whole.
    private let isChecked: Bool

    init(_ framing: Framing, cap: Int) {
        decoder = FrameDecoder(framing, cap: cap)
        isChecked = framing.check != .none
    }

    func take(
        _ piece: StreamPiece, _ intake: inout StreamIntake, to consumer: inout some PayloadReceiver & ~Copyable
    ) -> Bool {
        var position = 0
        while let event = decoder.next(piece.bytes, from: &position) {
            switch event {
            case .frame(let bytes): intake.payload(bytes, to: &consumer)
            case .rejected(let reason, let bytes): intake.reject(reason, bytes, to: &consumer)
            case .broken(let reason, let bytes):
                intake.reject(reason, bytes, to: &consumer)
                return false
            }
        }
        return true
    }

    func end(
        _ ending: StreamEnding, _ rest: ByteView, _ intake: inout StreamIntake,
        to consumer: inout some PayloadReceiver & ~Copyable
    ) {
        switch ending {
        case .cut(let reason):
            if let bytes = decoder.abandon() { intake.reject(reason, bytes, to: &consumer) }
        case .ended:
            switch decoder.finish() {
            case .frame(let bytes) where isChecked: intake.payload(bytes, to: &consumer)
            case .frame(let bytes): intake.lastPayload(bytes, to: &consumer)
            case .rejected(let reason, let bytes), .broken(let reason, let bytes):
                intake.reject(reason, bytes, to: &consumer)
            case nil: break
            }
        }
    }
}
