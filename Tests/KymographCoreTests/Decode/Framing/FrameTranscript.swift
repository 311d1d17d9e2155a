@testable import KymographCore
import KymographTestKit

/// What a decoder said of a stream.
struct FrameTranscript: Equatable, CustomStringConvertible {
    enum Entry: Equatable {
        case frame([UInt8])
        case rejected(Rejection, [UInt8])
        case broken(Rejection)
    }

    var entries: [Entry] = []
    /// Most bytes that were kept between two pieces.
    var mostWaiting = 0

    static func == (one: FrameTranscript, other: FrameTranscript) -> Bool { one.entries == other.entries }

    /// Feeds `bytes` to a new decoder, cut at `cuts`, and says that the stream has ended.
    init(_ framing: Framing, cap: Int, _ bytes: [UInt8], cuts: [Int] = []) {
        var decoder = FrameDecoder(framing, cap: cap)
        var start = 0
        for cut in cuts + [bytes.count] {
            guard take(Array(bytes[start..<cut]), &decoder) else { return }
            start = cut
        }
        if let event = decoder.finish() { note(event) }
    }

    /// False when nothing more can be read.
    private mutating func take(_ piece: [UInt8], _ decoder: inout FrameDecoder) -> Bool {
        let padded = PaddedBytes(copying: piece)
        var position = 0
        while let event = decoder.next(padded.view, from: &position) {
            note(event)
            if case .broken = event { return false }
        }
        mostWaiting = max(mostWaiting, decoder.unfinished.count)
        return position == piece.count
    }

    private mutating func note(_ event: FrameEvent) {
        switch event {
        case .frame(let view): entries.append(.frame(view.array))
        case .rejected(let reason, let view): entries.append(.rejected(reason, view.array))
        // How much of a broken stream is shown depends on what had come.
        case .broken(let reason, _): entries.append(.broken(reason))
        }
    }

    var frames: [[UInt8]] {
        entries.compactMap { if case .frame(let bytes) = $0 { bytes } else { nil } }
    }

    var reasons: [Rejection] {
        entries.compactMap { entry in
            switch entry {
            case .frame: nil
            case .rejected(let reason, _), .broken(let reason): reason
            }
        }
    }

    var description: String { entries.map { "\($0)" }.joined(separator: " ") }
}
