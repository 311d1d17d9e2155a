import KymographCore
import Synchronization

/// The store of a pipeline with its thread and what delivers its bundles.
final class StoreStage: Sendable {
    let store: Store
    private let writer: StoreWriter
    private let deliveries: [OutputDelivery]
    private let outboxes: [StoredOutbox]
    private let runningDeliveries: LaneCount
    private let replayed = Mutex(StoreReplay.Outcome())
    private let control: PipelineControl

    /// The name of the one sink of `output.to`.
    static let outputName = "output"

    init(
        _ store: Store, output: OutputStage, mappings: MappingExchange, control: PipelineControl
    ) throws(StoreError) {
        self.store = store
        self.control = control
        store.watch.begin(note: control.note) { control.fail($0.message, exitCode: ExitStatus.ioError) }
        let outbox = try StoredOutbox(store, sink: StoreStage.outputName)
        outboxes = [outbox]
        writer = StoreWriter(store, mappings: mappings, control: control) { [outboxes] _ in
            for outbox in outboxes { outbox.wake() }
        }
        deliveries = [OutputDelivery(outbox, output: output, control: control)]
        runningDeliveries = LaneCount(1)
        store.begin(sinks: [StoreStage.outputName])
    }

    /// Starts the threads.
    func start() {
        WorkerThread.start("kymo-store") { [writer] in writer.run() }
        for delivery in deliveries {
            WorkerThread.start("kymo-output") { [self] in
                delivery.run()
                runningDeliveries.leave()
                control.noteChange()
            }
        }
    }

    /// Notes what a shard took from the journal of an earlier run.
    func note(_ outcome: StoreReplay.Outcome) {
        let total = replayed.withLock { total in
            total.readings += outcome.readings
            total.damagedBlocks += outcome.damagedBlocks
            total.rejected += outcome.rejected
            total.unknown += outcome.unknown
            return total
        }
        if outcome.readings > 0 { control.note("took \(total.readings) readings of an earlier run from the journal") }
        if outcome.rejected > 0 { control.note("\(outcome.rejected) of them were rejected: see the dead letters") }
        if outcome.unknown > 0 {
            control.note("\(outcome.unknown) readings of the journal belong to series that are lost")
        }
        if outcome.damagedBlocks > 0 {
            control.note("\(outcome.damagedBlocks) blocks of the journal are damaged and were put into quarantine")
        }
    }

    /// Makes everything durable and delivers it; returns when that is done, or the pipeline is ended by force.
    func finish() {
        store.queue.close()
        while !writer.hasEnded, !control.isForced { Wait.milliseconds(1) }
        for delivery in deliveries { delivery.finish() }
        while !runningDeliveries.isZero, !control.isForced { Wait.milliseconds(1) }
        if control.isForced { store.queue.force() }
    }

    /// Keeps the progress of sinks that came after the last commit, and closes the database.
    func close() {
        writer.commitRest()
        store.close()
    }
}
