import KymographCore

/// The sinks of a pipeline that are files or standard output, by their place among all sinks.
struct OutputStages: Sendable {
    /// A sink that shards may write to.
    struct Output: Sendable {
        /// Its place among all sinks.
        var sink: Int
        var stage: OutputStage
        /// What takes blocks off the shards, where the sink compresses and shards write themselves.
        var queue: OutputQueue?
    }

    private let outputs: [Output]

    /// Place and way out of each.
    var stages: [(sink: Int, stage: OutputStage)] { outputs.map { ($0.sink, $0.stage) } }

    /// Opens what `settings` names.
    static func open(
        _ settings: PipelineSettings, ledger: PipelineLedger, control: PipelineControl, _ notes: (String) -> Void
    ) throws(PipelineError) -> OutputStages {
        var outputs: [Output] = []
        for (number, sink) in settings.outgoingSinks.enumerated() where sink.destination != .nowhere {
            do throws(SinkError) {
                let opened = try Pipeline.openSink(sink.destination, settings, notes)
                let stage = OutputStage(sink: opened, ledger: ledger, control: control)
                outputs.append(Output(sink: number, stage: stage))
            } catch {
                throw PipelineError(error)
            }
            guard settings.compressesInShards(sink.destination), let last = outputs.indices.last else { continue }
            do throws(SourceError) {
                outputs[last].queue = try OutputQueue(stage: outputs[last].stage, control: control)
            } catch {
                throw PipelineError(error)
            }
        }
        return OutputStages(outputs: outputs)
    }

    /// Starts the threads that compress.
    func start() {
        for output in outputs { output.queue?.start("kymo-output-\(output.sink)") }
    }

    /// Writes the entries of a block to those that get them.
    func write(_ block: ByteView, for route: BundleRoute) {
        for output in outputs where route.contains(output.sink) {
            if let queue = output.queue { queue.write(block) } else { output.stage.write(block) }
        }
    }

    /// Gives what waits in the sinks to the system. `now` lets them rotate files.
    func tick(_ now: Instant) {
        for output in outputs {
            if let queue = output.queue { queue.tick(now) } else { output.stage.tick(now) }
        }
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
    /// Whether the thread of a shard would compress what it writes to `destination`.
    fileprivate func compressesInShards(_ destination: Destination) -> Bool {
        guard case .directory = destination else { return false }
        return store.keeping != .everything && rotation.compression != .none
    }
}
