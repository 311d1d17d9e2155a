@testable import Kymograph
import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// Receive times decide which of two values stays: they must not go back when the wall clock does.
@Suite struct ReceiveClockTests {
    private let start = Instant(seconds: 1_900_000_000)

    private func at(_ seconds: Double) -> Instant { start.advanced(by: Int64(seconds * 1e9)) }

    @Test func followsTheWallClock() {
        let clock = ReceiveClock(now: start, steady: start)
        for seconds in [0.0, 0.001, 2, 3_600] {
            #expect(clock.lead(at: at(seconds), steady: at(seconds)) == 0)
            #expect(clock.time(at: at(seconds), steady: at(seconds)) == at(seconds))
        }
    }

    /// A clock that stands still for as long as it was set back would keep quiet windows open; one that goes on as
    /// before would never agree with the wall clock again.
    @Test func catchesUpAtHalfThePace() {
        let clock = ReceiveClock(now: start, steady: at(0))
        _ = clock.lead(at: at(100), steady: at(100))
        #expect(clock.lead(at: at(90), steady: at(100)) == 10_000_000_000)
        #expect(clock.time(at: at(92), steady: at(102)) == at(101))
        #expect(clock.time(at: at(110), steady: at(120)) == at(110))
        #expect(clock.lead(at: at(112), steady: at(122)) == 0)
    }

    /// What takes a reading back is later than all that came at the same moment before it, and what comes behind it is
    /// later still.
    @Test func goesOnForWhatTakesReadingsBack() {
        let clock = ReceiveClock(now: start, steady: start)
        #expect(clock.lead(at: at(1), steady: start) == 0)
        #expect(clock.ownLead(at: at(1), steady: start) == 1 && clock.lead(at: at(1), steady: start) == 2)
        #expect(clock.ownLead(at: at(1), steady: start) == 3 && clock.latest == at(1).advanced(by: 4))
        #expect(clock.time(at: at(1), steady: start) == clock.latest && clock.lead(at: at(2), steady: start) == 0)
    }

    /// Whoever asks for a time that was read a moment before, as often as there are rejections or retractions in what
    /// came then, sets no clock back. Catches a clock that counts that moment again with each, and is minutes ahead.
    @Test(arguments: [false, true]) func anEarlierTimeIsNoStepBack(isOwn: Bool) {
        let clock = ReceiveClock(now: start, steady: start)
        for step in 0..<1_000 {
            let steady = start.advanced(by: Int64(step) * 1_000)
            _ = isOwn ? clock.ownLead(at: start, steady: steady) : clock.lead(at: start, steady: steady)
            _ = clock.asked(at: at(0.005), steady: steady)
        }
        // By half of the millisecond that all of it takes, and two nanoseconds for each that has a time of its own.
        #expect(clock.latest <= at(0.005).advanced(by: isOwn ? 502_000 : 500_000))
        #expect(clock.time(at: at(1), steady: at(1)) == at(1))
    }

    /// Where nothing comes, who looks at silence asks. Catches a clock that is set back with nothing to notice it.
    @Test func whoAsksNoticesAClockThatIsSetBack() {
        let clock = ReceiveClock(now: start, steady: at(0))
        #expect(clock.asked(at: at(100), steady: at(100)) == at(100))
        #expect(clock.asked(at: at(90), steady: at(100)) == at(100))
        #expect(clock.time(at: at(92), steady: at(102)) == at(101))
    }

    /// It goes on where the store says that it was, at times that are seeded and jump in both directions.
    @Test(arguments: Trials.seeds(3)) func neverGoesBack(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var clock = ReceiveClock(now: start)
        var (wall, steady, last) = (0.0, 0.0, Instant.distantPast)
        for step in 0..<2_000 {
            wall += Double.random(in: step % 97 == 0 ? -1e6...1e6 : -0.01...0.1, using: &generator)
            steady += Double.random(in: 0...0.1, using: &generator)
            if step % 200 == 0 { clock = ReceiveClock(after: clock.latest, now: at(wall), steady: at(steady)) }
            let shown = at(wall).advanced(by: clock.lead(at: at(wall), steady: at(steady)))
            #expect(shown >= last && shown >= at(wall))
            last = shown
        }
    }

    /// A lane stamps what comes later with a later time, though by the wall clock it came before: the correction wins.
    /// What a clock ahead is measured by stays the wall clock.
    @Test func theLaterMessageWins() throws {
        let set = try #require(PipelineRehearsal.reading)
        var rehearsal = PipelineRehearsal(set: set, settings: WindowSettings(idle: 0), now: start)
        rehearsal.record.clock = ReceiveClock(now: start)
        func line(_ seconds: Double, _ value: Int) -> [UInt8] {
            Array(
                """
                {"deviceId":"w","type":"bodyMass","timestamp":"\(at(seconds).text)","value":\(value),"unit":"kg"}
                """.utf8)
        }
        // A year ahead, by mistake, and back: the correction comes after that.
        let year: Double = 31_536_000
        for (wall, value) in [(10.0, 60), (year, 61), (20, 62)] {
            rehearsal.now = at(wall)
            rehearsal.take(line(5, value), isBatchEnd: true)
        }
        rehearsal.take(line(year / 2, 63), isBatchEnd: true)
        #expect(rehearsal.record.laneRejected == [.clockAhead: 1])
        let observations = try rehearsal.end().observations.values
        #expect(observations.count == 1)
        #expect(rehearsal.record.tally.rejected[Int(Rejection.superseded.rawValue)] == 2)
        #expect(observations.first?["valueQuantity"]?["value"] == .number("62"), "\(observations)")
    }

    /// A restart with a wall clock that was set back goes on where the store says that the clock was, and so does one
    /// after a repair. Catches a correction that seems older than what it corrects.
    @Test(arguments: [false, true]) func goesOnAfterARestart(isRepaired: Bool) throws {
        let set = try #require(PipelineRehearsal.reading)
        let scratch = Scratch(inMemory: true)
        let ahead = WallClock.now().advanced(by: 3_600_000_000_000)
        try fill(scratch.path, set, at: ahead, isRepaired)
        let store = try Store(path: scratch.path)
        defer { store.close() }
        #expect(Files.exists(store.directory.damaged) == isRepaired)
        #expect(store.receiveClock.latest >= ahead)
        #expect(store.receiveClock.lead(at: WallClock.now()) > 3_000_000_000_000)
    }

    /// A run that receives readings at `time`, and leaves the store to be repaired, or not.
    private func fill(_ path: String, _ set: MappingSet, at time: Instant, _ isRepaired: Bool) throws {
        var run = try StoredRun(path, set: set)
        _ = run.store.receiveClock.lead(at: time)
        try run.take(Array(BitRotTests.early.prefix(30)), delivers: true)
        if isRepaired { try run.store.directory.mark("a test asks for it") }
        try run.end()
    }
}
