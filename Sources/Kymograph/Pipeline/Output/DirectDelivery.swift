import KymographCore
import Synchronization

/// Brings entries straight to standard output or to files, where that is the only sink, and their windows to the store
/// when they are there for good: the file is the outbox then, and nothing is written twice.
///
/// The journal does not wait for it. After a crash, windows that were written and not yet archived come again.
final class DirectDelivery: UnitDelivery {
    private struct State {
        var units: [ShardUnit] = []
        var bytes = 0
        var isFinishing = false
        /// Shards that wait for room.
        var waitingShards: Set<Int> = []
        /// Units taken, and units whose windows have been handed on, since the beginning; both are in order.
        var submitted = 0
        var settled = 0
    }

    private let state = Mutex(State())
    private let bell: Doorbell
    private let output: OutputStage
    private let control: PipelineControl
    /// Takes units whose entries are delivered; it should not wait for room, which they may make.
    private let delivered: @Sendable (ShardUnit) -> Void
    /// Takes the names of types whose readings are delivered.
    private let taken: @Sendable (Set<String>) -> Void

    /// Bytes that may wait before shards do; nanoseconds between two synchronisations.
    private static let mostBytes = 32 << 20
    private static let interval: Int64 = 100_000_000

    init(
        output: OutputStage, control: PipelineControl, taken: @escaping @Sendable (Set<String>) -> Void = { _ in },
        delivered: @escaping @Sendable (ShardUnit) -> Void
    ) throws(SystemError) {
        self.taken = taken
        self.output = output
        self.control = control
        self.delivered = delivered
        bell = try Doorbell()
    }

    /// Takes a unit without its journal; waits while too much is waiting already.
    func submit(_ unit: ShardUnit) {
        var microseconds = 100
        while !control.isForced {
            let isTaken = state.withLock { state in
                guard state.bytes < DirectDelivery.mostBytes else {
                    state.waitingShards.insert(unit.shard)
                    return false
                }
                state.waitingShards.remove(unit.shard)
                state.units.append(unit)
                state.bytes += unit.byteCount
                state.submitted += 1
                return true
            }
            if isTaken { return bell.ring() }
            Wait.microseconds(microseconds)
            microseconds = min(microseconds * 2, 10_000)
        }
    }

    var waitingShards: Set<Int> { state.withLock { $0.waitingShards } }

    var submittedUnits: Int { state.withLock { $0.submitted } }

    func isDelivered(_ count: Int) -> Bool { state.withLock { $0.settled >= count } }

    /// Waits until everything that was submitted before has been delivered; other shards may go on submitting.
    func waitUntilDelivered() {
        let last: Int? = state.withLock { $0.settled < $0.submitted ? $0.submitted : nil }
        guard let last else { return }
        bell.ring()
        while !control.isForced, state.withLock({ $0.settled < last }) { Wait.microseconds(200) }
    }

    /// ``run()`` returns when nothing waits.
    func finish() {
        state.withLock { $0.isFinishing = true }
        bell.ring()
    }

    /// Delivers until told to finish, or until the pipeline is ended by force.
    func run() {
        // Units whose entries are written, and whether that has to be synchronised.
        var (written, isAhead) = ([ShardUnit](), false)
        var blocks = WrittenBlocks()
        var synchronised = MonotonicClock.instant
        while !control.isForced {
            let isLast = state.withLock { $0.isFinishing }
            var units = take()
            guard write(&units, &isAhead, &blocks) else { return }
            written += units
            let now = MonotonicClock.instant
            if !units.isEmpty { output.tick(now) }
            let age = now.nanoseconds &- synchronised.nanoseconds
            if !written.isEmpty, units.isEmpty || age >= DirectDelivery.interval {
                guard settle(written, isAhead) else { return }
                let (since, types) = blocks.take()
                output.noteDelivered(since)
                if !types.isEmpty { taken(types) }
                (written, isAhead) = ([], false)
                synchronised = now
            }
            if units.isEmpty {
                if isLast { return }
                output.tick(now)
                bell.sleep(milliseconds: 100) { state.withLock { !$0.units.isEmpty || $0.isFinishing } }
            }
        }
    }

    private func take() -> [ShardUnit] {
        state.withLock { state in
            let units = state.units
            state.units = []
            state.bytes = 0
            return units
        }
    }

    /// Writes the entries of `units`, notes when they were made, and forgets them: until they are synchronised they
    /// would be many megabytes.
    private func write(_ units: inout [ShardUnit], _ hasWritten: inout Bool, _ blocks: inout WrittenBlocks) -> Bool {
        for place in units.indices {
            for block in units[place].blocks {
                CrashPoint.beforeSend.pass()
                guard block.bytes.withByteView({ output.writeOnce($0) }) else { return false }
                CrashPoint.afterSend.pass()
                hasWritten = true
                blocks.note(block.bytes, since: block.since)
            }
            units[place].blocks = []
        }
        return true
    }

    /// Makes durable what was written, if anything was (`isAhead`), and hands the windows on.
    private func settle(_ units: [ShardUnit], _ isAhead: Bool) -> Bool {
        guard !isAhead || output.synchronise() else { return false }
        CrashPoint.beforeReceipt.pass()
        units.forEach(delivered)
        state.withLock { $0.settled += units.count }
        return true
    }
}
