import KymographCore

/// Where readings go: to sinks, and before them to the store.
struct PipelineOutput: Sendable {
    let stages: OutputStages
    /// What makes readings durable; nil when nothing is.
    let stage: StoreStage?
    private let dropNotes: KernelDropNotes?

    /// What `stages` give to sinks, and `stage` to the store.
    init(_ stages: OutputStages, _ stage: StoreStage?) {
        (self.stages, self.stage) = (stages, stage)
        dropNotes = stage.map { KernelDropNotes($0.store) }
    }

    /// The store; nil when nothing is durable.
    var store: Store? { stage?.store }

    /// What sinks have settled that take from the store at their own pace.
    var deliverySummaries: [(sink: String, summary: DeliverySummary)] { stage?.deliverySummaries ?? [] }

    /// Begins to give them what comes.
    func start() {
        stage?.start()
        stages.start()
    }

    /// Whether shard `index` waits for room.
    func isWaitedFor(by shard: Int) -> Bool { store?.isWaitedFor(by: shard) ?? stages.isWaiting }

    /// Tells the ledger what the kernel has dropped at `sockets`.
    func noteKernelDrops(_ sockets: @autoclosure () -> [KernelDropNotes.Socket]) {
        dropNotes?.note(sockets(), at: WallClock.now())
    }
}
