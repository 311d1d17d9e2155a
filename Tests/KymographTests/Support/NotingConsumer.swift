import Kymograph
import KymographCore

/// Keeps lines, who sent them, what was given up, and what the operator is told.
struct NotingConsumer: PayloadConsumer {
    struct Reject: Equatable, Sendable {
        var reason: Rejection
        var text: String
        var peer: Peer?
    }

    var lines: [String] = []
    var peers: [Peer?] = []
    var rejects: [Reject] = []
    let notes: NoteList
    /// Called for every line with the number of lines so far.
    var onLine: @Sendable (Int) -> Void = { _ in }
    /// Called for what is given up.
    var onReject: @Sendable () -> Void = {}
    private var peer: Peer?

    init(notes: NoteList = NoteList()) { self.notes = notes }

    mutating func sender(_ peer: Peer?) { self.peer = peer }

    mutating func line(_ bytes: ByteView, source: Int, received: Instant) { take(bytes) }

    mutating func datagram(_ bytes: ByteView, source: Int, received: Instant) { take(bytes) }

    mutating func rejected(_ reason: Rejection, bytes: ByteView, source: Int, received: Instant) {
        rejects.append(Reject(reason: reason, text: bytes.string, peer: peer))
        onReject()
    }

    mutating func noted(_ text: String) { notes.add(text) }

    mutating func connection(of name: String, _ change: ConnectionChange, _ text: String) { notes.add(text) }

    mutating func batchEnd() {}

    private mutating func take(_ bytes: ByteView) {
        lines.append(bytes.string)
        peers.append(peer)
        onLine(lines.count)
    }
}
