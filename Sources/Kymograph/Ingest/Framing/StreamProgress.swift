import KymographCore

/// What the payloads of one stream depend on beside its bytes: whether any came before, and what its sender is told.
final class StreamProgress {
    /// The source's number for the consumer.
    let number: Int
    /// Most bytes of a payload.
    let lineCap: Int
    /// How its sender hears what is durable.
    let acknowledging: Acknowledging
    /// Whether readings may be dropped, so that none can be acknowledged.
    let drops: Bool
    /// What its sender is told, once there is something to tell.
    var acknowledger: Acknowledger?
    /// Who sends; nil where there is no list of peers.
    let access: StreamAccess?
    /// Whether nothing has come yet: the first payload may ask for acknowledgements, or be the rest of one that began
    /// before the line was opened.
    var isFresh: Bool
    /// Whether payloads may begin before the stream is opened, and end after it has gone, and nothing else tells.
    let hasOpenEnds: Bool

    /// Of a stream of source `number` that nothing has come from; `isFresh` unless its first payload is one like all.
    init(
        number: Int, lineCap: Int, acknowledging: Acknowledging, isFresh: Bool, hasOpenEnds: Bool, drops: Bool = false,
        access: StreamAccess? = nil
    ) {
        self.access = access
        self.drops = drops
        (self.number, self.lineCap, self.acknowledging) = (number, lineCap, acknowledging)
        (self.isFresh, self.hasOpenEnds) = (isFresh, hasOpenEnds)
    }

    /// Whether `payload`, the first or the unfinished last one, may be a part of what was sent. A part of a JSON
    /// document is none, but one of a packet can be another packet.
    func mayBePart(_ payload: ByteView) -> Bool {
        guard hasOpenEnds else { return false }
        var start = payload.startBehindByteOrderMark
        while start < payload.count, payload[start] <= 0x20 { start += 1 }
        return start == payload.count || payload[start] != UInt8(ascii: "{") && payload[start] != UInt8(ascii: "[")
    }

    /// Tells the sender `reply` once everything handed on so far is durable.
    func expectReply(_ reply: [UInt8]) {
        if acknowledger == nil { acknowledger = Acknowledger() }
        acknowledger?.add(reply: reply)
    }

    /// Tells the sender `reply` once everything handed on so far is durable, with what `telling` says then in
    /// place of its bytes in `place`.
    func expectReply(_ reply: [UInt8], telling: ReplyTelling, in place: Range<Int>) {
        if acknowledger == nil { acknowledger = Acknowledger() }
        acknowledger?.add(reply: reply, telling: telling, in: place)
    }

    /// Tells the sender `bytes` at once.
    func send(_ bytes: [UInt8]) {
        if acknowledger == nil { acknowledger = Acknowledger() }
        acknowledger?.add(urgent: bytes)
    }
}
