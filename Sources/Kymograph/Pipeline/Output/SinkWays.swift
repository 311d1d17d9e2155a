import KymographCore
import Synchronization

/// The ways by which entries leave the outbox of a store, one for each sink. They come and go while the pipeline runs.
final class SinkWays: Sendable {
    private let store: Store
    private let control: PipelineControl
    private let known: Mutex<Known>
    /// Threads that end ways, and have others take their place.
    private let changing = Atomic(0)
    /// Whether those threads wait for nothing more, and none begins.
    private let isCut = Atomic(false)

    private struct Known {
        /// The way of each sink, also of one that is about to go.
        var ways: [SinkWay]
        /// Those that end, or go: what they have sent may be under way still.
        var ending: [SinkWay] = []
        /// How delivery went to sinks that have gone, by name: they may come back.
        var gone: [IdentifierText: DeliverySummary] = [:]
    }

    /// Ways for the sinks that `outputs` has opened.
    ///
    /// - Throws: ``PipelineError`` when the store, or a file that a sink needs, cannot be used.
    init(_ store: Store, _ outputs: OutputStages, _ control: PipelineControl) throws(PipelineError) {
        (self.store, self.control) = (store, control)
        var opened: [SinkWay] = []
        for sink in outputs.opened { opened.append(try SinkWays.way(for: sink, store, control)) }
        known = Mutex(Known(ways: opened))
    }

    private static func way(
        for sink: OutputStages.Opened, _ store: Store, _ control: PipelineControl
    ) throws(PipelineError) -> SinkWay {
        let outbox: StoredOutbox
        do throws(StoreError) { outbox = try StoredOutbox(store, sink: sink.name) } catch { throw PipelineError(error) }
        return try SinkWay(sink, outbox, control)
    }

    private var present: [SinkWay] { known.withLock { $0.ways } }

    // MARK: All of them

    /// How delivery goes to each sink that takes entries by itself, by the sink's name.
    var summaries: [(sink: String, summary: DeliverySummary)] {
        present.compactMap { way in way.summary.map { (way.name, $0) } }
    }

    /// Has every FHIR server asked anew for Devices, Patients and Encounters; how many servers there are.
    func forgetLookups() -> Int { present.count { $0.forgetLookups() } }

    /// Wakes the sinks: there may be something new.
    func wake() {
        for way in present { way.wake() }
    }

    /// Starts the threads.
    func start() {
        for way in present { way.start() }
    }

    /// Ends the sinks when they have what there is. A server that is away is not waited for: what it has not got stays
    /// in the store for the next run.
    func finish() {
        endChanges()
        for way in present where way.isLeaving { way.end() }
        let present = present.filter { !$0.isLeaving }
        for way in present { way.finish() }
        for way in present { way.waitForWriter() }
        while !control.isForced, present.contains(where: \.isWorthWaitingFor) { Wait.milliseconds(5) }
        for way in present {
            way.stop()
            report(way)
        }
    }

    /// Milliseconds that an end of the process waits for ways that take the place of others, and then for their threads
    /// to end.
    private static let (grace, longestEnd) = (1_000, 5_000)

    /// A server that does not answer must not hold up the end: what waits behind that is left to the next start.
    private func endChanges() {
        awaitChanges(SinkWays.grace)
        isCut.store(true, ordering: .sequentiallyConsistent)
        awaitChanges(SinkWays.longestEnd)
    }

    private func awaitChanges(_ milliseconds: Int) {
        var left = milliseconds / 5
        while left > 0, changing.load(ordering: .sequentiallyConsistent) > 0, !control.isForced {
            Wait.milliseconds(5)
            left -= 1
        }
    }

    private func report(_ way: SinkWay) {
        guard let summary = way.summary else { return }
        let undeliverable = summary.undeliverableReasons.text
        let requests = (summary.traffic?.endings ?? []).reduce(0) { $0 + $1.count }
        var text =
            "\(way.name): delivered \(CountText.of(summary.delivered, one: "entry", many: "entries"))"
            + "\(summary.deletedText), undeliverable \(undeliverable), requests \(requests)"
        if summary.retries > 0 { text += ", retries \(summary.retries)" }
        let rest = way.waiting
        if rest > 0 {
            // Not what the server has said last, which may quote content.
            let reason = summary.trouble?.reason ?? "it had not taken them when the run ended"
            let waiting = CountText.of(rest, one: "bundle waits", many: "bundles wait")
            text += "; \(waiting) in \(store.directory.path) for the next start (\(reason))"
        }
        control.note(LogEntry(rest > 0 ? .warning : .info, text))
    }

    // MARK: Coming and going

    /// Whether nothing that ends is waited for any longer.
    private var isOver: Bool { isCut.load(ordering: .sequentiallyConsistent) || control.isForced }

    /// Does `work` on a thread of its own: nobody else is to wait for a server.
    private func change(_ work: @escaping @Sendable () -> Void) {
        changing.add(1, ordering: .sequentiallyConsistent)
        WorkerThread.start("kymo-handover") { [self] in
            work()
            changing.subtract(1, ordering: .sequentiallyConsistent)
        }
    }

    /// A way for a sink that is new, or that takes the place of the one of its name, which may be about to go. Nothing
    /// goes by it yet.
    ///
    /// - Throws: ``PipelineError`` when the store, or a file that the sink needs, cannot be used.
    func open(_ sink: OutputStages.Opened) throws(PipelineError) -> SinkWay {
        guard let former = present.first(where: { $0.isNamed(sink.name) }) else {
            return try SinkWays.way(for: sink, store, control)
        }
        return try former.successor(sink)
    }

    /// Has entries go by `way`, in place of the one of its name if there is one. It begins when nothing is under way
    /// that another has sent to the same place: a server would put that in the place of what it gets later.
    func use(_ way: SinkWay) {
        let (former, others, gone) = known.withLock { known in
            let former = known.ways.first { $0.isNamed(way.name) }
            let others = known.ending.filter { $0 !== former && $0.destination == way.destination }
            if let former {
                way.follow(former)
                if !known.ending.contains(where: { $0 === former }) { known.ending.append(former) }
            }
            known.ways = known.ways.filter { $0 !== former } + [way]
            return (former, others, known.gone.removeValue(forKey: IdentifierText(way.name)))
        }
        if former == nil {
            way.follow(gone)
            way.begin()
        }
        guard former != nil || !others.isEmpty else { return begin(way) }
        former?.want()
        way.note(isPending: true)
        change { [self] in
            if let former { take(over: former, by: way) }
            for other in others { awaitEnd(of: other) }
            begin(way)
            way.note(isPending: false)
        }
    }

    /// When the process ends, the next start goes on.
    private func begin(_ way: SinkWay) {
        if !isOver { way.start() }
    }

    private func take(over former: SinkWay, by way: SinkWay) {
        if former.isLeaving {
            awaitEnd(of: former)
            former.goOn()
        } else {
            former.giveWay { isOver }
            noteEnd(of: former)
        }
        way.follow(former.summary)
    }

    private func noteEnd(of way: SinkWay) {
        known.withLock { $0.ending.removeAll { $0 === way } }
        way.noteEnded()
    }

    private func awaitEnd(of way: SinkWay) {
        while !way.hasEnded, !isOver { Wait.milliseconds(5) }
    }

    /// Milliseconds that sinks which go have for what they have been given.
    private static let patience = 10_000

    /// Notes that the sinks at `places` go.
    func mark(leaving places: [Int]) {
        known.withLock { known in
            for way in known.ways where places.contains(way.place) {
                way.markLeaving()
                known.ending.append(way)
            }
        }
    }

    /// Ends the ways at `places`: their sinks get what there is for them, as long as they take it. What they were sent
    /// is answered then: a sink that comes back must not be overtaken by it. `completion` is called for each when it
    /// has ended, on a thread of its own. Until `isStopped`, or the process ends.
    func end(
        _ places: [Int], isStopped: @escaping @Sendable () -> Bool,
        completion: @escaping @Sendable (SinkWay, _ isStopped: () -> Bool) -> Void
    ) {
        let going = present.filter { places.contains($0.place) && $0.isLeaving }
        for way in going {
            change { [self] in
                let isStopped = { self.isOver || isStopped() }
                leave(way, isStopped)
                completion(way, isStopped)
                noteEnd(of: way)
            }
        }
        awaitEnd(of: going, isStopped)
    }

    private func leave(_ way: SinkWay, _ isStopped: () -> Bool) {
        way.awaitBeginning()
        way.leave()
        way.finish()
        var left = SinkWays.patience / 5
        while left > 0, way.isWorthWaitingFor, !way.isWanted, !isStopped() {
            Wait.milliseconds(5)
            left -= 1
        }
        way.cease()
        way.awaitAnswers(until: isStopped)
        way.end()
    }

    /// Milliseconds that a reload waits for servers that go, so that they mostly have gone when it says so.
    private static let moment = 2_000

    /// Waits for `ways`, and only a moment for those whose servers may take long.
    private func awaitEnd(of ways: [SinkWay], _ isStopped: () -> Bool) {
        var waited = 0
        while ways.contains(where: { !$0.hasEnded && (!$0.waitsForOthers || waited < SinkWays.moment) }) {
            guard !isStopped(), !isOver else { return }
            Wait.milliseconds(5)
            waited += 5
        }
    }

    /// Tells no more of `way`, whose sink has gone.
    func forget(_ way: SinkWay) {
        known.withLock { known in
            guard known.ways.contains(where: { $0 === way }) else { return }
            known.ways.removeAll { $0 === way }
            guard var summary = way.summary else { return }
            summary.trouble = nil
            known.gone[IdentifierText(way.name)] = summary
        }
    }
}
