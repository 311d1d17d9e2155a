@testable import Kymograph
import KymographCore
import KymographTestKit

/// What a stream's protocol makes of pieces, as a lane gives them to it.
struct StreamReading {
    var consumer = RecordingConsumer()
    /// Whether the protocol has said that nothing can be made of what follows.
    var isOver = false

    /// Reads `pieces` of a stream of `source`, and its end.
    init(_ source: SourceConfiguration, _ pieces: [[UInt8]], ending: StreamEnding = .ended) {
        let decoder = StreamDecoder(source)
        let progress = StreamProgress(
            number: 0, lineCap: source.lineCap, acknowledging: decoder.base.acknowledging,
            isFresh: source.hasOpenEnds, hasOpenEnds: source.hasOpenEnds, mayEndWithin: source.mayEndWithin)
        for piece in pieces where !isOver {
            let kept = decoder.kept.array
            let bytes = PaddedBytes(copying: kept + piece)
            var intake = StreamIntake(progress)
            isOver = !decoder.take(StreamPiece(bytes.view, keptCount: kept.count), &intake, to: &consumer)
        }
        guard !isOver else { return }
        let rest = PaddedBytes(copying: decoder.kept.array)
        var intake = StreamIntake(progress)
        decoder.end(ending, rest.view, &intake, to: &consumer)
    }

    /// Reads `bytes` of standard input in pieces whose lengths `generator` chooses.
    init(
        _ framing: StreamFraming, _ bytes: [UInt8], cap: Int = 1 << 20, source: SourceConfiguration? = nil,
        ending: StreamEnding = .ended, _ generator: inout SeededGenerator
    ) {
        var source = source ?? SourceConfiguration(.standardInput(descriptor: 0))
        source.framing = framing
        source.lineCap = cap
        self.init(source, StreamReading.pieces(bytes, &generator), ending: ending)
    }

    /// All payloads, in order of their kinds.
    var payloads: [String] { consumer.lines.map(\.text) + consumer.datagrams.map(\.text) }
    var reasons: [Rejection] { consumer.rejects.map(\.reason) }

    private static func pieces(_ bytes: [UInt8], _ generator: inout SeededGenerator) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var start = 0
        while start < bytes.count {
            let longest = [1, 7, 100, 100_000][Int.random(in: 0..<4, using: &generator)]
            let end = min(bytes.count, start + Int.random(in: 1...longest, using: &generator))
            pieces.append(Array(bytes[start..<end]))
            start = end
        }
        return pieces
    }
}
