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

    /// Delivers until told to finish, or until the pipeline is ended by force.
    func run() {
        var delivered = outbox.settledThrough
        var settledAt = WallClock.now()
        while !control.isForced {
            let isLast = isFinishing.load(ordering: .acquiring)
            let rows = outbox.rows(
                after: delivered, bytes: OutputDelivery.batchBytes, milliseconds: isLast ? 0 : 100)
            guard deliver(rows) else { return }
            if let last = rows.last { delivered = last.number }
            let now = WallClock.now()
            output.tick(now)
            let isDue = rows.isEmpty || now.nanoseconds &- settledAt.nanoseconds >= OutputDelivery.settleInterval
            if isDue, delivered > outbox.settledThrough {
                guard output.synchronise() else { return }
                outbox.settle(through: delivered, receipts: [], undeliverable: [])
                settledAt = now
            }
            if isLast && rows.isEmpty { return }
        }
    }

    private func deliver(_ rows: [OutboxRow]) -> Bool {
        for row in rows {
            CrashPoint.beforeSend.pass()
            switch row.body.withByteView({ output.write($0) }) {
            case .written: CrashPoint.afterSend.pass()
            case .notTaken: return false
            case .unreadable: outbox.putAside(row.number)
            }
        }
        return true
    }
}
