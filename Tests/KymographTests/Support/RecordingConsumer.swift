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
