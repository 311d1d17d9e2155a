import KymographCore

/// A compressed stream: what comes out is read as a stream of its own.
final class InflatingProtocol: StreamProtocol {
    /// Decompressed bytes that are handed on at a time.
    private static let chunkBytes = 262_144

    private let input: any CompressedInput
    private let content: StreamDecoder
    private var chunk = ByteWriter(capacity: InflatingProtocol.chunkBytes)

    /// Reads what `input` gives by `content`.
    init(_ input: any CompressedInput, content: StreamDecoder) {
        self.input = input
        self.content = content
    }

    var acknowledging: Acknowledging { content.base.acknowledging }

    func take(
        _ piece: StreamPiece, _ intake: inout StreamIntake, to consumer: inout some PayloadReceiver & ~Copyable
    ) -> Bool {
        var position = 0
        var isFull = false
        while position < piece.bytes.count || isFull {
            let kept = keepBefore()
            let start = position
            var isDamaged = false
            do {
                try input.decompress(piece.bytes, from: &position, to: &chunk, room: InflatingProtocol.chunkBytes)
            } catch {
                isDamaged = true
            }
            isFull = chunk.count - kept == InflatingProtocol.chunkBytes
            // What came out before the damage is whole.
            if chunk.count > kept {
                chunk.pad(by: ByteView.padding)
                let isGoingOn = content.take(StreamPiece(chunk.view, keptCount: kept), &intake, to: &consumer)
                guard isGoingOn else { return false }
            }
            if input.takeFileEnd() { content.fileEnded(&intake, to: &consumer) }
            guard isDamaged else { continue }
            giveUp(piece.bytes[start..<piece.bytes.count], &intake, &consumer)
            return false
        }
        return true
    }

    func end(
        _ ending: StreamEnding, _ rest: ByteView, _ intake: inout StreamIntake,
        to consumer: inout some PayloadReceiver & ~Copyable
    ) {
        guard case .ended = ending, !input.isComplete else { return endContent(ending, &intake, &consumer) }
        // Nothing is there that could be shown.
        giveUp(rest[0..<0], &intake, &consumer)
    }

    /// Begins the next chunk with what the content keeps; its bytes.
    private func keepBefore() -> Int {
        chunk.removeAll()
        chunk.append(content.kept)
        return chunk.count
    }

    private func endContent(
        _ ending: StreamEnding, _ intake: inout StreamIntake,
        _ consumer: inout some PayloadReceiver & ~Copyable
    ) {
        _ = keepBefore()
        chunk.pad(by: ByteView.padding)
        content.end(ending, chunk.view, &intake, to: &consumer)
    }

    /// Rejects `bytes`, of which nothing can be made, and before it what the content has not finished.
    private func giveUp(
        _ bytes: ByteView, _ intake: inout StreamIntake, _ consumer: inout some PayloadReceiver & ~Copyable
    ) {
        endContent(.cut(.compressedInput), &intake, &consumer)
        intake.reject(.compressedInput, bytes, to: &consumer)
    }
}
