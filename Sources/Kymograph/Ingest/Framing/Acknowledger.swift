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
        var replies: [UInt8]
        var mark: DurableMark
    }

    /// Most places that are remembered at a time: beyond it the last one moves on, and acknowledgements get coarser.
    private static let mostPending = 64

    private var received: UInt64 = 0
    private var marked: UInt64 = 0
    private var pending: [Pending] = []
    /// Replies to what comes before no mark yet.
    private var unmarked: [UInt8] = []
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

    /// Replies on request. `canKeep` is false when nothing becomes durable, which the client is told.
    init(canKeep: Bool) {
        isByProtocol = false
        isRefused = !canKeep
        if isRefused {
            unsent = Array(
                "{\"error\":\"this kymo keeps nothing on disk: start it with --data to have lines acknowledged\"}\n"
                    .utf8)
        }
    }

    /// Whether the client waits for something.
    var isWaiting: Bool { !pending.isEmpty || !unsent.isEmpty || !unmarked.isEmpty }

    /// Whether the client does not read what it was sent: it hears no more until it does.
    var isUnread: Bool { !unsent.isEmpty }

    /// Counts lines that were handed on.
    mutating func add(lines: UInt64) { received += lines }

    /// Adds a reply of the protocol to what was handed on.
    mutating func add(reply: [UInt8]) { unmarked += reply }

    /// Notes that everything handed on so far comes before `mark`; nil where nothing becomes durable, and replies of a
    /// protocol leave at once.
    mutating func note(_ mark: DurableMark?) {
        guard let mark else {
            unsent += unmarked
            unmarked = []
            return
        }
        guard received > marked || !unmarked.isEmpty else { return }
        marked = received
        if pending.count < Acknowledger.mostPending {
            pending.append(Pending(lines: received, replies: unmarked, mark: mark))
        } else {
            pending[pending.count - 1].lines = received
            pending[pending.count - 1].replies += unmarked
            pending[pending.count - 1].mark = mark
        }
        unmarked = []
    }

    /// Looks what has become durable, and gives the bytes to send; nothing new as long as the former are unsent.
    mutating func answer(_ consumer: inout some PayloadConsumer & ~Copyable) -> [UInt8] {
        guard unsent.isEmpty else { return unsent }
        var count = 0
        while count < pending.count, consumer.isDurable(pending[count].mark) { count += 1 }
        guard count > 0 else { return [] }
        unsent =
            isByProtocol
            ? pending[..<count].flatMap(\.replies) : Array("{\"ack\":\(pending[count - 1].lines)}\n".utf8)
        pending.removeFirst(count)
        return unsent
    }

    /// Notes that the client has taken the first `count` bytes of the answer.
    mutating func sent(_ count: Int) { unsent.removeFirst(count) }
}
