package import KymographCore
import Synchronization

/// Measures what comes out of a pipeline against a ``LatencyPlan``. For two threads: one that sends, one that reads.
package final class LatencyMeter: Sendable {
    private struct State {
        var times = EffectiveTimes()
        var figures = LatencyFigures()
        var start: Instant?
        var seen = 0
    }

    private let plan: LatencyPlan
    private let state = Mutex(State())
    /// Apart, because the sender asks with every reading, and must not wait for what is being taken.
    private let ended = Atomic(false)

    /// Measures nothing before ``begin(_:)``.
    package init(_ plan: LatencyPlan) { self.plan = plan }

    /// The first reading of the plan is due at `start`.
    package func begin(_ start: Instant) { state.withLock { $0.start = start } }

    /// Takes a piece of output that was there at `now`.
    package func take(_ piece: ArraySlice<UInt8>, now: Instant) {
        state.withLock { state in
            var times = state.times
            state.times = EffectiveTimes()
            times.take(piece) { time in
                state.seen += 1
                let due = plan.due(completing: time)
                guard let start = state.start, plan.measures(due, start: start) else { return }
                state.figures.record(now.nanoseconds - due.nanoseconds)
            }
            state.times = times
        }
    }

    /// The output has ended.
    package func end() { ended.store(true, ordering: .releasing) }

    /// Whether it has.
    package var hasEnded: Bool { ended.load(ordering: .acquiring) }

    /// Observations that came out, those that are not measured among them.
    package var seen: Int { state.withLock { $0.seen } }

    /// How long those that are measured took.
    package var figures: LatencyFigures { state.withLock { $0.figures } }
}
