import KymographCore

/// NDJSON: each line is a payload.
final class LineProtocol: StreamProtocol {
    private var framer: LineFramer

    init(cap: Int) { framer = LineFramer(cap: cap) }

    var kept: ByteView { framer.unfinishedLine }

    func take(
        _ piece: StreamPiece, _ intake: inout StreamIntake, to consumer: inout some PayloadReceiver & ~Copyable
    ) -> Bool {
        var piece = piece
        if intake.isFresh, let end = piece.bytes.firstIndex(of: 0x0A, from: piece.keptCount) {
            if takeFirst(piece.bytes[0..<end], &intake, &consumer) {
                piece = StreamPiece(piece.bytes[(end + 1)..<piece.bytes.count])
                framer.forget()
            }
        }
        framer.split(piece, intake.arrival, counts: &intake.counts, to: &consumer)
        return true
    }

    func end(
        _ ending: StreamEnding, _ rest: ByteView, _ intake: inout StreamIntake,
        to consumer: inout some PayloadReceiver & ~Copyable
    ) {
        framer.forget()
        guard rest.count > 0 else { return }
        switch ending {
        case .cut(let reason): framer.giveUp(reason, rest, intake.arrival, counts: &intake.counts, to: &consumer)
        case .ended:
            if let line = framer.line(rest), intake.mayBeBeginning(line) {
                return framer.reject(.frameIncomplete, line, intake.arrival, counts: &intake.counts, to: &consumer)
            }
            framer.deliver(rest, intake.arrival, counts: &intake.counts, to: &consumer)
        }
    }

    /// Takes the stream's first line, up to its newline, if it is no payload; whether it is none.
    private func takeFirst(
        _ bytes: ByteView, _ intake: inout StreamIntake, _ consumer: inout some PayloadReceiver & ~Copyable
    ) -> Bool {
        guard let line = framer.line(bytes) else {
            intake.passFirst()
            return false
        }
        switch intake.first(line, &consumer) {
        case .payload: return false
        case .request: return true
        case .part:
            framer.reject(.beginningMissed, line, intake.arrival, counts: &intake.counts, to: &consumer)
            return true
        }
    }
}
