import Glibc
import KymographCore

/// Which streams have clients that wait to hear that their lines are durable. Of the lane's thread.
final class PendingReplies {
    /// Streams whose clients wait to hear that their lines are durable.
    private(set) var slots: Set<Int> = []
    /// Whether one of them may hear something soon, and not only when it reads.
    private(set) var areDueSoon = false

    /// Notes that a client may hear something soon.
    func noteDue() { areDueSoon = true }

    /// Notes that all that can be told now is being told.
    func beginTelling() { areDueSoon = false }

    /// Has the client of stream `slot` hear what waits for it.
    func add(_ slot: Int) {
        slots.insert(slot)
        areDueSoon = true
    }

    /// Notes that the client of stream `slot` waits no more.
    func remove(_ slot: Int) { slots.remove(slot) }

    /// Forgets all of them.
    func removeAll() { slots.removeAll() }

    /// Notes what stream `slot` has handed on, if its client wants to hear of it.
    func note(
        _ slot: Int, _ stream: Stream, _ consumer: inout some PayloadConsumer & ~Copyable
    ) {
        guard stream.progress.acknowledger != nil else { return }
        stream.progress.acknowledger?.note(consumer.mark())
        add(slot)
    }

    /// Pauses `stream` if too many replies wait; whether it is paused.
    func isPausing(_ stream: Stream) -> Bool {
        guard isFull(stream) else { return false }
        stream.isPaused = true
        return true
    }

    /// Whether too many replies wait for more of `stream` to be read.
    private func isFull(_ stream: Stream) -> Bool { stream.progress.acknowledger?.isFull ?? false }

    /// Writes what `stream`'s client is to hear, as far as it takes it; false when it has gone.
    func answer(_ stream: Stream, _ consumer: inout some PayloadConsumer & ~Copyable) -> Bool {
        guard let bytes = stream.progress.acknowledger?.answer(&consumer), !bytes.isEmpty else { return true }
        let size = bytes.withByteView { stream.transport.send($0, to: stream.descriptor.raw) }
        if size > 0 { stream.progress.acknowledger?.sent(size) }
        // The kernel tells of a connection that has failed once.
        if size < 0, size != -Int(EAGAIN) { stream.fail(code: Int32(-size)) }
        return size > 0 || size == -Int(EAGAIN)
    }
}
