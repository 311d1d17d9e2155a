import KymographCore

/// Tells a client of a Unix stream socket how many of its lines are durable.
///
/// A client that wants this sends ``request`` as its first line. From then on it gets lines `{"ack":n}`: its first n
/// lines after the request, empty ones not counted, are on the disk, as readings or as dead letters. What it sent after
/// them it sends again when the connection breaks; readings that come twice are counted as duplicates.
struct Acknowledger {
    /// The line that asks for acknowledgements.
    static let request: StaticString = "{\"kymo\":\"ack\"}"

    private struct Pending {
        var lines: UInt64
        var mark: DurableMark
    }

    /// Most places that are remembered at a time: beyond it the last one moves on, and acknowledgements get coarser.
    private static let mostPending = 64

    private var received: UInt64 = 0
    private var marked: UInt64 = 0
    private var pending: [Pending] = []
    private var acknowledged: UInt64 = 0
    /// Bytes that the client has not taken yet.
    private var unsent: [UInt8] = []
    /// Whether nothing more is to be read: the client wants what cannot be given.
    let isRefused: Bool

    /// `canKeep` is false when nothing becomes durable, which the client is told.
    init(canKeep: Bool) {
        isRefused = !canKeep
        if isRefused {
            unsent = Array(
                "{\"error\":\"this kymo keeps nothing on disk: start it with --data to have lines acknowledged\"}\n"
                    .utf8)
        }
    }

    /// Whether the client waits for something.
    var isWaiting: Bool { !pending.isEmpty || !unsent.isEmpty }

    /// Whether the client does not read what it was sent: it hears no more until it does.
    var isUnread: Bool { !unsent.isEmpty }

    /// Counts lines that were handed on.
    mutating func add(lines: UInt64) { received += lines }

    /// Notes that everything handed on so far comes before `mark`.
    mutating func note(_ mark: DurableMark) {
        guard received > marked else { return }
        marked = received
        let latest = Pending(lines: received, mark: mark)
        if pending.count < Acknowledger.mostPending {
            pending.append(latest)
        } else {
            pending[pending.count - 1] = latest
        }
    }

    /// Looks what has become durable, and gives the bytes to send; nothing new as long as the former are unsent.
    mutating func answer(_ consumer: inout some PayloadConsumer & ~Copyable) -> [UInt8] {
        guard unsent.isEmpty else { return unsent }
        var count = 0
        while count < pending.count, consumer.isDurable(pending[count].mark) { count += 1 }
        guard count > 0 else { return [] }
        acknowledged = pending[count - 1].lines
        pending.removeFirst(count)
        unsent = Array("{\"ack\":\(acknowledged)}\n".utf8)
        return unsent
    }

    /// Notes that the client has taken the first `count` bytes of the answer.
    mutating func sent(_ count: Int) { unsent.removeFirst(count) }
}
