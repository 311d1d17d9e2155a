import KymographCore
import Synchronization

/// What waits for the store's thread, from all others.
final class StoreQueue: Sendable {
    private struct State {
        var batch = StoreBatch()
        var submitted = 0
        var committed = 0
        var isUrgent = false
        /// Shards that wait for room.
        var waitingShards: Set<Int> = []
        /// Slots of each lane's ring whose readings are durable, by shard.
        var taken: [Int: [UInt64]] = [:]
        var counts = DurableCounts()
        var isClosed = false
        var isEnded = false
    }

    /// Bytes that may wait before shards do.
    private static let mostBytes = 32 << 20
    /// Bytes for which a commit does not wait for more: each one writes the pages again that the one before has begun.
    private static let muchBytes = 1 << 20

    private let state = Mutex(State())
    /// What keys of sealed datagrams have had. A number is noted before its readings are handed on, and so committed
    /// with them or before.
    let sequences = SequenceBook()
    private let bell: Doorbell
    /// Rung when a commit should not wait for more.
    private let urgency: Doorbell
    /// Set when the process ends by force: nobody waits any more.
    private let isForced = Atomic(false)

    init() throws(StoreError) {
        do throws(SystemError) {
            (bell, urgency) = (try Doorbell(), try Doorbell())
        } catch {
            throw StoreError(.unusable, error.message)
        }
    }

    /// Takes a unit; waits while too much is waiting already: that is backpressure while the disk is slow or full. One
    /// that closes windows may be what makes room, and should not wait (`waits`) behind what needs it.
    func submit(_ unit: ShardUnit, waits: Bool = true) {
        var microseconds = 100
        while !isForced.load(ordering: .relaxed) {
            let isTaken = state.withLock { state in
                guard state.batch.byteCount < StoreQueue.mostBytes || state.isEnded || !waits else {
                    state.waitingShards.insert(unit.shard)
                    return false
                }
                state.waitingShards.remove(unit.shard)
                state.batch.units.append(unit)
                state.batch.byteCount += unit.byteCount
                state.submitted += 1
                return true
            }
            if isTaken {
                bell.ring()
                if isUrgent { urgency.ring() }
                return
            }
            Wait.microseconds(microseconds)
            microseconds = min(microseconds * 2, 10_000)
        }
    }

    /// The shards that wait for room in ``submit(_:waits:)``.
    var waitingShards: Set<Int> { state.withLock { $0.waitingShards } }

    /// Waits while too much is waiting already, as ``submit(_:waits:)`` does, and calls `meanwhile` again and again.
    func waitForRoom(_ meanwhile: () -> Void = {}) {
        while !isForced.load(ordering: .relaxed),
            !state.withLock({ $0.batch.byteCount < StoreQueue.mostBytes || $0.isEnded })
        {
            meanwhile()
            Wait.milliseconds(1)
        }
    }

    /// Whether ``waitForRoom(_:)`` would return at once.
    var hasRoom: Bool { state.withLock { $0.batch.byteCount < StoreQueue.mostBytes || $0.isEnded } }

    /// Takes anything small, and does not wait.
    func add(_ change: (inout StoreBatch) -> Void) {
        state.withLock { state in
            change(&state.batch)
            state.submitted += 1
        }
        bell.ring()
    }

    /// How often something was submitted.
    var changes: Int { state.withLock { $0.submitted } }

    /// Whether what `lane` had handed over at `mark` is durable.
    func isDurable(_ mark: DurableMark, lane: Int) -> Bool {
        state.withLock { state in
            guard state.committed >= mark.changes else { return false }
            return mark.positions.indices.allSatisfy { shard in
                mark.positions[shard] == 0 || (state.taken[shard]?[lane] ?? 0) >= mark.positions[shard]
            }
        }
    }

    /// Takes what became of the readings that `lane` has counted as `number`, all of which are durable; nil when that
    /// is forgotten.
    func takeCount(_ number: Int, lane: Int) -> ReadingOutcomes? {
        state.withLock { $0.counts.take(number, lane: lane) }
    }

    /// Takes what became of the readings of each item of the body that `lane` has called `body`, all of which are
    /// durable, by the numbers of their counts; nil when that is forgotten. Of an item that is missing, all were
    /// accepted.
    func takeItems(ofBody body: Int, lane: Int) -> [Int: ReadingOutcomes]? {
        guard let parts = state.withLock({ $0.counts.takeItems(ofBody: body, lane: lane) }) else { return nil }
        var items: [Int: ReadingOutcomes] = [:]
        for part in parts { items[part.number, default: ReadingOutcomes()].add(part.outcomes) }
        return items
    }

    /// Whether the first `changes` that were submitted are durable.
    func isCommitted(_ changes: Int) -> Bool { state.withLock { $0.committed >= changes } }

    /// Waits until everything that was submitted before is durable.
    func waitUntilCommitted() {
        let wanted: Int? = state.withLock { state in
            guard state.committed < state.submitted else { return nil }
            state.isUrgent = true
            return state.submitted
        }
        guard let wanted else { return }
        bell.ring()
        urgency.ring()
        while !isForced.load(ordering: .relaxed), !state.withLock({ $0.committed >= wanted || $0.isEnded }) {
            Wait.microseconds(200)
        }
    }

    /// Has what waits, or comes next, committed without waiting for more.
    func hurry() {
        state.withLock { $0.isUrgent = true }
        bell.ring()
        urgency.ring()
    }

    /// Takes no more after what waits now; ``isFinished`` when it is all committed.
    func close() {
        state.withLock { $0.isClosed = true }
        bell.ring()
        urgency.ring()
    }

    /// Lets everybody who waits go on.
    func force() {
        isForced.store(true, ordering: .relaxed)
        bell.ring()
        urgency.ring()
    }

    // MARK: For the store's thread

    /// What waits, and how many units were submitted up to it.
    func take() -> (batch: StoreBatch, submitted: Int) {
        var (batch, submitted) = state.withLock { state in
            let batch = state.batch
            state.batch = StoreBatch()
            return (batch, state.submitted)
        }
        // Behind the units: the numbers of all their readings are noted by now.
        batch.sequences = sequences.takeChanges()
        return (batch, submitted)
    }

    /// The units that wait.
    var waitingUnits: [ShardUnit] { state.withLock { $0.batch.units } }

    /// What sinks have settled, ahead of what waits with it: it may make the room that everything else waits for.
    func takeRelief() -> StoreBatch {
        state.withLock { $0.batch.takeRelief() }
    }

    /// Notes that `batch`, which goes up to `submitted`, is durable.
    func commit(_ batch: StoreBatch, through submitted: Int) {
        state.withLock { state in
            for unit in batch.units where !unit.taken.isEmpty { state.taken[unit.shard] = unit.taken }
            for unit in batch.units { for count in unit.counts { state.counts.add(count) } }
            state.committed = submitted
            state.isUrgent = false
        }
    }

    /// Notes that nothing will be committed any more.
    func end() { state.withLock { $0.isEnded = true } }

    /// Whether a commit should not wait for more.
    var isUrgent: Bool {
        state.withLock { $0.isUrgent || $0.isClosed || $0.batch.byteCount >= StoreQueue.muchBytes }
    }

    /// Whether everything is committed and no more will come.
    var isFinished: Bool { state.withLock { $0.isClosed && $0.batch.isEmpty } }

    /// Lets more come for `nanoseconds`, unless and until a commit should not wait for it.
    func rest(nanoseconds: Int64) {
        let milliseconds = Int32(clamping: (nanoseconds + 999_999) / 1_000_000)
        urgency.sleep(milliseconds: milliseconds) { isForced.load(ordering: .relaxed) || isUrgent }
    }

    /// Sleeps until something waits, or `milliseconds` passed.
    func sleep(milliseconds: Int32) {
        bell.sleep(milliseconds: milliseconds) {
            isForced.load(ordering: .relaxed) || state.withLock { !$0.batch.isEmpty || $0.isClosed || $0.isUrgent }
        }
    }
}
