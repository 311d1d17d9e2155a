public import KymographCore

/// How the bytes of one stream become payloads, and how its sender hears what is durable. One object per stream.
///
/// A lane calls it once for each chunk that it reads, always on the lane's own thread, and never for two streams at
/// once. What it hands on goes through ``StreamIntake``, which counts. A call that blocks holds up all sources of the
/// lane.
public protocol StreamProtocol: AnyObject {
    /// How the sender hears what is durable. Default: on request.
    var acknowledging: Acknowledging { get }

    /// The beginning of an unfinished payload, which is put before the next piece; at most the longest payload and
    /// ``StreamPiece/mostHead`` bytes, valid until the next call. Default: nothing.
    var kept: ByteView { get }

    /// Hands on the payloads that `piece` completes; false when nothing can be made of what follows, which ends the
    /// stream.
    func take(
        _ piece: StreamPiece, _ intake: inout StreamIntake, to consumer: inout some PayloadReceiver & ~Copyable
    ) -> Bool

    /// Notes that a file of an archive has ended, which is whole: more of the stream is another file. Default: ignored.
    func fileEnded(_ intake: inout StreamIntake, to consumer: inout some PayloadReceiver & ~Copyable)

    /// Hands on, or rejects, what is unfinished at the end; `rest` is what was ``kept``.
    func end(
        _ ending: StreamEnding, _ rest: ByteView, _ intake: inout StreamIntake,
        to consumer: inout some PayloadReceiver & ~Copyable)

    /// Whether the sender has taken too long: the stream is cut then. Called about four times a second with the time
    /// that has passed, in which the lane read what came. Default: never.
    func hasExpired(after passed: Duration) -> Bool

    /// What the sender is told in place of its replies when what it has sent is not durable for too long. The stream
    /// ends with it. Default: nothing.
    var overdueReply: [UInt8] { get }
}

extension StreamProtocol {
    /// On request.
    public var acknowledging: Acknowledging { .onRequest }
    /// Nothing.
    public var kept: ByteView { ByteView("") }
    /// Ignored.
    public func fileEnded(_ intake: inout StreamIntake, to consumer: inout some PayloadReceiver & ~Copyable) {}
    /// Never.
    public func hasExpired(after passed: Duration) -> Bool { false }
    /// Nothing.
    public var overdueReply: [UInt8] { [] }
}

/// How the sender of a stream hears what is durable.
public enum Acknowledging: Sendable {
    /// Not at all.
    case never
    /// By lines, once its first payload was `{"kymo":"ack"}`; see docs/durability.md.
    case onRequest
    /// By what the protocol gives to ``StreamIntake/reply(_:)``.
    case byProtocol
}

/// Bytes of a stream, with ``ByteView/padding`` readable bytes after them.
public struct StreamPiece {
    /// Most bytes that a protocol may keep besides the longest payload.
    public static let mostHead = 64

    /// What was kept of the former piece, and what is new.
    public var bytes: ByteView
    /// How many of them were kept.
    public var keptCount: Int

    /// Makes a piece.
    package init(_ bytes: ByteView, keptCount: Int = 0) {
        self.bytes = bytes
        self.keptCount = keptCount
    }
}

/// Why a stream ends.
public enum StreamEnding: Hashable, Sendable {
    /// Its sender has ended it: what is unfinished may be complete.
    case ended
    /// It was cut: what is unfinished is rejected for this reason.
    case cut(Rejection)
}
