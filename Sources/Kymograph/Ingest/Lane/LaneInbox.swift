import Synchronization

/// What other threads tell a running lane, and what they see of its sources.
final class LaneInbox: Sendable {
    /// What a lane is to do.
    enum Change: Sendable {
        /// Read another source, which is open.
        case add(LaneSource)
        /// Take what has come by the source of this number, answer its clients, and close it.
        case remove(Int)
        /// Have the limits of clients of this configuration for the source of its number.
        case limit(SourceConfiguration)
        /// Follow what settings and mappings are in use now, also while nothing comes.
        case look
    }

    private struct State {
        var sources: [LaneSource]
        var changes: [Change] = []
        /// Whether changes are being made.
        var isBusy = false
        /// Numbers of removed sources whose clients still hear what became of what they sent.
        var leaving: Set<Int> = []
        /// Whether the lane has ended.
        var isOver = false
    }

    private let state: Mutex<State>
    private let waiting = Atomic(false)

    init(_ sources: [LaneSource]) { state = Mutex(State(sources: sources)) }

    /// The sources of the lane, those that are gone included: each keeps its place.
    var sources: [LaneSource] { state.withLock { $0.sources } }

    /// Whether changes wait.
    var hasChanges: Bool { waiting.load(ordering: .relaxed) }

    /// Whether no change waits or is being made.
    var isSettled: Bool { state.withLock { $0.isOver || $0.changes.isEmpty && !$0.isBusy } }

    /// Whether clients of the removed source `number` are still there.
    func isLeaving(_ number: Int) -> Bool { state.withLock { !$0.isOver && $0.leaving.contains(number) } }

    /// Has the lane make `changes` soon, in their order. When it has ended, what they would have it read is closed.
    func give(_ changes: [Change]) {
        guard !changes.isEmpty else { return }
        let isOver = state.withLock { state in
            if !state.isOver { state.changes += changes }
            return state.isOver
        }
        if isOver { LaneInbox.close(changes) } else { waiting.store(true, ordering: .relaxed) }
    }

    /// Takes what waits; ``publish(_:leaving:)`` says that it is made.
    func take() -> [Change] {
        waiting.store(false, ordering: .relaxed)
        return state.withLock { state in
            defer { (state.changes, state.isBusy) = ([], true) }
            return state.changes
        }
    }

    /// Shows the sources of the lane, now that all changes are made that were taken.
    func publish(_ sources: [LaneSource], leaving: Set<Int>) {
        state.withLock { ($0.sources, $0.leaving, $0.isBusy) = (sources, leaving, false) }
    }

    /// Notes that the lane has ended, and closes what it was still to read; gives its sources.
    func end() -> [LaneSource] {
        let (sources, changes) = state.withLock { state in
            defer { (state.changes, state.isOver) = ([], true) }
            return (state.sources, state.changes)
        }
        LaneInbox.close(changes)
        return sources
    }

    private static func close(_ changes: [Change]) {
        for case .add(let source) in changes { source.opened.close() }
    }
}

/// How many sources of all lanes of a pipeline can still give something. For any thread.
final class LiveSources: Sendable {
    private let count = Atomic(0)
    /// Whether others may come while lanes run: then a lane without sources goes on as long as others have some.
    let mayGrow: Bool

    init(mayGrow: Bool) { self.mayGrow = mayGrow }

    /// Whether none can.
    var isZero: Bool { count.load(ordering: .relaxed) == 0 }

    /// Notes that `number` more can.
    func enter(_ number: Int) { count.add(number, ordering: .relaxed) }

    /// Notes that `number` cannot any more.
    func leave(_ number: Int = 1) { count.subtract(number, ordering: .relaxed) }
}
