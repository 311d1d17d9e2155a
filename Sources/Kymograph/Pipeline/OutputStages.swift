import KymographCore

/// The sinks of a pipeline that are files or standard output, by their place among all sinks.
struct OutputStages: Sendable {
    /// Place and way out of each.
    let stages: [(sink: Int, stage: OutputStage)]

    /// Opens what `settings` names.
    static func open(
        _ settings: PipelineSettings, ledger: PipelineLedger, control: PipelineControl, _ notes: (String) -> Void
    ) throws(SinkError) -> OutputStages {
        var stages: [(sink: Int, stage: OutputStage)] = []
        for (number, sink) in settings.outgoingSinks.enumerated() where sink.destination != .nowhere {
            let opened = try Pipeline.openSink(sink.destination, settings, notes)
            stages.append((number, OutputStage(sink: opened, ledger: ledger, control: control)))
        }
        return OutputStages(stages: stages)
    }

    /// Writes a bundle to those that get it.
    func write(_ bytes: ByteView, for route: BundleRoute) {
        for (sink, stage) in stages where route.contains(sink) { stage.write(bytes) }
    }

    /// Gives what waits in the sinks to the system. `now` lets them rotate files.
    func tick(_ now: Instant) {
        for (_, stage) in stages { stage.tick(now) }
    }

    /// Completes the output.
    func close() {
        for (_, stage) in stages { stage.close() }
    }
}
