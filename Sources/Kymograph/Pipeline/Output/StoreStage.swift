import KymographCore
import Synchronization

/// The store of a pipeline with its thread and what delivers its bundles.
final class StoreStage: Sendable {
    let store: Store
    private let writer: StoreWriter
    private let delivery: StoreDelivery
    private let receipts: ReceiptFiles?
    private let receiptSocket: ReceiptSocket?
    private let replayed = Mutex(StoreReplay.Outcome())
    private let control: PipelineControl

    init(
        _ store: Store, settings: PipelineSettings, rotation: @escaping @Sendable () -> RotationOptions,
        outputs: OutputStages,
        mappings: MappingExchange, control: PipelineControl, settled: @escaping @Sendable ([Settlement]) -> Void
    ) throws(PipelineError) {
        self.store = store
        self.control = control
        store.watch.begin(note: control.note) { control.fail($0.message, exitCode: ExitStatus.ioError) }
        let receipts = try settings.receipts.map { (path) throws(PipelineError) in
            try ReceiptFiles(store, directory: path, rotation: rotation, control: control)
        }
        self.receipts = receipts
        let receiptSocket = try settings.receiptSocket.map { (path) throws(PipelineError) in
            try ReceiptSocket(store, path: path, control: control)
        }
        self.receiptSocket = receiptSocket
        let delivery = try StoreDelivery(store, settings, outputs: outputs, control: control)
        self.delivery = delivery
        writer = StoreWriter(
            store, mappings: mappings, control: control, settled: settled,
            committed: {
                delivery.wake()
                receipts?.wake()
                receiptSocket?.wake()
            })
        store.noteRunBegan(WallClock.now())
    }

    /// How delivery goes to each sink that takes entries by itself, by the sink's name.
    var deliverySummaries: [(sink: String, summary: DeliverySummary)] { delivery.summaries }

    /// The ways of sinks that can come and go; nil where the only one gets everything directly.
    var ways: SinkWays? { delivery.ways }

    /// Has every FHIR server asked anew for Devices, Patients and Encounters; how many servers there are.
    @discardableResult func forgetLookups() -> Int { delivery.forgetLookups() }

    /// What the store's thread has done up to now.
    var progress: ThreadProgress {
        ThreadProgress(name: "store", rounds: writer.pulse.count, isWaitingForRoom: false)
    }

    /// Starts the threads.
    func start() {
        WorkerThread.start("kymo-store") { [writer] in writer.run() }
        delivery.start()
        receipts?.start()
        receiptSocket?.start()
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
        if outcome.readings > 0 {
            control.note(.info("took \(CountText.of(total.readings, "reading")) of an earlier run from the journal"))
        }
        if outcome.rejected > 0 {
            control.note(.warning("\(outcome.rejected) of them were rejected: see the dead letters"))
        }
        if outcome.unknown > 0 {
            let readings = CountText.of(outcome.unknown, "reading")
            let belong = outcome.unknown == 1 ? "belongs" : "belong"
            control.note(.error("\(readings) of the journal \(belong) to series that are lost"))
        }
        if outcome.damagedBlocks > 0 {
            let blocks = CountText.of(outcome.damagedBlocks, "block")
            let damaged = outcome.damagedBlocks == 1 ? "is damaged and was put" : "are damaged and were put"
            control.note(.error("\(blocks) of the journal \(damaged) into quarantine"))
        }
    }

    /// Makes everything durable and delivers it; returns when that is done, when a server cannot be delivered to now,
    /// or when the pipeline is ended by force.
    func finish() {
        delivery.finishDirect()
        store.queue.close()
        while !writer.hasEnded, !control.isForced { Wait.milliseconds(1) }
        delivery.finish()
        if control.isForced { store.queue.force() }
    }

    /// Keeps the progress of sinks that came after the last commit, and closes the database.
    func close() {
        writer.commitRest()
        receipts?.finish()
        receiptSocket?.finish()
        store.dropTakenReceipts()
        store.tellDroppedReceipts()
        // A run that was cut short may have lost what was on its way, and the ledger must say so.
        if !control.isForced { store.noteRunEnded(WallClock.now()) }
        store.close()
        release()
    }

    /// Lets whoever comes next have the directory, who may be in this process. The thread that writes has ended, or
    /// does so soon after an end by force; if the system holds it, the directory stays locked.
    private func release() {
        var left = 200
        while !writer.hasEnded, left > 0 {
            Wait.milliseconds(1)
            left -= 1
        }
        if writer.hasEnded { store.directory.unlock() }
    }
}
