@testable import Kymograph
import KymographCore
import Synchronization

/// Keeps payloads, with whom their topics name, and says that they are durable when the test does.
struct GatedConsumer: PayloadConsumer {
    /// What test and lane share.
    final class Log: Sendable {
        private let texts = Mutex<[String]>([])
        private let durable = Atomic(0)

        /// Payloads, as `text` or `text of device|patient`; rejections, as `reason: text`.
        var all: [String] { texts.withLock { $0 } }

        /// Says that the first `count` are durable.
        func makeDurable(_ count: Int) { durable.store(count, ordering: .releasing) }

        fileprivate func add(_ text: String) { texts.withLock { $0.append(text) } }
        fileprivate var count: Int { texts.withLock { $0.count } }
        fileprivate var durableCount: Int { durable.load(ordering: .acquiring) }
    }

    let log: Log
    let notes: NoteList

    mutating func line(_ bytes: ByteView, source: Int, received: Instant) { log.add(bytes.string) }

    mutating func datagram(_ bytes: ByteView, source: Int, received: Instant) { log.add(bytes.string) }

    mutating func datagram(
        _ bytes: ByteView, device: ByteView?, patient: ByteView?, source: Int, received: Instant
    ) {
        log.add("\(bytes.string) of \(device?.string ?? "-")|\(patient?.string ?? "-")")
    }

    mutating func rejected(_ reason: Rejection, bytes: ByteView, source: Int, received: Instant) {
        log.add("\(reason): \(bytes.string.prefix(60))")
    }

    mutating func noted(_ text: String) { notes.add(text) }

    mutating func connection(of name: String, _ change: ConnectionChange, _ text: String) { notes.add(text) }

    mutating func mark() -> DurableMark? { DurableMark(positions: [], changes: log.count) }

    mutating func isDurable(_ mark: DurableMark) -> Bool { mark.changes <= log.durableCount }

    mutating func batchEnd() {}
}
