import KymographCore
import Synchronization

/// How bundles leave a pipeline with a store: straight to standard output or files where that is all, else from the
/// outbox, each sink at its own pace.
final class StoreDelivery: Sendable {
    /// A sink that takes entries from its outbox by itself.
    private struct Taker {
        /// The name of the sink.
        let name: String
        let outbox: StoredOutbox
        let delivery: any SinkDelivery
    }

    private let store: Store
    private let control: PipelineControl
    private let direct: DirectDelivery?
    private let locals: [OutputDelivery]
    private let takers: [Taker]
    private let outboxes: [StoredOutbox]
    private let runningLocal: RunningThreads

    init(
        _ store: Store, _ settings: PipelineSettings, outputs: OutputStages, control: PipelineControl
    ) throws(PipelineError) {
        self.store = store
        self.control = control
        let sinks = settings.outgoingSinks
        // For a sink that may be away for long, the outbox is larger than what waits on the direct way.
        let isAway = sinks.first?.address?.kind.capabilities.contains(.mayBeAway) == true
        // Events leave the shard with their journal, and what becomes durable so goes by the outbox.
        let isDirect = sinks.count == 1 && !outputs.stages.isEmpty && !isAway && !sinks[0].takesEvents
        if isDirect, let only = outputs.stages.first {
            direct = try StoreDelivery.direct(store, sinks[0], only.stage, control)
            locals = try StoreDelivery.remains(store, sinks[0], only.stage, control)
            (outboxes, takers) = ([], [])
            runningLocal = RunningThreads(1)
            noteAbsent(sinks)
            return
        }
        direct = nil
        let outboxes = try StoreDelivery.outboxes(store, sinks)
        self.outboxes = outboxes
        locals = outputs.stages.map { OutputDelivery(outboxes[$0.sink], output: $0.stage, control: control) }
        runningLocal = RunningThreads(locals.count)
        var takers: [Taker] = []
        for taker in outputs.takers {
            let outbox = outboxes[taker.sink]
            takers.append(Taker(name: sinks[taker.sink].name, outbox: outbox, delivery: try taker.open(outbox)))
        }
        self.takers = takers
        // Sinks of earlier runs are ended by this, so nothing may fail after it.
        noteAbsent(sinks)
        do throws(StoreError) { try store.begin(sinks: sinks.map(\.name)) } catch { throw PipelineError(error) }
    }

    private static func outboxes(
        _ store: Store, _ sinks: [PipelineSettings.Sink]
    ) throws(PipelineError) -> [StoredOutbox] {
        do throws(StoreError) {
            var outboxes: [StoredOutbox] = []
            for sink in sinks { outboxes.append(try StoredOutbox(store, sink: sink.name)) }
            return outboxes
        } catch {
            throw PipelineError(error)
        }
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
            let fate =
                direct != nil
                ? "wait for \(sink), to which this run does not deliver"
                : "are given up: no sink of this run is called '\(sink)', for which they were"
            control.note(.warning("\(count) bundles in \(store.directory.path) \(fate)"))
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
    var summaries: [(sink: String, summary: DeliverySummary)] { takers.map { ($0.name, $0.delivery.summary) } }

    /// Has every FHIR server asked anew for Devices, Patients and Encounters; how many servers there are.
    func forgetLookups() -> Int { takers.count { $0.delivery.forgetLookups() } }

    /// Wakes the sinks: there may be something new.
    func wake() {
        for outbox in outboxes { outbox.wake() }
    }

    /// Starts the threads.
    func start() {
        for taker in takers { taker.delivery.start() }
        guard let direct else {
            for local in locals { startLocal { local.run() } }
            return
        }
        startLocal { [locals] in
            // What an earlier run has left comes before all that is new.
            for local in locals {
                local.finish()
                local.run()
            }
            direct.run()
        }
    }

    private func startLocal(_ run: @escaping @Sendable () -> Void) {
        WorkerThread.start("kymo-output") { [self] in
            run()
            runningLocal.leave()
            control.noteChange()
        }
    }

    /// Ends what goes straight to files; the windows that it shows are submitted then.
    func finishDirect() {
        guard let direct else { return }
        direct.finish()
        while !runningLocal.isZero, !control.isForced { Wait.milliseconds(1) }
    }

    /// Ends the sinks when they have what there is. A server that is away is not waited for: what it has not got stays
    /// in the store for the next run.
    func finish() {
        for local in locals { local.finish() }
        for taker in takers { taker.delivery.finish() }
        waitForLocal()
        while !control.isForced, takers.contains(where: \.delivery.isWorthWaitingFor) { Wait.milliseconds(5) }
        for taker in takers {
            taker.delivery.end()
            report(taker)
        }
    }

    /// After an end by force, waits a moment for what sinks have taken to be noted: they look up every 100 ms, unless
    /// the system holds them.
    private func waitForLocal() {
        var left = 200
        while !runningLocal.isZero, left > 0 {
            Wait.milliseconds(1)
            if control.isForced { left -= 1 }
        }
    }

    private func report(_ taker: Taker) {
        let summary = taker.delivery.summary
        let undeliverable = summary.undeliverableReasons.text
        let requests = (summary.traffic?.endings ?? []).reduce(0) { $0 + $1.count }
        var text =
            "\(taker.name): delivered \(summary.delivered) entries, undeliverable \(undeliverable)"
            + ", requests \(requests)"
        if summary.retries > 0 { text += ", retries \(summary.retries)" }
        let rest = taker.outbox.waiting
        if rest > 0 {
            // Not what the server has said last, which may quote content.
            let reason = summary.trouble?.reason ?? "kymo status says how far it is"
            text += "; \(rest) bundles wait in \(store.directory.path) for the next start (\(reason))"
        }
        control.note(LogEntry(rest > 0 ? .warning : .info, text))
    }
}
