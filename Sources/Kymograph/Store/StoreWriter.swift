import GRDB
import KymographCore
import Synchronization

/// The store's thread: commits what waits, at most every ``StoreSettings/commitInterval``.
final class StoreWriter: Sendable {
    private let store: Store
    private let mappings: MappingExchange
    private let control: PipelineControl
    /// Called after each commit, on this thread.
    private let committed: @Sendable () -> Void
    /// Called with what sinks have settled, once that is durable, on the thread that has committed it.
    private let settled: @Sendable ([Settlement]) -> Void
    private let isEnded = Atomic(false)
    /// Beats in each round, and while the disk is full.
    let pulse = Pulse()
    /// Whether a batch was given up: what came after it may refer to what it had.
    private let hasLost = Atomic(false)

    /// Commits what `store` is given. `mappings` have the types of its series.
    init(
        _ store: Store, mappings: MappingExchange, control: PipelineControl,
        settled: @escaping @Sendable ([Settlement]) -> Void = { _ in }, committed: @escaping @Sendable () -> Void
    ) {
        self.settled = settled
        self.store = store
        self.mappings = mappings
        self.control = control
        self.committed = committed
    }

    /// Whether ``run()`` has returned.
    var hasEnded: Bool { isEnded.load(ordering: .acquiring) }

    /// Works until the queue is closed and everything is committed, or until it is forced to stop.
    func run() {
        var commit = StoreCommit(store, mappings)
        var last = Instant.distantPast
        while !store.queue.isFinished, !control.isForced {
            pulse.beat()
            store.queue.sleep(milliseconds: 1_000)
            let age = WallClock.now().nanoseconds &- last.nanoseconds
            let rest = store.settings.commitInterval &- age
            if age >= 0, rest > 0 { store.queue.rest(nanoseconds: rest) }
            last = WallClock.now()
            var (batch, submitted) = store.queue.take()
            store.book.move(into: &batch)
            guard persist(&batch, &submitted, &commit, now: last) else {
                hasLost.store(true, ordering: .relaxed)
                break
            }
            store.queue.commit(batch, through: submitted)
            noteDurable(batch.units)
            settled(batch.settlements)
            if !batch.isEmpty { committed() }
        }
        store.queue.end()
        pulse.end()
        isEnded.store(true, ordering: .releasing)
    }

    /// Notes how long the readings that are samples took.
    private func noteDurable(_ units: [ShardUnit]) {
        let now = store.receiveClock.time(at: WallClock.now())
        store.totals.durableTimes.withLock { times in
            for unit in units {
                for received in unit.journal?.samples ?? [] { times.add(from: received, to: now) }
            }
        }
    }

    /// Commits what came after ``run()`` ended; called on another thread. Nothing, when a batch was lost before it:
    /// readings of a series that was not introduced would belong to whoever gets its number next.
    func commitRest() {
        guard hasEnded, !hasLost.load(ordering: .relaxed) else { return }
        var commit = StoreCommit(store, mappings)
        var (batch, _) = store.queue.take()
        store.book.move(into: &batch)
        guard !batch.isEmpty else { return }
        do throws(StoreError) {
            try commit.commit(batch, now: WallClock.now())
            settled(batch.settlements)
        } catch {
            guard error.kind.mayPass else {
                return control.fail(error.message, exitCode: ExitStatus.ioError)
            }
            control.note(.warning("\(error.message); sinks get their last bundles again at the next start"))
        }
    }

    /// Tries until it works, fails for good, or the pipeline is ended by force. What was submitted meanwhile comes
    /// along if it makes the room that is wanting, and not otherwise: senders must wait while it is in memory.
    private func persist(
        _ batch: inout StoreBatch, _ submitted: inout Int, _ commit: inout StoreCommit, now: Instant
    ) -> Bool {
        var hasReported = false
        while true {
            do throws(StoreError) {
                let start = ContinuousClock.now
                try store.renewSeal()
                try commit.commit(batch, now: now)
                if !batch.isEmpty { store.totals.commitTimes.withLock { $0.add(start.duration(to: .now)) } }
                store.noteFull(false)
                if hasReported {
                    let path = store.directory.path
                    control.note(
                        .change(.info, "store.again", ("store", path), "the store in \(path) takes data again"))
                }
                return true
            } catch {
                guard canWait(error) else { return false }
                if !hasReported {
                    control.note(
                        .change(
                            .error, "store.waiting", ("store", store.directory.path),
                            "\(error.message); waiting, and taking no more than fits in memory"))
                }
                hasReported = true
                store.noteFull(true)
                control.pause(milliseconds: 100)
                pulse.beat()
                store.shrinkLog()
                guard settle(&commit, &batch, now: now) else { return false }
                if !commit.makesRoom(batch.units), commit.makesRoom(batch.units + store.queue.waitingUnits) {
                    let (more, last) = store.queue.take()
                    batch.append(more)
                    // Rejections that found no room in the queue: a replayed letter is settled with what came of it.
                    store.book.move(into: &batch)
                    submitted = last
                }
            }
        }
    }

    /// Whether what failed with `error` may be tried again; else the process ends.
    private func canWait(_ error: StoreError) -> Bool {
        if error.kind.mayPass, !control.isForced { return true }
        control.fail(error.message, exitCode: ExitStatus.ioError)
        return false
    }

    /// Commits what sinks have settled meanwhile, which makes room. False when that fails for good.
    private func settle(_ commit: inout StoreCommit, _ batch: inout StoreBatch, now: Instant) -> Bool {
        var relief = batch.takeRelief()
        relief.append(store.queue.takeRelief())
        guard !relief.isEmpty else { return true }
        do throws(StoreError) {
            try commit.commit(relief, now: now)
        } catch {
            batch.putBack(relief)
            return canWait(error)
        }
        settled(relief.settlements)
        return true
    }
}
