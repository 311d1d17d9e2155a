@testable import Kymograph
@testable import KymographCore
import KymographTestKit

/// Streams, whose payloads are the same whatever the pieces in which they come.
extension FuzzTarget {
    static let streams = [
        FuzzTarget(name: "framing", longest: 512, run: framing),
        FuzzTarget(name: "stream", longest: 2_048, run: stream),
        FuzzTarget(name: "apple-health", longest: 4_096) { bytes in
            splits(bytes, cap: 512) { StreamDecoder(framing("apple-health,patient=p"), cap: 512) }
        },
        FuzzTarget(name: "compressed", longest: 2_048) { bytes in
            // What is shown of damage depends on the pieces.
            splits(bytes, cap: 200, showsRejects: false) { .recognising(RecognisingProtocol(.lines, cap: 200)) }
        },
    ]

    private static func framing(_ text: String) -> StreamFraming {
        (try? IngestKinds.builtIn.framing(text)) ?? .lines
    }

    /// Frames are bounded, and bytes are kept for one frame only.
    private static func framing(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        let framing = input.choice(of: Framing.oneOfEach)
        var cap = input.choice(of: [1, 5, 13, 40, 300])
        if case .fixed(let count) = framing.borders { cap = max(cap, count) }
        let size = input.choice(of: [1, 2, 3, 7, 40])
        let read = Cuts.all(input.rest, size: size).map { [cap] in FrameReading(framing, cap: cap, $0) }
        for other in read { demand(other.events == read[0].events, "\(framing), cap \(cap): \(other) and \(read[0])") }
    }

    private static let framingTexts = [
        "lines", "json", "csv", "csv,delimiter=semicolon,trim", "csv,delimiter=tab,comment=#,columns=a|b",
        "capture", "hl7v2", "cobs,crc16-ccitt", "length,u16be", "nul",
    ]

    private static func stream(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        let framing = framing(input.choice(of: framingTexts))
        let cap = input.choice(of: [200, 20, 2_000])
        // How much of a broken stream of frames is shown depends on what had come.
        let isFramed = if case .frames = framing { true } else { false }
        splits(input.rest, cap: cap, showsRejects: !isFramed) { StreamDecoder(framing, cap: cap) }
    }

    /// Reads `bytes` in pieces of several sizes, each with a decoder of its own.
    static func splits(_ bytes: [UInt8], cap: Int, showsRejects: Bool = true, _ decoder: () -> StreamDecoder) {
        let size = 1 + bytes.reduce(0) { ($0 &* 31 &+ Int($1)) & 0x3F }
        let read = Cuts.all(bytes, size: size).map {
            StreamReading(decoder(), cap: cap, showsRejects: showsRejects, $0)
        }
        for other in read {
            demand(other == read[0], "in pieces of \(size) bytes: \(other), as a whole: \(read[0])")
        }
    }
}

/// What a decoder of frames says of a stream.
private struct FrameReading: CustomStringConvertible {
    var events: [String] = []

    init(_ framing: Framing, cap: Int, _ pieces: [[UInt8]]) {
        var decoder = FrameDecoder(framing, cap: cap)
        for piece in pieces {
            let padded = PaddedBytes(copying: piece)
            var position = 0
            while let event = decoder.next(padded.view, from: &position) {
                note(event, cap)
                if case .broken = event { return }
            }
            demand(position == piece.count, "bytes are left over")
            demand(decoder.unfinished.count <= 2 * (cap + framing.check.width) + 8, "it keeps too much")
        }
        if let event = decoder.finish() { note(event, cap) }
    }

    private mutating func note(_ event: FrameEvent, _ cap: Int) {
        switch event {
        case .frame(let view):
            demand(view.count <= cap && view.count > 0, "a frame of \(view.count) bytes")
            events.append("frame \(view.array)")
        case .rejected(let reason, let view): events.append("\(reason) \(view.array)")
        // How much of a broken stream is shown depends on what had come.
        case .broken(let reason, _): events.append("\(reason)")
        }
    }

    var description: String { events.joined(separator: " ") }
}

/// What a stream's protocol makes of pieces, as a lane gives them to it.
struct StreamReading: Equatable {
    private(set) var payloads: [String] = []
    private(set) var rejects: [String] = []
    /// Bytes that the sender was told.
    private(set) var replies = 0
    /// Whether nothing can be made of what follows.
    private(set) var isOver = false

    init(_ decoder: StreamDecoder, cap: Int, showsRejects: Bool = true, _ pieces: [[UInt8]]) {
        let progress = StreamProgress(
            number: 0, lineCap: cap, acknowledging: decoder.base.acknowledging, isFresh: true, hasOpenEnds: false)
        var consumer = Consumer()
        for piece in pieces where !isOver {
            take(piece, decoder, progress, &consumer)
            demand(decoder.kept.count <= cap + StreamPiece.mostHead, "it keeps \(decoder.kept.count) bytes")
            // What is left because too many replies waited is asked for by an empty piece.
            while settle(progress), !isOver { take([], decoder, progress, &consumer) }
        }
        if !isOver {
            let rest = PaddedBytes(copying: decoder.kept.array)
            var intake = StreamIntake(progress, received: Instant(seconds: 1_700_000_000))
            decoder.end(.ended, rest.view, &intake, to: &consumer)
            _ = settle(progress)
        }
        payloads = consumer.payloads
        rejects = consumer.rejects.map { showsRejects ? "\($0.reason) \($0.bytes)" : "\($0.reason)" }
    }

    private mutating func take(
        _ piece: [UInt8], _ decoder: StreamDecoder, _ progress: StreamProgress, _ consumer: inout Consumer
    ) {
        let kept = decoder.kept.array
        let bytes = PaddedBytes(copying: kept + piece)
        var intake = StreamIntake(progress, received: Instant(seconds: 1_700_000_000))
        isOver = !decoder.take(StreamPiece(bytes.view, keptCount: kept.count), &intake, to: &consumer)
    }

    /// Tells the sender all that it is to hear; whether there was so much of it that nothing more was read.
    private mutating func settle(_ progress: StreamProgress) -> Bool {
        let isFull = progress.acknowledger?.isFull ?? false
        progress.acknowledger?.note(nil)
        replies += progress.acknowledger?.takeUnsent() ?? 0
        return isFull
    }

    private struct Consumer: PayloadConsumer {
        var payloads: [String] = []
        var rejects: [(reason: Rejection, bytes: [UInt8])] = []
        private var reasons: [Rejection] = []

        mutating func line(_ bytes: ByteView, source: Int, received: Instant) { take(bytes) }
        mutating func datagram(_ bytes: ByteView, source: Int, received: Instant) { take(bytes) }
        mutating func batchEnd() {}

        mutating func rejected(_ reason: Rejection, bytes: ByteView, source: Int, received: Instant) {
            touchPadding(bytes)
            reasons.append(reason)
            rejects.append((reason, bytes.array))
        }

        mutating func takeRejections() -> [Rejection] {
            defer { reasons = [] }
            return reasons
        }

        private mutating func take(_ bytes: ByteView) {
            touchPadding(bytes)
            payloads.append("\(bytes.array)")
        }

        /// Reads what the scanner may read; AddressSanitizer tells when it is not there.
        private func touchPadding(_ bytes: ByteView) {
            var sum: UInt8 = 0
            for place in 0..<ByteView.padding { sum &+= bytes[bytes.count + place] }
            withExtendedLifetime(sum) {}
        }
    }
}
