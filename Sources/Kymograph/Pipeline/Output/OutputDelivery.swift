import KymographCore
import Synchronization

/// Brings entries from the outbox to standard output or to files, in order.
///
/// What a sink has taken is noted only when it is in the file for good; after a crash, the rest comes again.
final class OutputDelivery: Sendable {
    private let outbox: StoredOutbox
    private let output: OutputStage
    private let control: PipelineControl
    private let isFinishing = Atomic(false)
    private let isEnded = Atomic(false)
    private let isLeaving = Atomic(false)

    /// Bytes taken from the outbox at a time, and nanoseconds between two notes of progress.
    private static let batchBytes = 4 << 20
    private static let settleInterval: Int64 = 250_000_000

    init(_ outbox: StoredOutbox, output: OutputStage, control: PipelineControl) {
        self.outbox = outbox
        self.output = output
        self.control = control
    }

    /// ``run()`` returns when the outbox is empty.
    func finish() {
        isFinishing.store(true, ordering: .releasing)
        outbox.wake()
    }

    /// Has ``run()`` complete the output when it returns: the sink is to go, while others go on.
    func leave() { isLeaving.store(true, ordering: .releasing) }

    /// ``run()`` returns, whatever the outbox has.
    func end() {
        isEnded.store(true, ordering: .releasing)
        outbox.wake()
    }

    /// Delivers until told to finish or end, or until the pipeline is ended by force; what was delivered by then is
    /// noted.
    func run() {
        deliver()
        if isLeaving.load(ordering: .acquiring) { output.close() }
    }

    private func deliver() {
        var delivered = outbox.settledThrough
        var written = WrittenBlocks()
        var settledAt = MonotonicClock.instant
        while !control.isForced, !isEnded.load(ordering: .acquiring) {
            let isLast = isFinishing.load(ordering: .acquiring)
            let rows = outbox.rows(
                after: delivered, bytes: OutputDelivery.batchBytes, milliseconds: isLast ? 0 : 100)
            for row in rows {
                guard deliver(row, &written) else { return _ = settle(through: delivered, &written) }
                delivered = row.number
                guard settle(through: delivered, &written, ifDue: &settledAt) else { return }
            }
            output.tick(MonotonicClock.instant)
            if rows.isEmpty {
                guard settle(through: delivered, &written) else { return }
                if isLast { return }
            }
        }
        _ = settle(through: delivered, &written)
    }

    /// False when the sink has not taken it.
    private func deliver(_ row: OutboxRow, _ written: inout WrittenBlocks) -> Bool {
        CrashPoint.beforeSend.pass()
        switch row.body.withByteView({ output.write($0) }) {
        case .written:
            written.note(row.body, since: row.since)
            CrashPoint.afterSend.pass()
        case .notTaken: return false
        case .unreadable: outbox.putAside(row.number)
        }
        return true
    }

    /// Notes progress, unless that was done a moment before.
    private func settle(through number: Int64, _ written: inout WrittenBlocks, ifDue last: inout Instant) -> Bool {
        let now = MonotonicClock.instant
        guard now.nanoseconds &- last.nanoseconds >= OutputDelivery.settleInterval else { return true }
        last = now
        return settle(through: number, &written)
    }

    /// Notes progress; false when what was written cannot be made durable.
    private func settle(through number: Int64, _ written: inout WrittenBlocks) -> Bool {
        guard number > outbox.settledThrough else { return true }
        guard output.synchronise() else { return false }
        let (since, types) = written.take()
        outbox.note(taken: types)
        outbox.settle(through: number, receipts: [], undeliverable: [])
        output.noteDelivered(since)
        return true
    }
}
