import KymographCore
import Synchronization

/// The clock of receive times, which decide whose value stays when two differ: it never goes back, whatever the wall
/// clock does, in a process and, from where its store says that it was, across restarts.
///
/// While the wall clock is behind, it goes on at half its pace until that has caught up, so that what is late by it is
/// late by no more than twice. What has passed is measured by the clock that is never set: who asks for a time that was
/// read long before does not set the wall clock back. Mapping goes by the wall clock itself, and silence by neither
/// (``MonotonicClock``).
final class ReceiveClock: Sendable {
    private struct State {
        /// When it was last asked, by the clock that is never set, and what it showed then, in nanoseconds.
        var steady: Int64
        var shown: Int64

        /// Goes on to `steady`, and to `wall` at least.
        mutating func goOn(to steady: Instant, wall: Instant) {
            let passed = max(0, steady.nanoseconds - self.steady)
            self.steady += passed
            shown = max(wall.nanoseconds, shown &+ passed / 2)
        }
    }

    private let state: Mutex<State>
    /// Nanoseconds by which it was ahead of the wall clock when it was last asked.
    private let latestLead = Atomic<Int64>(0)

    /// Begins at `now`, or later: after `last`, which an earlier run has seen.
    init(
        after last: Instant = .distantPast, now: Instant = WallClock.now(), steady: Instant = MonotonicClock.instant
    ) {
        let shown = max(last.nanoseconds, now.nanoseconds)
        state = Mutex(State(steady: steady.nanoseconds, shown: shown))
        latestLead.store(shown - now.nanoseconds, ordering: .relaxed)
    }

    /// Nanoseconds by which it is ahead at `wall`, by the wall clock; `steady` is by the one that is never set.
    func lead(at wall: Instant, steady: Instant = MonotonicClock.instant) -> Int64 {
        let lead = state.withLock { state in
            state.goOn(to: steady, wall: wall)
            return state.shown - wall.nanoseconds
        }
        latestLead.store(lead, ordering: .relaxed)
        return lead
    }

    /// The same for what is to have a time of its own: later than all that it has shown, and earlier than all that it
    /// will show.
    func ownLead(at wall: Instant, steady: Instant = MonotonicClock.instant) -> Int64 {
        let lead = state.withLock { state in
            state.goOn(to: steady, wall: wall)
            state.shown += 2
            return state.shown - 1 - wall.nanoseconds
        }
        latestLead.store(lead + 1, ordering: .relaxed)
        return lead
    }

    /// What it shows at `wall`, by the wall clock.
    func asked(at wall: Instant, steady: Instant = MonotonicClock.instant) -> Instant {
        wall.advanced(by: lead(at: wall, steady: steady))
    }

    /// What it shows now, and the clock that is never set at the same moment: asked, so that a wall clock which is set
    /// back is noticed where nothing comes, too. Where the thread had to wait between the two clocks, they are read
    /// again, a few times at most.
    func look() -> (now: Instant, steady: Instant) {
        var before = MonotonicClock.instant
        for _ in 0..<Self.mostLooks {
            let now = asked(at: WallClock.now())
            let after = MonotonicClock.instant
            if after.nanoseconds - before.nanoseconds < Self.longestLook { return (now, after) }
            before = after
        }
        return (asked(at: WallClock.now()), before)
    }

    /// How often the clocks are read for one look, and nanoseconds that one may take.
    private static let (mostLooks, longestLook): (Int, Int64) = (4, 1_000_000)

    /// As ``asked(at:)``, for those who look often: it costs nothing while the clocks agree, and goes back with the
    /// wall clock until someone asks.
    func time(at wall: Instant, steady: Instant? = nil) -> Instant {
        guard latestLead.load(ordering: .relaxed) != 0 else { return wall }
        return asked(at: wall, steady: steady ?? MonotonicClock.instant)
    }

    /// The latest time that it has shown.
    var latest: Instant { state.withLock { Instant(nanoseconds: $0.shown) } }
}
