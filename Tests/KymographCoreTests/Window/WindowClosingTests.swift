import KymographCore
import Testing
import TrialSupport

@Suite struct WindowClosingTests {
    /// Readings with conflicts, partial values and disorder far beyond lateness, received in order.
    static func disorder(_ random: inout WindowRandom, count: Int, series: Int) -> [TestReading] {
        (0..<count).map { index in
            let instant = Int64(random.int(-150...150)) * 2 * second
            var reading = TestReading(
                series: random.int(0...series - 1), instant: instant, received: Int64(index) * second)
            for slot in [0, 1, 4, 6] where random.once(in: 2) {
                reading.values[slot] = .number(Int64(random.int(1...3)), 0)
            }
            if random.once(in: 3) { reading.values[3] = .text("t\(random.int(1...2))") }
            return reading
        }
    }

    @Test(arguments: [Grouping.tumbling(nanoseconds: minute), .instance, .correlation])
    func theLastEmissionIsTheOracleWheneverWindowsClose(_ grouping: Grouping) {
        let period: Int64 =
            switch grouping {
            case .tumbling(let nanoseconds): nanoseconds
            case .instance: 1
            case .correlation: 0
            }
        for seed in Trials.seeds(tenthOf: 300) {
            var random = WindowRandom(seed: seed)
            let limits = WindowLimits(preliminaryEvery: random.int(0...4))
            let settings = WindowSettings(
                lateness: Int64(random.int(0...90)) * second, idle: 3 * second, limits: limits)
            var run = WindowRun(grouping, series: 2, settings: settings)
            var oracle = WindowOracle(period: period)
            for reading in WindowClosingTests.disorder(&random, count: 120, series: 2) {
                let expected = oracle.add(reading)
                #expect(run.add(reading) == expected, "seed \(seed)")
                if random.once(in: 3) { run.take() }
                let now = reading.received + Int64(random.int(0...5)) * second
                if random.once(in: 4) { run.machine.tick(now: Instant(nanoseconds: now)) }
                if random.once(in: 50) { run.finish() }
            }
            run.finish()
            #expect(run.last == oracle.contents, "seed \(seed)")
            #expect(WindowClosingTests.areStatusesInOrder(run.shown), "seed \(seed)")
        }
    }

    /// Per window: preliminary ones first, then one final, then only amended; and never the same content twice.
    static func areStatusesInOrder(_ shown: [WindowRun.Shown]) -> Bool {
        Dictionary(grouping: shown, by: \.name).values.allSatisfy { emissions in
            let settled = emissions.drop { $0.status == .preliminary }
            let rest = settled.dropFirst()
            return settled.first?.status == .final && rest.allSatisfy { $0.status == .amended }
        }
    }

    @Test func quietSeriesAreClosedAtTheIdleTimeOnly() {
        var run = WindowRun(series: 2, settings: WindowSettings(idle: 10 * second))
        run.add(.at(5, received: 100))
        run.add(.at(5, received: 103, series: 1))
        run.machine.tick(now: Instant(seconds: 109))
        run.take()
        #expect(run.shown.isEmpty)
        run.machine.tick(now: Instant(seconds: 110))
        run.take()
        #expect(run.shown.map(\.name.series) == [0])
        run.machine.tick(now: Instant(seconds: 113))
        run.take()
        #expect(run.shown.map(\.name.series) == [0, 1])
    }

    /// Against looking at each series at each tick: which ones are closed when, and in which order.
    @Test func everyQuietSeriesIsClosedInTimeAndNoOther() {
        for seed in Trials.seeds(40) {
            var random = WindowRandom(seed: seed)
            // One window of all time for each: nothing but quiet closes it.
            var run = WindowRun(.correlation, series: 12, settings: WindowSettings(idle: 10 * second))
            var latest: [Int: Int64] = [:]
            var expected: [Int] = []
            for step in 1...400 {
                let now = Int64(step)
                if random.once(in: 2) {
                    let series = random.int(0...11)
                    // Receipts may go back a little: lanes take turns.
                    let received = now - Int64(random.int(0...2))
                    run.add(.at(100_000 + now, received: received, series: series))
                    run.take()
                    latest[series] = max(latest[series] ?? received, received)
                }
                guard random.once(in: 3) else { continue }
                run.machine.tick(now: Instant(seconds: now))
                run.take()
                let quiet = latest.filter { $0.value + 10 <= now }.keys.sorted()
                for series in quiet { latest[series] = nil }
                expected += quiet
                #expect(run.shown.map(\.name.series) == expected, "seed \(seed), step \(step)")
                #expect(run.machine.counters.openWindows == latest.count, "seed \(seed), step \(step)")
            }
            #expect(expected.count > 20, "seed \(seed)")
        }
    }

    /// A wall clock that is set ahead is no silence: receive times jump with it. Catches windows that are shown too
    /// early, and amended when the rest comes.
    @Test func aClockThatIsSetAheadIsNoSilence() {
        var run = WindowRun(series: 2, settings: WindowSettings(idle: 10 * second))
        run.add(.at(5, received: 100))
        #expect(run.tick(100, steady: 1_000) == [])
        // An hour ahead.
        #expect(run.tick(3_701, steady: 1_001) == [])
        run.add(.at(5, received: 3_705, series: 1))
        #expect(run.tick(3_705, steady: 1_005) == [])
        #expect(run.tick(3_709, steady: 1_009) == [])
        #expect(run.tick(3_710, steady: 1_010) == [0])
        #expect(run.tick(3_714, steady: 1_014) == [0])
        #expect(run.tick(3_715, steady: 1_015) == [0, 1])
    }

    /// While the wall clock is behind, receive times go on at half their pace; silence takes as long as ever.
    @Test func aClockThatIsSetBackHoldsNothingOpen() {
        var run = WindowRun(series: 2, settings: WindowSettings(idle: 10 * second))
        run.add(.at(5, received: 100))
        #expect(run.tick(100, steady: 1_000) == [])
        #expect(run.tick(102, steady: 1_004) == [])
        run.add(.at(5, received: 102, series: 1))
        #expect(run.tick(104.5, steady: 1_009) == [])
        #expect(run.tick(105, steady: 1_010) == [0])
        #expect(run.tick(106.5, steady: 1_013) == [0])
        #expect(run.tick(107.5, steady: 1_015) == [0, 1])
    }

    /// However often it is set: a series is closed when the time has passed, give or take what lies between two looks.
    @Test func silenceIsMeasuredOverManySteps() {
        for seed in Trials.seeds(20) {
            var random = WindowRandom(seed: seed)
            // One window of all time: nothing but quiet closes it.
            var run = WindowRun(.correlation, settings: WindowSettings(idle: 10 * second))
            // In tenths of seconds: how fast the receive clock goes, what it shows, and when the last reading came.
            var (pace, received, last, closed) = (1.0, 1e7, 0, 0)
            for now in 1...5_000 {
                if random.once(in: 60) { pace = random.once(in: 2) ? 1 : 0.5 }
                received += random.once(in: 80) ? Double(random.int(1...1_000_000)) : pace
                let isOpen = run.machine.counters.openWindows > 0
                if random.once(in: isOpen ? 60 : 3) {
                    var reading = TestReading.at(100_000 + Int64(now))
                    reading.received = Int64(received / 10 * 1e9)
                    run.add(reading)
                    last = now
                }
                let count = run.tick(received / 10, steady: Double(now) / 10).count
                let isQuiet = count > closed
                let isWrong = isQuiet ? now - last < 99 : last > 0 && isOpen && now - last > 101
                #expect(!isWrong, "seed \(seed), \(now): \(now - last) tenths after the last reading")
                closed = count
            }
            #expect(closed > 10, "seed \(seed)")
        }
    }

    /// A sensor of five minutes does not have its window of 14 days written again with every reading.
    @Test func longWindowsWaitForSlowSensors() {
        let days = 14 * 86_400 * second
        var run = WindowRun(.tumbling(nanoseconds: days), settings: WindowSettings(idle: 10 * second))
        var now: Int64 = 0
        for _ in 0..<50 {
            run.add(.at(now, received: now))
            for _ in 0..<10 {
                now += 30
                run.machine.tick(now: Instant(seconds: now))
                run.take()
            }
        }
        #expect(run.shown.isEmpty)
        // The last reading came five minutes ago.
        run.machine.tick(now: Instant(seconds: now - 300 + 1_209))
        run.take()
        #expect(run.shown.isEmpty)
        run.machine.tick(now: Instant(seconds: now - 300 + 1_210))
        run.take()
        #expect(run.shown.map(\.status) == [.final])
    }

    @Test func withoutIdleTimeQuietSeriesStayOpen() {
        var run = WindowRun(settings: WindowSettings(idle: 0))
        run.add(.at(5))
        run.machine.tick(now: .distantFuture)
        run.take()
        #expect(run.shown.isEmpty && run.machine.counters.openWindows == 1)
    }

    @Test func aLateReadingShowsTheWholeWindowAsAmended() {
        var run = WindowRun()
        run.play([.at(1), .at(2), .at(300), .at(3)])
        #expect(run.statuses(0) == [.final, .amended])
        #expect(run.last[WindowName(series: 0, start: 0)]?.split(separator: "\n").count == 3)
    }

    @Test func lateDuplicatesShowNothing() {
        var run = WindowRun()
        run.play([.at(1), .at(2), .at(300), .at(1), .at(2)])
        #expect(run.outcomes.suffix(2) == [.duplicate, .duplicate])
        #expect(run.statuses(0) == [.final])
    }

    @Test func preliminaryAtEachMultipleThenFinal() {
        var run = WindowRun(settings: WindowSettings(limits: WindowLimits(preliminaryEvery: 3)))
        run.play((0..<8).map { .at(Int64($0)) })
        #expect(run.statuses(0) == [.preliminary, .preliminary, .final])
        #expect(run.shown.map { $0.content.split(separator: "\n").count } == [3, 6, 8])
    }

    @Test func aFullyPreliminaryWindowStillBecomesFinal() {
        var run = WindowRun(settings: WindowSettings(limits: WindowLimits(preliminaryEvery: 2)))
        run.play([.at(1), .at(2)])
        #expect(run.statuses(0) == [.preliminary, .final])
    }

    @Test func aChangeBetweenEncodingAndSettlingIsShownAgain() throws {
        var run = WindowRun()
        run.add(.at(1))
        run.machine.drain()
        let next = run.machine.nextEmission()
        let emission = try #require(next)
        run.add(.at(2))
        run.machine.settle(emission)
        run.take()
        #expect(run.statuses(0) == [.amended])
        #expect(run.last[WindowName(series: 0, start: 0)]?.split(separator: "\n").count == 2)
    }

    @Test func oneCorrelationWindowSpansAllReadings() throws {
        var run = WindowRun(.correlation)
        for reading in [TestReading.at(5_000), .at(-70), .at(90_000)] { run.add(reading) }
        run.take()
        #expect(run.shown.isEmpty)
        run.machine.drain()
        let next = run.machine.nextEmission()
        let emission = try #require(next)
        #expect(emission.start == Instant(seconds: -70) && emission.end == Instant(seconds: 90_000))
        run.take()
        #expect(run.add(.at(100_000)) == .accepted)
        run.finish()
        #expect(run.statuses(0) == [.final, .amended])
        #expect(run.last[WindowName(series: 0, start: 0)]?.split(separator: "\n").count == 4)
    }

    @Test func readingsOfInstanceGroupingAreShownPromptlyOneByOne() {
        var run = WindowRun(.instance)
        for reading in [TestReading.at(1), .at(3), .at(2)] { run.add(reading) }
        run.take()
        #expect(run.shown.map(\.name.start) == [second, 2 * second, 3 * second])
        run.add(.at(2, 99))
        run.add(.at(3))
        run.take()
        #expect(run.shown.count == 4)
        #expect(run.statuses(2 * second) == [.final, .amended])
        run.finish()
        run.add(.at(3, 98))
        run.finish()
        #expect(run.shown.count == 5)
        #expect(run.statuses(3 * second) == [.final, .amended])
    }
}

extension WindowRun {
    /// Looks when the clock of receive times shows `received` and one that is never set `steady`, both in seconds; the
    /// series of all that was shown.
    fileprivate mutating func tick(_ received: Double, steady: Double) -> [Int] {
        machine.tick(
            now: Instant(nanoseconds: Int64(received * 1e9)), steady: Instant(nanoseconds: Int64(steady * 1e9)))
        take()
        return shown.map(\.name.series)
    }
}
