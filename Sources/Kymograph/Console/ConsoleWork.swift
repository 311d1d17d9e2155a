import Synchronization

/// Answers that take time, one after the other on a thread that exists while there are any.
final class ConsoleWork: Sendable {
    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var isRunning = false
        var isStopped = false
    }

    /// Most answers that may wait.
    static let mostWaiting = 64

    private let name: String
    private let state = Mutex(State())

    /// Its thread is called `name`.
    init(_ name: String) { self.name = name }

    /// Has `body` called soon; false when too many wait, or it was stopped.
    func add(_ body: @escaping @Sendable () -> Void) -> Bool {
        let (isTaken, begins) = state.withLock { state -> (Bool, Bool) in
            guard !state.isStopped, state.waiting.count < Self.mostWaiting else { return (false, false) }
            state.waiting.append(body)
            defer { state.isRunning = true }
            return (true, !state.isRunning)
        }
        if begins { WorkerThread.start(name) { [self] in run() } }
        return isTaken
    }

    /// Takes nothing any more, and leaves out what waits.
    func stop() {
        state.withLock { state in
            state.waiting = []
            state.isStopped = true
        }
    }

    private func run() {
        while let body = next() { body() }
    }

    private func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isRunning = false
                return nil
            }
            return state.waiting.removeFirst()
        }
    }
}
