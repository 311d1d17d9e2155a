import KymographCore
import Synchronization

/// The opened sinks of a pipeline. With an outbox, they come and go while it runs.
final class OutputStages: Sendable {
    /// A sink that was opened.
    struct Opened: Sendable {
        /// How entries come to it.
        enum Way: Sendable {
            /// Blocks are brought to it.
            case stage(OutputStage)
            /// It takes entries from the outbox by itself, once there is one.
            case taker(@Sendable (any OutboxQueue) throws(PipelineError) -> any SinkDelivery)
        }

        /// Its place (``SinkRouting``).
        var place: Int
        var name: String
        /// Where its entries go, whatever it is called.
        var destination: String
        var way: Way
        /// Whether it takes longer than shards should wait.
        var isSlow = false

        /// Whether it needs an outbox.
        var takesByItself: Bool {
            if case .taker = way { true } else { false }
        }
    }

    /// A sink that blocks are brought to.
    private struct Output: Sendable {
        var place: Int
        var name: String
        var stage: OutputStage
        /// What takes blocks off the shards, where the sink is slow and shards write themselves.
        var queue: OutputQueue?
    }

    private let ledger: PipelineLedger
    private let control: PipelineControl
    /// What was opened at the start.
    let opened: [Opened]
    private let outputs: Mutex<[Output]>

    /// Opens what `settings` names.
    ///
    /// - Throws: ``PipelineError`` when a sink cannot be used.
    init(
        _ settings: PipelineSettings, ledger: PipelineLedger, control: PipelineControl
    ) throws(PipelineError) {
        (self.ledger, self.control) = (ledger, control)
        var (opened, outputs): ([Opened], [Output]) = ([], [])
        for sink in settings.placedSinks.compactMap({ $0 }) {
            guard let found = try OutputStages.open(sink, settings, ledger, control) else { continue }
            opened.append(found)
            guard case .stage(let stage) = found.way else { continue }
            var output = Output(place: found.place, name: found.name, stage: stage)
            // With a store, the thread that delivers is no shard's.
            if found.isSlow, settings.store.keeping != .everything {
                output.queue = try OutputStages.queue(for: stage, control)
            }
            outputs.append(output)
        }
        self.opened = opened
        self.outputs = Mutex(outputs)
    }

    /// Opens `sink` as `settings` say; nil for one without a place to write to. Nothing comes to it yet.
    ///
    /// - Throws: ``PipelineError`` when it cannot be used.
    func open(_ sink: PipelineSettings.Sink, _ settings: PipelineSettings) throws(PipelineError) -> Opened? {
        try OutputStages.open(sink, settings, ledger, control)
    }

    private static func open(
        _ sink: PipelineSettings.Sink, _ settings: PipelineSettings, _ ledger: PipelineLedger,
        _ control: PipelineControl
    ) throws(PipelineError) -> Opened? {
        guard let address = sink.address, let place = sink.place else { return nil }
        let opened: OpenedSink
        do throws(SinkError) {
            opened = try address.open(settings.opening(of: sink, control))
        } catch {
            throw PipelineError(error)
        }
        let way: Opened.Way
        var isSlow = false
        switch opened {
        case .delivery(let open): way = .taker(open)
        case .writer(let writer, let takesLong):
            way = .stage(OutputStage(sink: writer, ledger: ledger, control: control))
            isSlow = takesLong
        }
        let destination = address.claim ?? "\(address.kind.key) \(address.text)"
        return Opened(place: place, name: sink.name, destination: destination, way: way, isSlow: isSlow)
    }

    private static func queue(for stage: OutputStage, _ control: PipelineControl) throws(PipelineError) -> OutputQueue {
        do throws(SystemError) {
            return try OutputQueue(stage: stage, control: control)
        } catch {
            throw PipelineError(error)
        }
    }

    private var present: [Output] { outputs.withLock { $0 } }

    /// Those that blocks are brought to.
    var stages: [OutputStage] { present.map(\.stage) }

    /// Starts the threads that compress.
    func start() {
        for output in present { output.queue?.start("kymo-output-\(output.place)") }
    }

    /// Writes the entries of a block, whose oldest was made at `since`, to those that get them.
    func write(_ block: ByteView, for route: BundleRoute, since: Instant) {
        for output in present where route.contains(output.place) {
            if let queue = output.queue {
                queue.write(block, since: since)
            } else {
                output.stage.deliver(block, since: since)
            }
        }
    }

    /// Gives what waits in the sinks to the system. `now`, on a clock that is never set, lets them rotate files.
    func tick(_ now: Instant) {
        for output in present {
            if let queue = output.queue { queue.tick(now) } else { output.stage.tick(now) }
        }
    }

    /// How it goes with each of them.
    var summaries: [PipelineSummary.Output] {
        present.map { output in
            PipelineSummary.Output(
                name: output.name, isUp: !output.stage.isRetrying, deliveryTimes: output.stage.deliveryTimes)
        }
    }

    /// Whether shards that write wait for a sink: its disk is full, or it compresses more slowly than they write.
    var isWaiting: Bool { present.contains { $0.stage.isRetrying || ($0.queue?.isFull ?? false) } }

    /// Ends files by `limits` from here on.
    func follow(_ limits: RotationLimits) {
        for output in present { output.stage.follow(limits) }
    }

    /// Tells of `sink`, to which its thread brings blocks, among the others.
    func add(_ sink: Opened) {
        guard case .stage(let stage) = sink.way else { return }
        outputs.withLock { $0.append(Output(place: sink.place, name: sink.name, stage: stage)) }
    }

    /// Tells no more of the sink at `place`, which its thread completes.
    func forget(_ place: Int) { outputs.withLock { $0.removeAll { $0.place == place } } }

    /// Completes the output.
    func close() {
        for output in present {
            output.queue?.finish()
            output.stage.close()
        }
    }
}

extension PipelineSettings {
    /// What `sink` is opened with; without `control`, only to look at.
    func opening(of sink: Sink, _ control: PipelineControl? = nil) -> SinkOpening {
        SinkOpening(
            name: sink.name, output: output, compatibility: compatibility, bundleEntries: bundleEntries,
            bundleBytes: bundleBytes, rotation: rotation, dictionary: dictionary,
            keepsReceipts: receipts != nil || receiptSocket != nil, note: { control?.note(.warning($0)) },
            isForced: { control?.isForced ?? false })
    }
}
