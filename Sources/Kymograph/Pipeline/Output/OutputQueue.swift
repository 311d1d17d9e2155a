import KymographCore
import Synchronization

/// Brings blocks of entries to a stage that compresses them, on a thread of its own, so that shards do not wait for it.
///
/// For shards that write themselves, because nothing is kept. With a store, the thread that delivers compresses.
final class OutputQueue: Sendable {
    /// Blocks one after the other.
    private struct Waiting: ~Copyable {
        var bytes = ByteWriter(capacity: 1 << 16)
        var ends: [(place: Int, since: Instant)] = []
        /// The time, where the stage has not been told it.
        var tick: Instant?

        var isEmpty: Bool { ends.isEmpty && tick == nil }

        mutating func removeAll() {
            bytes.removeAll()
            ends.removeAll(keepingCapacity: true)
            tick = nil
        }
    }

    private struct State: ~Copyable {
        var waiting = Waiting()
        var isRunning = false
        var isFinishing = false
    }

    private let state = Mutex(State())
    private let bell: Doorbell
    let stage: OutputStage
    private let control: PipelineControl

    /// Bytes that may wait before shards do.
    private static let mostBytes = 4 << 20

    init(stage: OutputStage, control: PipelineControl) throws(SystemError) {
        self.stage = stage
        self.control = control
        bell = try Doorbell()
    }

    /// Starts the thread, called `name`.
    func start(_ name: String) {
        state.withLock { $0.isRunning = true }
        WorkerThread.start(name) { [self] in
            run()
            end()
        }
    }

    /// Takes a block, whose oldest entry was made at `since`; waits while too much is waiting already. That is
    /// backpressure, and nothing is lost.
    func write(_ block: ByteView, since: Instant) {
        var microseconds = 100
        while true {
            switch offer(block, since) {
            case .taken: return bell.ring()
            case .ended: return stage.giveUp()
            case .full: Wait.microseconds(microseconds)
            }
            microseconds = min(microseconds * 2, 10_000)
        }
    }

    /// Whether shards that write wait.
    var isFull: Bool { state.withLock { $0.isRunning && $0.waiting.bytes.count >= OutputQueue.mostBytes } }

    private enum Answer {
        case taken
        case full
        /// The thread has ended, which it does only by force while shards write.
        case ended
    }

    private func offer(_ block: ByteView, _ since: Instant) -> Answer {
        state.withLock { state in
            guard state.isRunning else { return .ended }
            guard state.waiting.bytes.count < OutputQueue.mostBytes else { return .full }
            state.waiting.bytes.append(block)
            state.waiting.ends.append((state.waiting.bytes.count, since))
            return .taken
        }
    }

    /// Tells the stage the time, after the blocks that were taken before.
    func tick(_ now: Instant) {
        state.withLock { $0.waiting.tick = now }
        bell.ring()
    }

    /// Waits until the stage has everything, and its thread has ended.
    func finish() {
        state.withLock { $0.isFinishing = true }
        bell.ring()
        while !control.isForced, state.withLock({ $0.isRunning }) { Wait.microseconds(200) }
    }

    private func run() {
        var taken = Waiting()
        while !control.isForced {
            let isLast = state.withLock { state in
                swap(&state.waiting, &taken)
                return state.isFinishing
            }
            deliver(taken)
            let isIdle = taken.isEmpty
            taken.removeAll()
            if !isIdle { continue }
            if isLast { return }
            bell.sleep(milliseconds: 100) { state.withLock { !$0.waiting.isEmpty || $0.isFinishing } }
        }
    }

    /// Takes no more. After an end by force, what waits is lost, and must be counted.
    private func end() {
        let left = state.withLock { state in
            state.isRunning = false
            return state.waiting.ends.count
        }
        for _ in 0..<left { stage.giveUp() }
    }

    private func deliver(_ taken: borrowing Waiting) {
        var start = 0
        for end in taken.ends {
            stage.deliver(taken.bytes.view[start..<end.place], since: end.since)
            start = end.place
        }
        if let now = taken.tick { stage.tick(now) }
    }
}
