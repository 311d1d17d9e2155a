import KymographCore

/// Tells the sender of a stream what is durable, in one of two ways.
///
/// * On request: a client that wants this sends ``request`` as its first payload. From then on it gets lines
///   `{"ack":n}`: its first n payloads after the request, empty ones not counted, are on the disk, as readings or as
///   dead letters. What it sent after them it sends again when the connection breaks; readings that come twice are
///   counted as duplicates.
/// * By protocol: the stream's protocol gives a reply for what it has handed on, which leaves once that is durable.
struct Acknowledger {
    /// The line that asks for acknowledgements.
    static let request: StaticString = "{\"kymo\":\"ack\"}"

    private struct Pending {
        var lines: UInt64
        /// Replies of the protocol.
        var replies: ProtocolReplies
        var mark: DurableMark
    }

    /// Most places that are remembered at a time: beyond it the last one moves on, and acknowledgements get coarser.
    private static let mostPending = 64

    private var received: UInt64 = 0
    private var marked: UInt64 = 0
    private var pending: [Pending] = []
    /// Replies to what comes before no mark yet.
    private var unmarked = ProtocolReplies()
    /// Whether the protocol gives the replies, and payloads are not counted for them.
    private let isByProtocol: Bool
    /// Bytes that the client has not taken yet.
    private var unsent: [UInt8] = []
    /// Whether nothing more is to be read: the client wants what cannot be given.
    let isRefused: Bool

    /// Replies that the protocol gives.
    init() {
        isByProtocol = true
        isRefused = false
    }

    /// Why nothing can be acknowledged, in words for the client.
    enum Refusal: String {
        case keepsNothing = "this kymo keeps nothing on disk: start it with --data to have lines acknowledged"
        case drops = "this source drops readings (whenFull: dropNewest): let it block to have lines acknowledged"
    }

    /// Replies on request, or the one that there will be none.
    init(refusing refusal: Refusal?) {
        isByProtocol = false
        isRefused = refusal != nil
        if let refusal { unsent = Array("{\"error\":\"\(refusal.rawValue)\"}\n".utf8) }
    }

    /// Whether the client waits for something.
    var isWaiting: Bool { !pending.isEmpty || !unsent.isEmpty || !unmarked.isEmpty }

    /// Whether the client does not read what it was sent: it hears no more until it does.
    var isUnread: Bool { !unsent.isEmpty }

    /// Bytes of replies at which no more of the stream is read until the client has taken some.
    private static let mostReplyBytes = 65_536
    /// How long replies may wait for what they confirm to be durable.
    private static let longestWait = Duration.seconds(30)
    private var waited = Duration.zero
    /// Whether the client is told that nothing more comes, once it has heard all.
    var endsSending = false

    /// Whether no more of the stream is to be read.
    var isFull: Bool {
        isByProtocol
            && unsent.count + unmarked.count + pending.reduce(0) { $0 + $1.replies.count } >= Self.mostReplyBytes
    }

    /// Whether replies have waited for too long, now that `passed` more has gone by.
    mutating func isOverdue(after passed: Duration) -> Bool {
        // A client that takes its answers slowly waits for itself.
        guard isByProtocol, !pending.isEmpty, unsent.isEmpty else {
            waited = .zero
            return false
        }
        waited += passed
        return waited > Self.longestWait
    }

    /// Tells the client `reply` in place of those that wait: nothing is known of what it has sent.
    mutating func giveUp(_ reply: [UInt8]) {
        (pending, unmarked, waited) = ([], ProtocolReplies(), .zero)
        unsent += reply
    }

    /// Counts lines that were handed on.
    mutating func add(lines: UInt64) { received += lines }

    /// Adds a reply of the protocol to what was handed on.
    mutating func add(reply: [UInt8]) { unmarked.add(reply) }

    /// Adds a reply that says what `telling` does once it is durable, in place of the bytes in `place`.
    mutating func add(reply: [UInt8], telling: ReplyTelling, in place: Range<Int>) {
        unmarked.add(reply, telling: telling, in: place)
    }

    /// Adds bytes of the protocol that confirm nothing: they leave before all replies that wait.
    mutating func add(urgent bytes: [UInt8]) { unsent += bytes }

    /// Notes that everything handed on so far comes before `mark`; nil where nothing becomes durable, and replies of a
    /// protocol leave at once.
    mutating func note(_ mark: DurableMark?) {
        guard let mark else {
            unsent += unmarked.bytes
            unmarked = ProtocolReplies()
            return
        }
        guard received > marked || !unmarked.isEmpty else { return }
        marked = received
        if pending.count < Acknowledger.mostPending {
            pending.append(Pending(lines: received, replies: unmarked, mark: mark))
        } else {
            pending[pending.count - 1].lines = received
            pending[pending.count - 1].replies.add(unmarked)
            pending[pending.count - 1].mark = mark
        }
        unmarked = ProtocolReplies()
    }

    /// Looks what has become durable, and gives the bytes to send; nothing new as long as the former are unsent.
    mutating func answer(_ consumer: inout some PayloadConsumer & ~Copyable) -> [UInt8] {
        guard unsent.isEmpty else { return unsent }
        var count = 0
        while count < pending.count, consumer.isDurable(pending[count].mark) { count += 1 }
        guard count > 0 else { return [] }
        unsent =
            isByProtocol
            ? replies(count, &consumer) : Array("{\"ack\":\(pending[count - 1].lines)}\n".utf8)
        pending.removeFirst(count)
        waited = .zero
        return unsent
    }

    /// The first `count` replies that wait, whose readings are durable.
    private mutating func replies(_ count: Int, _ consumer: inout some PayloadConsumer & ~Copyable) -> [UInt8] {
        for index in 0..<count { pending[index].replies.fill(&consumer) }
        return pending[..<count].flatMap(\.replies.bytes)
    }

    /// Notes that the client has taken all that it is to hear; how many bytes.
    mutating func takeUnsent() -> Int {
        defer { unsent = [] }
        return unsent.count
    }

    /// Notes that the client has taken the first `count` bytes of the answer.
    mutating func sent(_ count: Int) { unsent.removeFirst(count) }
}
