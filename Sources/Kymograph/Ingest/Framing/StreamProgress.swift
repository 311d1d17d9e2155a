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
    /// Whether it may end within a payload: where clients connect, the kernel ends the connection of a program that was
    /// killed as that of one that has finished.
    let mayEndWithin: Bool

    /// Of a stream of source `number` that nothing has come from; `isFresh` unless its first payload is one like all.
    init(
        number: Int, lineCap: Int, acknowledging: Acknowledging, isFresh: Bool, hasOpenEnds: Bool,
        mayEndWithin: Bool = false, drops: Bool = false, access: StreamAccess? = nil
    ) {
        self.access = access
        self.drops = drops
        (self.number, self.lineCap, self.acknowledging) = (number, lineCap, acknowledging)
        (self.isFresh, self.hasOpenEnds) = (isFresh, hasOpenEnds)
        self.mayEndWithin = mayEndWithin || hasOpenEnds
    }

    /// Whether `payload`, the first one, may be the rest of one.
    func mayBeRest(_ payload: ByteView) -> Bool { hasOpenEnds && !StreamProgress.isDocument(payload) }

    /// Whether `payload`, the unfinished last one, may be the beginning of one.
    func mayBeBeginning(_ payload: ByteView) -> Bool { mayEndWithin && !StreamProgress.isDocument(payload) }

    /// Whether `payload` begins as a JSON document: a part of one is none, but a part of a packet can be another
    /// packet.
    private static func isDocument(_ payload: ByteView) -> Bool {
        var start = payload.startBehindByteOrderMark
        while start < payload.count, payload[start] <= 0x20 { start += 1 }
        return start < payload.count && [UInt8(ascii: "{"), UInt8(ascii: "[")].contains(payload[start])
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
