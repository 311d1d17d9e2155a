import KymographCore
import Testing

/// Readings that come hours late: their window waits a little for more of them, and then is shown once.
@Suite struct WindowHoldTests {
    private func run(hold: Int64, idle: Int64 = 0) -> WindowRun {
        WindowRun(settings: WindowSettings(lateness: 30 * second, idle: idle, lateHold: hold))
    }

    /// A minute of readings, and one an hour later that closes it; then 50 late ones, all received at second 4,000.
    private func deliverLate(to run: inout WindowRun) {
        for time in 0..<10 { run.add(.at(Int64(time))) }
        run.add(.at(3_600))
        run.take()
        #expect(run.statuses(0) == [.final])
        for time in 10..<60 {
            #expect(run.add(.at(Int64(time), received: 4_000)) == .accepted)
            run.take()
        }
    }

    @Test func lateReadingsAreShownTogether() {
        var run = run(hold: second)
        deliverLate(to: &run)
        #expect(run.statuses(0) == [.final])
        run.machine.tick(now: Instant(seconds: 4_000))
        run.take()
        #expect(run.statuses(0) == [.final])
        run.machine.tick(now: Instant(seconds: 4_001))
        run.take()
        #expect(run.statuses(0) == [.final, .amended])
        #expect(run.shown.last?.content.split(separator: "\n").count == 60)
        run.finish()
        #expect(run.statuses(0) == [.final, .amended])
    }

    /// A wall clock that is set ahead does not end the wait.
    @Test func theWaitIsMeasuredByAClockThatIsNotSet() {
        var run = run(hold: 10 * second)
        deliverLate(to: &run)
        for (received, steady) in [(4_000, 50), (8_000, 55), (8_004, 59)] as [(Int64, Int64)] {
            run.machine.tick(now: Instant(seconds: received), steady: Instant(seconds: steady))
            run.take()
            #expect(run.statuses(0) == [.final])
        }
        run.machine.tick(now: Instant(seconds: 8_005), steady: Instant(seconds: 60))
        run.take()
        #expect(run.statuses(0) == [.final, .amended])
        run.finish()
    }

    @Test func withoutHoldEachIsShown() {
        var run = run(hold: 0)
        deliverLate(to: &run)
        #expect(run.statuses(0).count == 51)
        run.finish()
    }

    @Test func liveReadingsOfTheSeriesDoNotEndTheWait() {
        var run = run(hold: 10 * second)
        deliverLate(to: &run)
        for time in 3_601..<3_700 { run.add(.at(Int64(time), received: 4_001)) }
        run.take()
        #expect(run.statuses(0) == [.final])
        run.machine.tick(now: Instant(seconds: 4_010))
        run.take()
        #expect(run.statuses(0) == [.final, .amended])
        run.finish()
    }

    @Test func drainDoesNotWait() {
        var run = run(hold: 3_600 * second)
        deliverLate(to: &run)
        run.finish()
        #expect(run.statuses(0) == [.final, .amended])
    }

    /// Records are reused: a window that takes the place of one that was held must not be closed for it.
    @Test func anEndedWaitDoesNotCloseAnotherWindow() {
        var run = run(hold: second, idle: 5 * second)
        deliverLate(to: &run)
        run.machine.tick(now: Instant(seconds: 4_006))
        run.take()
        #expect(run.machine.counters.openWindows == 0)
        run.add(.at(7_200, received: 4_006))
        run.machine.tick(now: Instant(seconds: 4_010))
        run.take()
        #expect(run.machine.counters.openWindows == 1)
        run.finish()
    }
}
