import Kymograph
import KymographCore

/// Keeps what a lane hands on.
struct RecordingConsumer: PayloadConsumer {
    struct Payload: Hashable, Sendable {
        var source: Int
        var text: String
    }

    struct Reject: Hashable, Sendable {
        var reason: Rejection
        var bytes: [UInt8]
    }

    var lines: [Payload] = []
    var datagrams: [Payload] = []
    var rejects: [Reject] = []
    var batches = 0
    /// Whether lines that begin with an a are taken before their ends are told, and how many were.
    var knowsLines = false
    var knownLines = 0
    /// Called for every datagram with the number of datagrams so far, to hold the lane up.
    var onDatagram: @Sendable (Int) -> Void = { _ in }
    /// Called for every line with the number of lines so far.
    var onLine: @Sendable (Int) -> Void = { _ in }

    var texts: [String] { lines.map(\.text) }

    mutating func line(_ bytes: ByteView, source: Int, received: Instant) {
        touchPadding(bytes)
        lines.append(Payload(source: source, text: bytes.string))
        onLine(lines.count)
    }

    mutating func knownLine(_ bytes: ByteView, source: Int, received: Instant) -> Int? {
        touchPadding(bytes)
        guard knowsLines, let end = (0..<bytes.count).first(where: { bytes[$0] == 0x0A }), end > 0,
            bytes[0] == UInt8(ascii: "a"), bytes[end - 1] != 0x0D
        else { return nil }
        line(bytes[0..<end], source: source, received: received)
        knownLines += 1
        return end
    }

    mutating func datagram(_ bytes: ByteView, source: Int, received: Instant) {
        touchPadding(bytes)
        datagrams.append(Payload(source: source, text: bytes.string))
        onDatagram(datagrams.count)
    }

    mutating func rejected(_ reason: Rejection, bytes: ByteView, source: Int, received: Instant) {
        touchPadding(bytes)
        rejects.append(Reject(reason: reason, bytes: bytes.array))
    }

    mutating func batchEnd() {
        batches += 1
    }

    /// Reads what the scanner may read; memory that is not there ends the test process.
    private func touchPadding(_ bytes: ByteView) {
        var sum: UInt8 = 0
        for place in 0..<ByteView.padding { sum &+= bytes[bytes.count + place] }
        withExtendedLifetime(sum) {}
    }
}
