/// Cuts one byte stream into frames, whatever the pieces it comes in.
///
/// A frame within one piece is handed on where it lies; only what is unfinished at the end of a piece is copied. Memory
/// is bounded by the cap: a length is looked at before anything is kept for it. Nothing is allocated per frame once the
/// largest one has been seen.
///
/// ```swift
/// var position = 0
/// while let event = decoder.next(piece, from: &position) { … }
/// ```
package struct FrameDecoder: ~Copyable {
    /// How the stream is cut.
    package let framing: Framing
    /// Longest payload in bytes.
    package let cap: Int
    let longestRaw: Int
    let checksum: FrameChecksum
    /// The frame that is not complete, as received; while skipping, nothing.
    var unfinished = ByteWriter(capacity: 64)
    /// Payloads that are not in the stream as they are.
    var unstuffed = ByteWriter(capacity: 64)
    /// Whether ``unfinished`` was handed on, and is to be forgotten by the next call.
    var isSpent = false
    /// Whether everything up to the next border is of a frame that was rejected.
    var isSkipping = false
    /// The last bytes of what was skipped, the latest lowest: a border may lie across two pieces.
    var skipped: UInt64 = 0

    /// Makes a decoder for payloads of at most `cap` bytes.
    package init(_ framing: Framing, cap: Int) {
        self.framing = framing
        self.cap = cap
        longestRaw = framing.longestRaw(cap: cap)
        checksum = FrameChecksum(framing.check)
    }

    /// The next event in `piece`, which must be padded; nil when all of it has been used. `position` begins at 0.
    package mutating func next(_ piece: ByteView, from position: inout Int) -> FrameEvent? {
        forgetSpent()
        return switch framing.borders {
        case .delimiter(let bytes):
            nextDelimited(piece, from: &position, delimiter: FrameDecoder.word(bytes), width: bytes.count)
        case .slip: nextDelimited(piece, from: &position, delimiter: UInt64(SLIP.end), width: 1)
        case .cobs: nextDelimited(piece, from: &position, delimiter: 0, width: 1)
        case .length, .fixed: nextCounted(piece, from: &position)
        }
    }

    /// What the end of the stream makes of the unfinished frame: the last delimited payload is complete without its
    /// border, everything else is ``Rejection/frameIncomplete``.
    package mutating func finish() -> FrameEvent? {
        forgetSpent()
        guard unfinished.count > 0 else { return nil }
        isSpent = true
        switch framing.borders {
        case .delimiter: return payload(padded())
        case .slip, .cobs, .length, .fixed: return .rejected(.frameIncomplete, beginning(padded()))
        }
    }

    /// Gives up the unfinished frame, because nobody will read its rest; nil when there is none.
    package mutating func abandon() -> ByteView? {
        forgetSpent()
        isSkipping = false
        guard unfinished.count > 0 else { return nil }
        isSpent = true
        return beginning(padded())
    }

    /// The bytes of a delimiter as one number, the last one lowest.
    private static func word(_ bytes: [UInt8]) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

    /// Forgets what has been handed on.
    mutating func forgetSpent() {
        guard isSpent else { return }
        unfinished.removeAll()
        isSpent = false
    }

    /// The unfinished frame with padding.
    mutating func padded() -> ByteView {
        unfinished.reserve(ByteView.padding)
        return unfinished.view
    }

    /// What a rejection shows of `bytes`.
    func beginning(_ bytes: ByteView) -> ByteView { bytes[0..<min(bytes.count, cap)] }
}

/// What ``FrameDecoder`` found. Views are valid until its next call.
package enum FrameEvent {
    /// A payload, empty only if the framing keeps those, with ``ByteView/padding`` readable bytes after it.
    case frame(ByteView)
    /// Bytes that are no payload, the first of them up to the cap; what follows is read.
    case rejected(Rejection, ByteView)
    /// Bytes after which no border can be found any more: the stream is of no use.
    case broken(Rejection, ByteView)
}
