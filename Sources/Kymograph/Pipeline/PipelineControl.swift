import Synchronization

/// What the threads of a pipeline tell each other: that it ends, that it ends by force, that it failed.
final class PipelineControl: Sendable {
    /// Why a pipeline failed.
    struct Failure: Sendable {
        var message: String
        var exitCode: Int32
    }

    private let forced = Atomic(false)
    private let failure = Mutex<Failure?>(nil)
    private let notes: @Sendable (String) -> Void
    /// Rung when a thread ends or fails: wakes the controlling thread.
    let changed: Doorbell

    init(notes: @escaping @Sendable (String) -> Void) throws(SourceError) {
        self.notes = notes
        changed = try Doorbell()
    }

    /// Whether everything must end now, delivered or not.
    var isForced: Bool { forced.load(ordering: .relaxed) }

    /// Ends everything now.
    func force() { forced.store(true, ordering: .relaxed) }

    /// Tells the operator something, once.
    func note(_ text: String) { notes(text) }

    /// Notes a failure that ends the pipeline; the first one counts.
    func fail(_ message: String, exitCode: Int32) {
        failure.withLock { known in
            if known == nil { known = Failure(message: message, exitCode: exitCode) }
        }
        force()
        changed.ring()
    }

    /// The failure, if there was one.
    var currentFailure: Failure? { failure.withLock { $0 } }

    /// Waits a little, less when the pipeline is ended by force.
    func pause(milliseconds: Int) {
        var left = milliseconds
        while left > 0 && !isForced {
            Wait.milliseconds(min(left, 20))
            left -= 20
        }
    }
}
