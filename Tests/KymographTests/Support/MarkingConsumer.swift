@testable import Kymograph
import KymographCore

/// Keeps lines, and calls them durable as a test wants it.
struct MarkingConsumer: PayloadConsumer {
    var lines: [String] = []
    /// Changes up to which everything is durable.
    var durableChanges: Int
    /// How often somebody asked whether a mark is durable.
    var questions = 0
    var onBegin: @Sendable () -> Void = {}
    var onLine: @Sendable () -> Void = {}
    var onReject: @Sendable () -> Void = {}

    init(isDurable: Bool) { durableChanges = isDurable ? .max : -1 }

    mutating func batchBegin() { onBegin() }

    mutating func line(_ bytes: ByteView, source: Int, received: Instant) {
        lines.append(bytes.string)
        onLine()
    }

    mutating func datagram(_ bytes: ByteView, source: Int, received: Instant) { lines.append(bytes.string) }

    mutating func rejected(_ reason: Rejection, bytes: ByteView, source: Int, received: Instant) { onReject() }

    mutating func mark() -> DurableMark? { DurableMark(positions: [], changes: lines.count) }

    mutating func isDurable(_ mark: DurableMark) -> Bool {
        questions += 1
        return mark.changes <= durableChanges
    }

    mutating func batchEnd() {}
}
