@testable import Kymograph
import Testing

/// The processor time of a thread.
@Suite struct ThreadClockTests {
    @Test func showsTheTimeOfItsThreadAlone() {
        let clock = ThreadClock()
        #expect(clock.seconds == 0)
        let (hasWorked, mayEnd) = (AtomicFlag(), AtomicFlag())
        let thread = TestThread { () -> Void in
            clock.begin()
            while clock.seconds < 0.02 {}
            hasWorked.set()
            while !mayEnd.isSet { Wait.milliseconds(1) }
            clock.end()
        }
        #expect(Patience.until(seconds: 60) { hasWorked.isSet })
        let before = clock.seconds
        // What this thread works does not count there.
        let own = ThreadClock()
        own.begin()
        while own.seconds < 0.2 {}
        #expect(before >= 0.02 && clock.seconds < before + 0.1)
        mayEnd.set()
        thread.join()
        #expect(clock.seconds >= before && clock.seconds == clock.seconds)
    }
}
