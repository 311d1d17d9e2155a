import KymographCore

/// How bundles leave a pipeline with a store: straight to standard output or files where that is all, else from the
/// outbox, each sink at its own pace.
final class StoreDelivery: Sendable {
    private let store: Store
    private let control: PipelineControl
    private let direct: DirectDelivery?
    /// On the direct way: what brings the sink the bundles that an earlier run, with other sinks besides, has left.
    private let remains: [OutputDelivery]
    /// The ways from the outbox; nil on the direct way.
    let ways: SinkWays?
    private let runningDirect: RunningThreads

    init(
        _ store: Store, _ settings: PipelineSettings, outputs: OutputStages, control: PipelineControl
    ) throws(PipelineError) {
        self.store = store
        self.control = control
        let sinks = settings.placedSinks
        if !settings.usesOutbox, let only = outputs.stages.first, let sink = settings.outgoingSinks.first {
            direct = try StoreDelivery.direct(store, sink, only, control)
            remains = try StoreDelivery.remains(store, sink, only, control)
            ways = nil
            runningDirect = RunningThreads(1)
            noteAbsent([sink])
            return
        }
        (direct, remains, runningDirect) = (nil, [], RunningThreads(0))
        ways = try SinkWays(store, outputs, control)
        // Sinks of earlier runs are ended by this, so nothing may fail after it.
        noteAbsent(sinks.compactMap { $0 })
        do throws(StoreError) { try store.begin(sinks: sinks.map { $0?.name }) } catch { throw PipelineError(error) }
    }

    private static func direct(
        _ store: Store, _ sink: PipelineSettings.Sink, _ output: OutputStage, _ control: PipelineControl
    ) throws(PipelineError) -> DirectDelivery {
        do throws(SystemError) {
            let (queue, name) = (store.queue, sink.name)
            let direct = try DirectDelivery(output: output, control: control) { types in
                queue.add { $0.taken[name, default: []].formUnion(types) }
            } delivered: { unit in
                queue.submit(unit, waits: false)
            }
            store.begin(direct: direct)
            return direct
        } catch {
            throw PipelineError(error)
        }
    }

    /// Says what waits for sinks of earlier runs that this one does not have. A run with an outbox of its own does not
    /// keep it.
    private func noteAbsent(_ sinks: [PipelineSettings.Sink]) {
        for (sink, count) in store.bundlesWaiting(except: sinks.map(\.name)) {
            let place = store.directory.path
            let text =
                direct != nil
                ? CountText.of(count, one: "bundle in \(place) waits", many: "bundles in \(place) wait")
                    + " for \(sink), to which this run does not deliver"
                : CountText.of(count, one: "bundle in \(place) is", many: "bundles in \(place) are")
                    + " given up: no sink of this run is called '\(sink)'"
            control.note(.warning(text))
        }
    }

    /// What brings `sink` the bundles that an earlier run, with other sinks besides, has left; empty when there are
    /// none.
    private static func remains(
        _ store: Store, _ sink: PipelineSettings.Sink, _ output: OutputStage, _ control: PipelineControl
    ) throws(PipelineError) -> [OutputDelivery] {
        do throws(StoreError) {
            let outbox = try StoredOutbox(store, sink: sink.name)
            return outbox.waiting > 0 ? [OutputDelivery(outbox, output: output, control: control)] : []
        } catch {
            throw PipelineError(error)
        }
    }

    /// How delivery goes to each sink that takes entries by itself, by the sink's name.
    var summaries: [(sink: String, summary: DeliverySummary)] { ways?.summaries ?? [] }

    /// Has every FHIR server asked anew for Devices, Patients and Encounters; how many servers there are.
    func forgetLookups() -> Int { ways?.forgetLookups() ?? 0 }

    /// Wakes the sinks: there may be something new.
    func wake() { ways?.wake() }

    /// Starts the threads.
    func start() {
        ways?.start()
        guard let direct else { return }
        WorkerThread.start("kymo-output") { [self] in
            // What an earlier run has left comes before all that is new.
            for sink in remains {
                sink.finish()
                sink.run()
            }
            direct.run()
            runningDirect.leave()
            control.noteChange()
        }
    }

    /// Ends what goes straight to files; the windows that it shows are submitted then.
    func finishDirect() {
        guard let direct else { return }
        direct.finish()
        while !runningDirect.isZero, !control.isForced { Wait.milliseconds(1) }
    }

    /// Ends the sinks when they have what there is. A server that is away is not waited for: what it has not got stays
    /// in the store for the next run.
    func finish() {
        ways?.finish()
        waitForDirect()
    }

    /// After an end by force, waits a moment for what the sink has taken to be noted: it looks up every 100 ms, unless
    /// the system holds it.
    private func waitForDirect() {
        var left = 200
        while !runningDirect.isZero, left > 0 {
            Wait.milliseconds(1)
            if control.isForced { left -= 1 }
        }
    }
}
