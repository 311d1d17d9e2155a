import KymographCore

/// The opened sinks of a pipeline, by their place among all sinks.
struct OutputStages: Sendable {
    /// A sink that shards may write to.
    struct Output: Sendable {
        /// Its place among all sinks.
        var sink: Int
        var name: String
        var stage: OutputStage
        /// What takes blocks off the shards, where the sink is slow and shards write themselves.
        var queue: OutputQueue?
    }

    /// A sink that takes entries from the outbox by itself, once there is one.
    struct Taker: Sendable {
        /// Its place among all sinks.
        var sink: Int
        var open: @Sendable (any OutboxQueue) throws(PipelineError) -> any SinkDelivery
    }

    private let outputs: [Output]
    let takers: [Taker]

    /// Place and way out of each.
    var stages: [(sink: Int, stage: OutputStage)] { outputs.map { ($0.sink, $0.stage) } }

    /// Opens what `settings` names.
    static func open(
        _ settings: PipelineSettings, ledger: PipelineLedger, control: PipelineControl
    ) throws(PipelineError) -> OutputStages {
        var (outputs, takers): ([Output], [Taker]) = ([], [])
        for (number, sink) in settings.outgoingSinks.enumerated() {
            guard let address = sink.address else { continue }
            let opened: OpenedSink
            do throws(SinkError) {
                opened = try address.open(settings.opening(of: sink, control))
            } catch {
                throw PipelineError(error)
            }
            switch opened {
            case .delivery(let open): takers.append(Taker(sink: number, open: open))
            case .writer(let writer, let isSlow):
                let stage = OutputStage(sink: writer, ledger: ledger, control: control)
                var output = Output(sink: number, name: sink.name, stage: stage)
                // With a store, the thread that delivers is no shard's.
                if isSlow, settings.store.keeping != .everything { output.queue = try queue(for: stage, control) }
                outputs.append(output)
            }
        }
        return OutputStages(outputs: outputs, takers: takers)
    }

    private static func queue(for stage: OutputStage, _ control: PipelineControl) throws(PipelineError) -> OutputQueue {
        do throws(SystemError) {
            return try OutputQueue(stage: stage, control: control)
        } catch {
            throw PipelineError(error)
        }
    }

    /// Starts the threads that compress.
    func start() {
        for output in outputs { output.queue?.start("kymo-output-\(output.sink)") }
    }

    /// Writes the entries of a block, whose oldest was made at `since`, to those that get them.
    func write(_ block: ByteView, for route: BundleRoute, since: Instant) {
        for output in outputs where route.contains(output.sink) {
            if let queue = output.queue {
                queue.write(block, since: since)
            } else {
                output.stage.deliver(block, since: since)
            }
        }
    }

    /// Gives what waits in the sinks to the system. `now` lets them rotate files.
    func tick(_ now: Instant) {
        for output in outputs {
            if let queue = output.queue { queue.tick(now) } else { output.stage.tick(now) }
        }
    }

    /// How it goes with each of them.
    var summaries: [PipelineSummary.Output] {
        outputs.map { output in
            PipelineSummary.Output(
                name: output.name, isUp: !output.stage.isRetrying, deliveryTimes: output.stage.deliveryTimes)
        }
    }

    /// Whether shards that write wait for a sink: its disk is full, or it compresses more slowly than they write.
    var isWaiting: Bool { outputs.contains { $0.stage.isRetrying || ($0.queue?.isFull ?? false) } }

    /// Ends files by `limits` from here on.
    func follow(_ limits: RotationLimits) {
        for output in outputs { output.stage.follow(limits) }
    }

    /// Completes the output.
    func close() {
        for output in outputs {
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
            keepsReceipts: receipts != nil, note: { control?.note(.warning($0)) },
            isForced: { control?.isForced ?? false })
    }
}
