import KymographCore
import Synchronization

/// Opens sinks for a running pipeline whose entries go by an outbox, and ends others: all that a reload says, or
/// nothing.
final class SinkExchange: Sendable {
    /// What differs between the sinks of two settings.
    struct Plan {
        /// Sinks that are new, or whose way is another one now. They are open, and nothing goes to them yet.
        fileprivate var coming: [(way: SinkWay, opened: OutputStages.Opened)] = []
        /// Those that are known no more.
        fileprivate var going: [PipelineSettings.Sink] = []
        /// The names of the sinks by place, behind the exchange.
        fileprivate var after: [String?] = []
    }

    /// The names of sinks, by place.
    private struct Names {
        /// Those that are known.
        var known: [String?] = []
        /// Those of sinks that go, and have not gone yet.
        var leaving: [Int: String] = [:]

        /// All to whom the store gives entries.
        var all: [String?] {
            let count = max(known.count, (leaving.keys.max() ?? -1) + 1)
            return (0..<count).map { leaving[$0] ?? ($0 < known.count ? known[$0] : nil) }
        }

        /// Whether a sink is called `name`, byte by byte.
        func has(_ name: String) -> Bool {
            known.contains { $0.map { IdentifierText($0) == IdentifierText(name) } ?? false }
        }
    }

    private let store: Store
    private let ways: SinkWays
    private let outputs: OutputStages
    private let flushes: FlushPoint
    private let control: PipelineControl
    private let names = Mutex(Names())

    /// For the sinks of `stage`, which `outputs` opens; `flushes` asks the shards. Nil without a store, and where the
    /// only sink gets everything directly.
    init?(_ stage: StoreStage?, _ outputs: OutputStages, _ flushes: FlushPoint, _ control: PipelineControl) {
        guard let stage, let ways = stage.ways else { return nil }
        (store, self.ways, self.outputs, self.flushes, self.control) = (stage.store, ways, outputs, flushes, control)
    }

    /// Opens what `next` has and `current` has not.
    ///
    /// - Throws: ``ReloadRefusal`` when something cannot be opened; nothing is open then that was not before.
    func plan(from current: PipelineSettings, to next: PipelineSettings) throws(ReloadRefusal) -> Plan {
        let (before, after) = (current.placedSinks, next.placedSinks)
        guard after.count <= BundleRoute.mostSinks else {
            throw ReloadRefusal(
                message: "\(after.count) sinks have come and gone since the start, and a run tells "
                    + "\(BundleRoute.mostSinks) apart: restart to apply it")
        }
        var plan = Plan()
        for place in after.indices {
            let former = place < before.count ? before[place] : nil
            guard let sink = after[place] else {
                former.map { plan.going.append($0) }
                continue
            }
            guard former.map({ !$0.leads(where: sink) }) ?? true else { continue }
            do throws(PipelineError) {
                guard let opened = try outputs.open(sink, next) else { continue }
                plan.coming.append((try ways.open(opened), opened))
            } catch {
                abandon(plan)
                throw ReloadRefusal(message: "\(sink.origin.place): \(error.message)")
            }
        }
        plan.after = after.map { $0?.name }
        return plan
    }

    /// Closes what was opened for `plan`, which does not come to be.
    func abandon(_ plan: Plan) {
        for (way, opened) in plan.coming {
            if case .stage(let stage) = opened.way { stage.close() } else { way.stop() }
        }
    }

    /// Has the new sinks take what comes from now on.
    ///
    /// - Throws: ``StoreError`` when the store cannot keep their names; nothing has changed then.
    func begin(_ plan: Plan) throws(StoreError) {
        try names.withLock { (names) throws(StoreError) in
            var new = names
            new.known = plan.after
            for sink in plan.going { sink.place.map { new.leaving[$0] = sink.name } }
            if !plan.coming.isEmpty { try store.begin(sinks: new.all) }
            names = new
            ways.mark(leaving: plan.going.compactMap(\.place))
            for (way, opened) in plan.coming {
                ways.use(way)
                outputs.add(opened)
            }
        }
    }

    /// Ends those that go, after what was made for them, until `isStopped`. What they do not take is given up, as at
    /// the start of a run without them; when the pipeline ends meanwhile, that is left to the next start.
    ///
    /// A server that does not answer is not waited for: the rest is done when it has, or its time is over.
    func end(_ plan: Plan, isStopped: @escaping @Sendable () -> Bool) {
        guard !plan.going.isEmpty else { return }
        awaitShards(isStopped)
        ways.end(plan.going.compactMap(\.place), isStopped: isStopped) { [self] way, isStopped in
            awaitCommit(isStopped)
            if isStopped() { ways.forget(way) } else { giveUp(way) }
        }
    }

    /// Ends the sink of `way`, unless it has come back meanwhile: then it goes on where it was.
    private func giveUp(_ way: SinkWay) {
        names.withLock { names in
            ways.forget(way)
            outputs.forget(way.place)
            names.leaving[way.place] = nil
            let rest = way.waiting
            if rest > 0, !names.has(way.name) {
                let place = store.directory.path
                let bundles = CountText.of(rest, one: "bundle in \(place) is", many: "bundles in \(place) are")
                control.note(.warning("\(bundles) given up: no sink is called '\(way.name)' any more"))
            }
            do throws(StoreError) { try store.begin(sinks: names.all) } catch {
                control.note(.error("\(error.message); the sinks that have gone are ended by the next start"))
            }
        }
    }

    /// Milliseconds for shards to go over to other sinks, and for what was done before to be on disk.
    private static let patience = 10_000

    /// Waits until shards have taken what lanes had put into their rings, and have handed over what they made of it for
    /// the sinks before.
    private func awaitShards(_ isStopped: () -> Bool) {
        guard let flush = flushes.ask(.none) else { return }
        wait(isStopped) { flushes.closed(for: flush) != nil }
        awaitCommit(isStopped)
    }

    private func awaitCommit(_ isStopped: () -> Bool) {
        let wanted = store.queue.changes
        wait(isStopped) { store.queue.isCommitted(wanted) }
    }

    private func wait(_ isStopped: () -> Bool, until isDone: () -> Bool) {
        var left = SinkExchange.patience
        while left > 0, !isDone(), !isStopped(), !control.isForced {
            Wait.milliseconds(1)
            left -= 1
        }
    }
}

extension PipelineSettings.Sink {
    /// Whether entries go to the same place in the same way as those of `other`, whichever they are.
    fileprivate func leads(where other: PipelineSettings.Sink) -> Bool {
        guard let address, let otherAddress = other.address else { return address == nil && other.address == nil }
        return address.isSame(as: otherAddress)
    }
}
