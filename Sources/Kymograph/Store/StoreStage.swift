import KymographCore
import Synchronization

/// The store of a pipeline with its thread and what delivers its bundles.
final class StoreStage: Sendable {
    let store: Store
    private let writer: StoreWriter
    private let direct: DirectDelivery
    private let runningDeliveries = LaneCount(1)
    private let replayed = Mutex(StoreReplay.Outcome())
    private let control: PipelineControl

    init(
        _ store: Store, output: OutputStage, mappings: MappingExchange, control: PipelineControl
    ) throws(StoreError) {
        self.store = store
        self.control = control
        writer = StoreWriter(store, mappings: mappings, control: control) { _ in }
        do throws(SourceError) {
            direct = try DirectDelivery(output: output, control: control) { [queue = store.queue] unit in
                queue.submit(unit)
            }
        } catch {
            throw StoreError(.unusable, error.message)
        }
        store.begin(direct: direct)
        store.noteRunBegan(WallClock.now())
    }

    /// Starts the threads.
    func start() {
        WorkerThread.start("kymo-store") { [writer] in writer.run() }
        WorkerThread.start("kymo-output") { [self] in
            direct.run()
            runningDeliveries.leave()
            control.noteChange()
        }
    }

    /// Notes what a shard took from the journal of an earlier run.
    func note(_ outcome: StoreReplay.Outcome) {
        let total = replayed.withLock { total in
            total.readings += outcome.readings
            total.damagedBlocks += outcome.damagedBlocks
            return total
        }
        if outcome.readings > 0 { control.note("took \(total.readings) readings of an earlier run from the journal") }
        if outcome.damagedBlocks > 0 {
            control.note("\(outcome.damagedBlocks) blocks of the journal are damaged and were put into quarantine")
        }
    }

    /// Makes everything durable and delivers it; returns when that is done, or the pipeline is ended by force.
    func finish() {
        direct.finish()
        while !runningDeliveries.isZero, !control.isForced { Wait.milliseconds(1) }
        store.queue.close()
        while !writer.hasEnded, !control.isForced { Wait.milliseconds(1) }
        if control.isForced { store.queue.force() }
    }

    /// Keeps the progress of sinks that came after the last commit, and closes the database.
    func close() {
        writer.commitRest()
        // A run that was cut short may have lost what was on its way, and the ledger must say so.
        if !control.isForced { store.noteRunEnded(WallClock.now()) }
        store.close()
    }
}
