import Synchronization

/// What a store tells whoever uses it: messages for the operator, and that it cannot go on.
final class StoreWatch: Sendable {
    private struct State {
        var note: LogTaker?
        var end: (@Sendable (StoreError) -> Void)?
        /// Messages from before anybody listened.
        var early: [LogEntry] = []
        var failure: StoreError?
    }

    private let state = Mutex(State())

    /// Says who listens from here on, and tells what there is already.
    func begin(note: @escaping LogTaker, end: @escaping @Sendable (StoreError) -> Void) {
        let (early, failure) = state.withLock { state in
            defer { state.early = [] }
            (state.note, state.end) = (note, end)
            return (state.early, state.failure)
        }
        early.forEach(note)
        failure.map(end)
    }

    /// Tells the operator something.
    func note(_ entry: LogEntry) {
        let note = state.withLock { state in
            if state.note == nil { state.early.append(entry) }
            return state.note
        }
        note?(entry)
    }

    /// Notes that the store cannot go on; the first reason counts.
    func fail(_ error: StoreError) {
        let end = state.withLock { state in
            guard state.failure == nil else { return nil as (@Sendable (StoreError) -> Void)? }
            state.failure = error
            return state.end
        }
        end?(error)
    }

    /// Why the store cannot go on: nothing may be committed any more, because what was decided since then may rest on
    /// what could not be read.
    var failure: StoreError? { state.withLock { $0.failure } }
}
