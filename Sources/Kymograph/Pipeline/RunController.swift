import KymographCore

/// Decides what signals mean; pure, so that it can be tested without any. Its times are of a clock that is never set.
struct RunController {
    /// What to do.
    enum Action: Equatable {
        /// Nothing to do for the pipeline.
        case nothing
        /// Load settings and mappings again.
        case reload
        /// Stop receiving and deliver what is there.
        case drain
        /// End at once with this exit code.
        case endNow(Int32)
    }

    /// Nanoseconds from the first signal to stop to the end by force.
    var drainLimit: Int64
    private var deadline: Instant?

    init(drainLimit: Int64) {
        self.drainLimit = drainLimit
    }

    /// Takes a signal that came at `now`.
    mutating func take(_ signal: SignalWatcher.Signal, now: Instant) -> Action {
        if signal == .hangup { return deadline == nil ? .reload : .nothing }
        // The shell's convention for a process that a signal ended.
        if deadline != nil { return .endNow(128 + signal.rawValue) }
        deadline = now.advanced(by: drainLimit)
        return .drain
    }

    /// Whether draining has taken longer than its limit.
    func isOverdue(at now: Instant) -> Bool {
        deadline.map { $0 < now } ?? false
    }
}
