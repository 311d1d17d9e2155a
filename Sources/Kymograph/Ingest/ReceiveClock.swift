import KymographCore
import Synchronization

/// The clock of receive times, which decide whose value stays when two differ: it never goes back, whatever the wall
/// clock does, in a process and, from where its store says that it was, across restarts.
///
/// While the wall clock is behind, it goes on at half its pace until that has caught up, so that what is late by it is
/// late by no more than twice. Mapping goes by the wall clock itself, and silence by neither (``MonotonicClock``).
final class ReceiveClock: Sendable {
    private struct State {
        /// The latest look at the wall clock, and what this clock showed then, in nanoseconds.
        var wall: Int64
        var shown: Int64
    }

    private let state: Mutex<State>
    /// Nanoseconds by which it was ahead of the wall clock when it was last asked.
    private let latestLead = Atomic<Int64>(0)

    /// Begins at `now`, or later: after `last`, which an earlier run has seen.
    init(after last: Instant = .distantPast, now: Instant = WallClock.now()) {
        let shown = max(last.nanoseconds, now.nanoseconds)
        state = Mutex(State(wall: now.nanoseconds, shown: shown))
        latestLead.store(shown - now.nanoseconds, ordering: .relaxed)
    }

    /// Nanoseconds by which it is ahead at `wall`, by the wall clock. With `isLater` it goes on by one: what it shows
    /// is later than all that it has shown.
    func lead(at wall: Instant, isLater: Bool = false) -> Int64 {
        let lead = state.withLock { state in
            let passed = max(0, wall.nanoseconds &- state.wall)
            state.wall = wall.nanoseconds
            state.shown = max(wall.nanoseconds, state.shown &+ passed / 2) + (isLater ? 1 : 0)
            return state.shown - wall.nanoseconds
        }
        latestLead.store(lead, ordering: .relaxed)
        return lead
    }

    /// What it shows at `wall`, by the wall clock.
    func asked(at wall: Instant) -> Instant { wall.advanced(by: lead(at: wall)) }

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
    func time(at wall: Instant) -> Instant {
        latestLead.load(ordering: .relaxed) == 0 ? wall : asked(at: wall)
    }

    /// The latest time that it has shown.
    var latest: Instant { state.withLock { Instant(nanoseconds: $0.shown) } }
}
