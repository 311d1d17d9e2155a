import KymographCore
import Testing
import TrialSupport

@Suite struct WindowOrderTests {
    /// Readings at distinct instants within `span`, some before 1970, some with texts and further numbers.
    static func readings(_ random: inout WindowRandom, count: Int, series: Int, span: Int64) -> [TestReading] {
        let origin = random.once(in: 2) ? -span / 2 : 1_700_000_000 * second
        return (0..<count).map { index in
            let instant = origin + Int64(random.int(0...Int(span / 1_000_000))) * 1_000_000
            let when = origin + Int64(index) * second
            var reading = TestReading(series: random.int(0...series - 1), instant: instant, received: when)
            // The value follows from the instant: no conflicts, whatever the order.
            let value = abs(instant / 1_000_000 % 200)
            reading.values[0] = random.once(in: 4) ? .number(value * 10, -1) : .number(value, 0)
            if value % 3 == 0 { reading.values[1] = .number(value + 1, -2) }
            if value % 5 == 0 {
                reading.values[2] = .text("text \(value) " + String(repeating: "x", count: Int(value)))
            }
            if value % 7 == 0 { reading.values[9] = .number(-value, 3) }
            if random.once(in: 5) { reading.offset = Int16(random.int(-120...120)) }
            if random.once(in: 5) { reading.digits = random.int(0...9) }
            return reading
        }
    }

    static func contents(_ readings: [TestReading], lateness: Int64) -> [WindowName: String] {
        var run = WindowRun(series: 3, settings: WindowSettings(lateness: lateness))
        run.play(readings)
        #expect(run.shown.allSatisfy { $0.status == .final })
        return run.last
    }

    @Test func anyOrderWithinLatenessWithDuplicatesGivesTheSameFinalContent() {
        for seed in Trials.seeds(1_500) {
            var random = WindowRandom(seed: seed)
            let span = 4 * minute
            let sent = WindowOrderTests.readings(&random, count: random.int(1...24), series: 3, span: span)
            var oracle = WindowOracle(period: minute)
            for reading in sent { _ = oracle.add(reading) }
            for _ in 0..<6 {
                let repeated = sent + sent.filter { _ in random.once(in: 3) }
                let contents = WindowOrderTests.contents(repeated.shuffled(using: &random), lateness: span)
                #expect(contents == oracle.contents, "seed \(seed)")
            }
        }
    }

    @Test func windowsAreAlignedToUTCAndHalfOpenAlsoBefore1970() {
        var run = WindowRun()
        run.play([.at(-61), .at(-60), .at(-1), .at(0), .at(59), .at(60)])
        #expect(run.shown.map(\.name.start) == [-2 * minute, -minute, 0, minute])
        #expect(run.last[WindowName(series: 0, start: -minute)]?.split(separator: "\n").count == 2)
        #expect(run.last[WindowName(series: 0, start: 0)]?.split(separator: "\n").count == 2)
    }

    @Test func theEndsOfTimeAreWindowsToo() {
        var run = WindowRun()
        for instant in [Int64.min, Int64.min + 1, Int64.max - 1, Int64.max] {
            #expect(run.add(TestReading(instant: instant, received: 0, values: [0: .number(1, 0)])) == .accepted)
        }
        run.finish()
        #expect(run.shown.map { $0.content.split(separator: "\n").count } == [2, 2])
    }

    @Test func anotherSeriesClockClosesNothing() {
        var run = WindowRun(series: 2)
        run.add(.at(10))
        run.add(.at(1_000_000, series: 1))
        run.take()
        #expect(run.shown.isEmpty)
        run.add(.at(89))
        run.take()
        #expect(run.shown.isEmpty)
        run.add(.at(90))
        run.take()
        #expect(run.shown.map(\.name) == [WindowName(series: 0, start: 0)])
    }

    @Test func emissionsComeInTheSameOrderEachTime() {
        var random = WindowRandom(seed: Trials.seed(7))
        let readings = WindowOrderTests.readings(&random, count: 200, series: 3, span: 60 * minute)
        var first = WindowRun(series: 3)
        first.play(readings)
        var again = WindowRun(series: 3)
        again.play(readings)
        #expect(first.shown == again.shown)
    }
}
