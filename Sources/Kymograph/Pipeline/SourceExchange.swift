import KymographCore
import Synchronization

/// Opens sources for the lanes of a running pipeline, and has lanes leave others: all that a reload says, or nothing.
final class SourceExchange: Sendable {
    /// What differs between the sources of two settings. The new ones are open, and no lane reads them yet.
    struct Plan {
        /// The settings that go with it.
        fileprivate(set) var settings: PipelineSettings
        /// For each lane, the sources that it is to read.
        fileprivate var added: [[LaneSource]]
        /// Numbers of the sources that are read no more.
        fileprivate var removed: [Int] = []
        /// Numbers of those that have other limits of clients.
        fileprivate var limited: [Int] = []

        fileprivate init(_ settings: PipelineSettings, lanes: Int) {
            self.settings = settings
            added = Array(repeating: [], count: lanes)
        }

        /// Notes when the sources that are read no more were left.
        mutating func noteRemoved(at now: Instant) {
            for number in removed { settings.sources[number].removedAt = now }
        }
    }

    private let lanes: [Lane]
    private let live: LiveSources
    private let store: Store?
    private let pauses: PauseBook
    private let outputs: OutputStages
    private let isStopped = Atomic(false)

    /// For `lanes`, whose sources `live` counts and `pauses` hold.
    init(_ lanes: [Lane], _ live: LiveSources, _ store: Store?, _ pauses: PauseBook, _ outputs: OutputStages) {
        (self.lanes, self.live, self.store, self.pauses, self.outputs) = (lanes, live, store, pauses, outputs)
    }

    /// Ends waiting for lanes.
    func stop() { isStopped.store(true, ordering: .relaxed) }

    /// Whether waiting has ended.
    var hasStopped: Bool { isStopped.load(ordering: .relaxed) }

    /// Opens what `next` has and `current` has not.
    ///
    /// - Throws: ``ReloadRefusal`` when something cannot be opened; nothing is open then that was not before.
    func plan(from current: PipelineSettings, to next: PipelineSettings) throws(ReloadRefusal) -> Plan {
        var plan = Plan(next, lanes: lanes.count)
        for (number, source) in next.sources.enumerated() {
            let wasRead = number < current.sources.count && !current.sources[number].isRemoved
            switch (wasRead, !source.isRemoved) {
            case (true, true):
                let former = current.sources[number].configuration
                if !former.hasLimits(of: source.configuration) || current.lineBytes != next.lineBytes {
                    plan.limited.append(number)
                }
            case (true, false): plan.removed.append(number)
            case (false, true):
                do throws(ReloadRefusal) { try open(number, &plan) } catch {
                    abandon(plan)
                    throw error
                }
            case (false, false): break
            }
        }
        guard
            plan.removed.isEmpty || store?.isFull != true
                || next.store.maxBytes > current.store.maxBytes
        else {
            abandon(plan)
            throw ReloadRefusal(
                message:
                    "the store takes nothing now, so that what has come by the sources that go cannot be kept: give it "
                    + "more room first (store.maxBytes, or the disk)")
        }
        return plan
    }

    private func open(_ number: Int, _ plan: inout Plan) throws(ReloadRefusal) {
        let source = plan.settings.sources[number]
        let place = source.origins[source.configuration.address.kind.key].map { "\($0.place): " } ?? ""
        guard hasLeft(number) else {
            throw ReloadRefusal(
                message: "\(place)\(source.name) is still answering clients from before it was removed: reload again")
        }
        do throws(SourceError) {
            let isShared = source.configuration.isShareable && lanes.count > 1
            let configuration = plan.settings.laneConfiguration(number, sharesPort: isShared)
            // As at the start: no other process may have a part of what comes.
            if isShared { _ = try Lane([plan.settings.laneConfiguration(number, sharesPort: false)]) }
            let chosen = isShared ? Array(lanes.indices) : [quietest(plan)]
            for lane in chosen { plan.added[lane].append(try LaneSource(configuration)) }
        } catch {
            throw ReloadRefusal(message: place + error.message)
        }
    }

    /// Milliseconds that a source which comes back waits for its former clients to have their answers.
    private static let patience = 2_000

    /// Whether no lane has clients any more of source `number`, which was removed.
    private func hasLeft(_ number: Int) -> Bool {
        var left = SourceExchange.patience
        while lanes.contains(where: { $0.inbox.isLeaving(number) }) {
            guard left > 0, !isStopped.load(ordering: .relaxed) else { return false }
            Wait.milliseconds(1)
            left -= 1
        }
        return true
    }

    /// The lane that reads the fewest sources.
    private func quietest(_ plan: Plan) -> Int {
        let counts = lanes.indices.map { index in
            lanes[index].sources.count { !$0.isGone } + plan.added[index].count
        }
        return counts.indices.min { counts[$0] < counts[$1] } ?? 0
    }

    /// Closes what was opened for `plan`, which does not come to be.
    func abandon(_ plan: Plan) {
        for source in plan.added.joined() { source.opened.close() }
    }

    /// Gives the new sources their numbers in the ledger.
    ///
    /// - Throws: ``StoreError`` when they cannot be kept.
    func number(_ plan: inout Plan) throws(StoreError) {
        let present = plan.settings.sources.indices.filter { !plan.settings.sources[$0].isRemoved }
        let numbers = try store?.sourceNumbers(
            present.map { (plan.settings.sources[$0].name, plan.settings.sources[$0].timezone?.name) })
        for (index, number) in present.enumerated() {
            plan.settings.sources[number].ledgerNumber = numbers?[index] ?? min(number + 1, ReadingSource.other)
        }
        let known = present.map { (plan.settings.sources[$0].name, plan.settings.sources[$0].ledgerNumber) }
        plan.settings.resolveSources((store?.namedSources ?? []) + known)
    }

    /// Has lanes take what came by the sources that go, and close them, while the former settings hold for it.
    func leave(_ plan: Plan) {
        // A lane that waits for room goes on with more of it.
        store?.follow(plan.settings.store)
        outputs.follow(plan.settings.rotation.limits)
        // Before others go, so that no lane ends for want of sources.
        live.enter(plan.added.reduce(0) { $0 + $1.count })
        guard !plan.removed.isEmpty else { return }
        for lane in lanes { lane.inbox.give(plan.removed.map { .remove($0) }) }
        settle()
    }

    /// Has lanes read the sources that are new, and follow the settings of `plan`, which are in use now.
    func begin(_ plan: Plan) {
        pauses.follow(plan.settings.sources)
        for (lane, sources) in zip(lanes, plan.added) {
            let limits = plan.limited.map {
                LaneInbox.Change.limit(plan.settings.laneConfiguration($0, sharesPort: false))
            }
            lane.inbox.give(limits + sources.map { .add($0) } + [.look])
        }
        // Not for as long as it takes: a lane that waits for room makes its changes later, in their order, and the next
        // reload may be what gives it room.
        settle(patience: SourceExchange.patience)
    }

    /// What is listened to from now on, as ``Pipeline/sourceDescriptions`` has it.
    func descriptions(_ plan: Plan) -> [String] {
        var seen: Set<Int> = []
        return plan.added.joined().filter { seen.insert($0.configuration.number).inserted }.map { source in
            let mappings = plan.settings.mappings(of: plan.settings.sources[source.configuration.number])
            return "\(source.name), mapping \(mappings.joined(separator: ", "))"
        }
    }

    /// Waits until lanes have made their changes, or the pipeline ends, or `patience` milliseconds are over.
    private func settle(patience: Int = .max) {
        var left = patience
        while left > 0, !isStopped.load(ordering: .relaxed), !lanes.allSatisfy(\.inbox.isSettled) {
            Wait.milliseconds(1)
            left -= 1
        }
    }
}
