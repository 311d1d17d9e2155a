import Glibc
import KymographCore
import Synchronization

/// Does the requests of a playground one after the other, on one thread of the lowest priority that lives as long as
/// the queue. Where the system starts no thread, the next request tries it again.
final class PlaygroundQueue: Sendable {
    private struct State {
        var waiting: [PlaygroundJob] = []
        var atWork: PlaygroundJob?
        /// Whether the thread runs: it says so itself, since nobody else is told.
        var hasThread = false
        var isClosed = false
    }

    private let state = Mutex(State())
    private let bell: Doorbell
    /// Of the parsers and evaluators, which call themselves.
    private static let stackBytes = 8 << 20
    /// Requests that wait at once.
    private static let mostWaiting = 3

    init() throws(SystemError) { bell = try Doorbell() }

    /// Adds a request.
    ///
    /// - Throws: ``Playground/Refusal`` while one whose time is over is at work, or as many wait as may.
    func add(_ job: PlaygroundJob) throws(Playground.Refusal) {
        let needsThread = try state.withLock { state throws(Playground.Refusal) in
            if let atWork = state.atWork, atWork.isOver { throw .slow }
            guard state.waiting.count < Self.mostWaiting else { throw .busy }
            state.waiting.append(job)
            return !state.hasThread
        }
        if needsThread { start() }
        bell.ring()
    }

    /// Whoever asked for `job` has gone: whether it had begun.
    func giveUp(_ job: PlaygroundJob) -> Bool {
        state.withLock { state in
            guard let place = state.waiting.firstIndex(where: { $0 === job }) else { return true }
            state.waiting.remove(at: place)
            return false
        }
    }

    /// Ends the thread when it has nothing more at work.
    func close() {
        state.withLock { $0.isClosed = true }
        bell.ring()
    }

    private func start() {
        WorkerThread.start("kymo-playground", stackBytes: Self.stackBytes) { [self] in
            let isFirst = state.withLock { state in
                defer { state.hasThread = true }
                return !state.hasThread
            }
            guard isFirst else { return }
            // Of this thread alone; the pipeline's come first. Nothing is lost where the system does not allow it.
            _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 19)
            while let job = next() {
                let answer = job.work()
                // Before the answer, so that whoever has it finds room for the next request.
                state.withLock { $0.atWork = nil }
                job.finish(answer)
            }
        }
    }

    /// The next request; nil when there will be none.
    private func next() -> PlaygroundJob? {
        while true {
            let (job, isClosed) = state.withLock { state -> (PlaygroundJob?, Bool) in
                if state.isClosed { return (nil, true) }
                guard !state.waiting.isEmpty else { return (nil, false) }
                state.atWork = state.waiting.removeFirst()
                return (state.atWork, false)
            }
            if job != nil || isClosed { return job }
            bell.sleep(milliseconds: -1) { state.withLock { !$0.waiting.isEmpty || $0.isClosed } }
        }
    }
}

/// A request to a playground.
final class PlaygroundJob: Sendable {
    /// When whoever asks waits no longer.
    let end: ContinuousClock.Instant
    private let body: @Sendable (ContinuousClock.Instant) -> Playground.Answer
    private let answer = Mutex<Playground.Answer?>(nil)
    private let bell: Doorbell

    init(
        until end: ContinuousClock.Instant,
        _ body: @escaping @Sendable (ContinuousClock.Instant) -> Playground.Answer
    ) throws(SystemError) {
        (self.end, self.body) = (end, body)
        bell = try Doorbell()
    }

    var isOver: Bool { ContinuousClock.now >= end }

    /// What comes out.
    func work() -> Playground.Answer { body(end) }

    func finish(_ answer: Playground.Answer) {
        self.answer.withLock { $0 = answer }
        bell.ring()
    }

    /// The answer; nil when there is none in time.
    func wait() -> Playground.Answer? {
        while true {
            if let answer = answer.withLock({ $0 }) { return answer }
            let left = ContinuousClock.now.duration(to: end)
            guard left > .zero else { return nil }
            bell.sleep(milliseconds: left.wholeMilliseconds + 1) { answer.withLock { $0 != nil } }
        }
    }
}
