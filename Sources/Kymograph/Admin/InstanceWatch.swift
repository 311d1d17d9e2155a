import CKymographLinux
import KymographCore
import Synchronization

/// Looks at a running instance again and again, for what one look does not show: what the store holds, which takes time
/// to count, and for how long sinks have been down.
final class InstanceWatch: Sendable {
    /// What was seen.
    struct Seen: Sendable {
        /// What the store held, when it was counted last.
        var stored: InstanceStatus?
        /// When that was.
        var storedAt: Instant?
        /// Since when no sink takes anything; nil when one does, or there is none.
        var downSince: ContinuousClock.Instant?
        /// What is counted by looking again and again.
        var counts = WatchedCounts()
    }

    /// Milliseconds between two looks.
    private static let interval: Int32 = 1_000
    /// How many times as long as counting took there is no counting: at most a hundredth of a processor's time.
    private static let restFactor = 100

    private let view: InstanceView
    private let stopEvent: Descriptor
    private let seen = Mutex(Seen())
    /// What the last look has found.
    private let former = Mutex<PipelineSummary?>(nil)

    /// Looks by `view`.
    ///
    /// - Throws: ``SystemError`` when the system gives no event.
    init(_ view: InstanceView) throws(SystemError) {
        self.view = view
        let raw = kymo_event_create()
        guard raw >= 0 else { throw SystemError(-raw, "create", "an event for stopping") }
        stopEvent = Descriptor(raw)
    }

    /// What was seen last.
    var latest: Seen { seen.withLock { $0 } }

    /// Begins, on a thread of its own.
    func start() { WorkerThread.start("kymo-health") { [self] in run() } }

    /// Ends soon.
    func stop() { _ = kymo_event_raise(stopEvent.raw) }

    private func run() {
        var nextCount = ContinuousClock.now
        repeat {
            let isStopping = look()
            // The end of the store must not wait for somebody who reads it.
            guard !isStopping, ContinuousClock.now >= nextCount else { continue }
            nextCount = count()
        } while kymo_event_wait(stopEvent.raw, InstanceWatch.interval) == 0
    }

    /// Counts what the store holds; when to do it again.
    private func count() -> ContinuousClock.Instant {
        let start = ContinuousClock.now
        let stored = view.stored()
        let end = ContinuousClock.now
        seen.withLock { seen in
            seen.stored = stored
            seen.storedAt = stored == nil ? nil : WallClock.now()
        }
        return end + (end - start) * InstanceWatch.restFactor
    }

    /// Looks once; whether the instance is stopping.
    private func look() -> Bool {
        let facts = view.facts()
        let disks = view.disks()
        let now = ContinuousClock.now
        let former = former.withLock { former in
            defer { former = facts.run }
            return former
        }
        seen.withLock { seen in
            seen.downSince = facts.areAllSinksDown ? seen.downSince ?? now : nil
            seen.counts.disks = disks
            seen.counts.isStoreWaiting = facts.isStoreFull
            seen.counts.note(facts.run.sources, since: former?.sources ?? [])
            if let former { seen.counts.imbalance = facts.run.imbalance(since: former) }
        }
        return facts.isStopping
    }
}

extension InstanceFacts {
    /// Whether there are sinks, and none takes anything.
    var areAllSinksDown: Bool {
        let areUp = run.outputs.map(\.isUp) + deliveries.map(\.summary.isUp)
        return !areUp.isEmpty && areUp.allSatisfy { !$0 }
    }
}

extension WatchedCounts {
    /// Notes which sources have brought something since the last look; before the first there was nothing.
    fileprivate mutating func note(_ sources: [PipelineSummary.Source], since former: [PipelineSummary.Source]) {
        let now = Double(WallClock.now().nanoseconds / 1_000_000_000)
        for (place, source) in sources.enumerated() {
            let known = former.indices.contains(place) ? former[place].counts.bytes : 0
            guard source.counts.bytes != known else { continue }
            lastReceived.removeAll { $0.source == source.name }
            lastReceived.append((source.name, now))
        }
    }
}
