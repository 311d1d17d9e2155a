import KymographCore
import Synchronization

/// The ways by which entries leave the outbox of a store, one for each sink. They come and go while the pipeline runs.
final class SinkWays: Sendable {
    private let store: Store
    private let control: PipelineControl
    private let ways: Mutex<[SinkWay]>
    /// How delivery went to sinks that have gone, by name: they may come back.
    private let gone = Mutex<[IdentifierText: DeliverySummary]>([:])

    /// Ways for the sinks that `outputs` has opened.
    ///
    /// - Throws: ``PipelineError`` when the store, or a file that a sink needs, cannot be used.
    init(_ store: Store, _ outputs: OutputStages, _ control: PipelineControl) throws(PipelineError) {
        (self.store, self.control) = (store, control)
        var opened: [SinkWay] = []
        for sink in outputs.opened { opened.append(try SinkWays.way(for: sink, store, control)) }
        ways = Mutex(opened)
    }

    private static func way(
        for sink: OutputStages.Opened, _ store: Store, _ control: PipelineControl
    ) throws(PipelineError) -> SinkWay {
        let outbox: StoredOutbox
        do throws(StoreError) { outbox = try StoredOutbox(store, sink: sink.name) } catch { throw PipelineError(error) }
        return try SinkWay(sink, outbox, control)
    }

    private var present: [SinkWay] { ways.withLock { $0 } }

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
        let present = present
        for way in present { way.finish() }
        for way in present { way.waitForWriter() }
        while !control.isForced, present.contains(where: \.isWorthWaitingFor) { Wait.milliseconds(5) }
        for way in present {
            way.stop()
            report(way)
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
            let reason = summary.trouble?.reason ?? "kymo status says how far it is"
            let waiting = CountText.of(rest, one: "bundle waits", many: "bundles wait")
            text += "; \(waiting) in \(store.directory.path) for the next start (\(reason))"
        }
        control.note(LogEntry(rest > 0 ? .warning : .info, text))
    }

    // MARK: Coming and going

    /// A way for a sink that is new, or that takes the place of the one of its name. Nothing goes by it yet.
    ///
    /// - Throws: ``PipelineError`` when the store, or a file that the sink needs, cannot be used.
    func open(_ sink: OutputStages.Opened) throws(PipelineError) -> SinkWay {
        guard let former = present.first(where: { $0.place == sink.place }) else {
            return try SinkWays.way(for: sink, store, control)
        }
        return try former.successor(sink)
    }

    /// Has entries go by `way`, in place of the one at its place if there is one.
    func use(_ way: SinkWay) {
        let former = ways.withLock { ways in
            defer { ways = ways.filter { $0.place != way.place } + [way] }
            let former = ways.first { $0.place == way.place }
            if let former { way.follow(former) }
            return former
        }
        if let former {
            former.giveWay()
            way.follow(former.summary)
        } else {
            way.follow(gone.withLock { $0.removeValue(forKey: IdentifierText(way.name)) })
            way.begin()
        }
        way.start()
    }

    /// Milliseconds that sinks which go have for what they have been given.
    private static let patience = 10_000

    /// Ends the ways at `places`: their sinks get what there is for them, as long as they take it. How many bundles
    /// each has not taken. Until `isStopped`, or the pipeline ends by force. What they were sent is answered then: a
    /// sink that comes back must not be overtaken by it.
    func end(_ places: [Int], isStopped: () -> Bool) -> [(name: String, rest: Int)] {
        let going = present.filter { places.contains($0.place) }
        for way in going {
            way.leave()
            way.finish()
        }
        var left = SinkWays.patience / 5
        while left > 0, going.contains(where: \.isWorthWaitingFor), !control.isForced, !isStopped() {
            Wait.milliseconds(5)
            left -= 1
        }
        for way in going { way.cease() }
        for way in going {
            way.awaitAnswers(until: isStopped)
            way.end()
            guard var summary = way.summary else { continue }
            summary.trouble = nil
            gone.withLock { $0[IdentifierText(way.name)] = summary }
        }
        ways.withLock { ways in ways.removeAll { places.contains($0.place) } }
        return isStopped() ? [] : going.map { ($0.name, $0.waiting) }
    }
}
