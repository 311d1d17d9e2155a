import Testing

@testable import KymographCore
import TrialSupport

/// Windows whose older readings are packed: what they show must not depend on it.
@Suite struct LongWindowTests {
    /// Settings with which windows pack from 8 readings on, and not from 256.
    static func settings(lateness: Int64, limits: WindowLimits = WindowLimits()) -> WindowSettings {
        var settings = WindowSettings(lateness: lateness, limits: limits)
        settings.packingSizeClass = 3
        return settings
    }

    /// Mostly in order, some late, some repeated, some with other values, texts, offsets and receive times.
    static func sent(_ random: inout WindowRandom, count: Int, span: Int64) -> [TestReading] {
        var readings = WindowOrderTests.readings(&random, count: count, series: 2, span: span)
        readings.sort { $0.instant < $1.instant }
        for index in readings.indices where random.once(in: 4) {
            readings.swapAt(index, random.int(max(0, index - 20)...index))
        }
        let repeats = readings.filter { _ in random.once(in: 5) }.map { reading in
            var repeated = reading
            repeated.received += Int64(random.int(0...3)) * second
            if random.once(in: 2) { repeated.values[0] = .number(Int64(random.int(0...200)), 0) }
            if random.once(in: 4) { repeated.values[12] = .text("late") }
            return repeated
        }
        for repeated in repeats { readings.insert(repeated, at: random.int(0...readings.count)) }
        return readings
    }

    @Test func packedWindowsHaveTheContentAndTheOutcomesOfOthers() {
        for seed in Trials.seeds(400) {
            var random = WindowRandom(seed: seed)
            let sent = LongWindowTests.sent(&random, count: random.int(1...160), span: 2 * minute)
            var oracle = WindowOracle(period: minute)
            let outcomes = sent.map { oracle.add($0) }
            var run = WindowRun(series: 3, settings: LongWindowTests.settings(lateness: 2 * minute))
            run.play(sent)
            #expect(run.last == oracle.contents, "seed \(seed)")
            #expect(run.outcomes == outcomes, "seed \(seed)")
        }
    }

    /// In more windows than can have a chunk unpacked, all at once: each reading again, and some that are new there.
    @Test func aDayThatComesAgainHasTheContentAndTheOutcomesOfOthers() {
        let series = LiftedChunks.most + 40
        var random = WindowRandom(seed: Trials.seed(12))
        var sent: [TestReading] = []
        for number in Int64(0)..<30 { for one in 0..<series { sent.append(.at(2 * number, series: one)) } }
        for number in Int64(0)..<30 {
            for one in 0..<series {
                sent.append(.at(2 * number, received: 500, series: one))
                if random.once(in: 4) { sent.append(.at(2 * number + 1, received: 500, series: one)) }
                if random.once(in: 50) { sent.append(.at(2 * number, 99, received: 600, series: one)) }
            }
        }
        var oracle = WindowOracle(period: minute)
        let outcomes = sent.map { oracle.add($0) }
        var run = WindowRun(series: series, settings: LongWindowTests.settings(lateness: 2 * minute))
        run.play(sent)
        #expect(run.last == oracle.contents)
        #expect(run.outcomes == outcomes)
        #expect(outcomes.count { $0 == .duplicate } > 29 * series)
    }

    /// A chunk grows by what is new in it, from its beginning to behind its end, until it becomes two.
    @Test func aChunkThatGrowsWhileItIsUnpackedBecomesTwo() {
        for seed in Trials.seeds(40) {
            var random = WindowRandom(seed: seed)
            var sent = (Int64(0)..<30).map { TestReading.at(2 * $0) }
            for number in 0..<random.int(1...60) {
                var late = TestReading.at(0, Int64(number), received: 500)
                late.instant = Int64(random.int(0...25)) * second + Int64(random.int(0...40))
                sent.append(late)
            }
            var oracle = WindowOracle(period: minute)
            let outcomes = sent.map { oracle.add($0) }
            var run = WindowRun(settings: LongWindowTests.settings(lateness: 2 * minute))
            run.play(sent)
            #expect(run.last == oracle.contents, "seed \(seed)")
            #expect(run.outcomes == outcomes, "seed \(seed)")
        }
    }

    @Test func preliminaryEmissionsShowAllThatCameBefore() {
        let limits = WindowLimits(preliminaryEvery: 30)
        var preliminary = 0
        for seed in Trials.seeds(10) {
            var random = WindowRandom(seed: seed)
            let sent = LongWindowTests.sent(&random, count: 150, span: minute - second)
            var packed = WindowRun(series: 3, settings: LongWindowTests.settings(lateness: minute, limits: limits))
            var plain = WindowRun(series: 3, settings: WindowSettings(lateness: minute, limits: limits))
            packed.play(sent)
            plain.play(sent)
            #expect(packed.shown == plain.shown, "seed \(seed)")
            preliminary += packed.shown.count { $0.status == .preliminary }
        }
        #expect(preliminary > 10)
    }

    @Test func aWindowThatComesBackFromTheArchiveIsPackedAgain() {
        var run = WindowRun(settings: LongWindowTests.settings(lateness: 0))
        let late = (0..<20).map { TestReading.at(Int64($0), 70, received: 500) }
        for number in Int64(20)..<60 { run.add(.at(number)) }
        run.add(.at(100))
        run.take()
        for reading in late { run.add(reading) }
        run.finish()
        let shown = run.shown.last { $0.name.start == 0 }
        #expect(shown?.status == .amended)
        #expect(shown?.content.split(separator: "\n").count == 60)
    }

    @Test func theLimitCountsWhatIsPacked() {
        let limits = WindowLimits(maxReadingsPerWindow: 50)
        var run = WindowRun(settings: LongWindowTests.settings(lateness: minute, limits: limits))
        for number in Int64(0)..<50 { #expect(run.add(.at(number)) == .accepted) }
        #expect(run.machine.counters.readingsHeld == 50)
        #expect(run.add(.at(55)) == .rejected(.tooManyReadings))
        var between = TestReading.at(3)
        between.instant += 1
        #expect(run.add(between) == .rejected(.tooManyReadings))
        #expect(run.add(.at(3)) == .duplicate)
        run.finish()
        #expect(run.shown.map { $0.content.split(separator: "\n").count } == [50])
    }

    /// What instance grouping shows of `sent`, and what became of each, taken once in `pace` readings.
    private static func instances(
        _ sent: [TestReading], pace: Int, packingSizeClass: Int
    ) -> ([WindowRun.Shown], [ReadingOutcome]) {
        var random = WindowRandom(seed: Trials.seed(UInt64(pace)))
        var settings = LongWindowTests.settings(lateness: minute)
        settings.packingSizeClass = packingSizeClass
        var run = WindowRun(.instance, series: 3, settings: settings)
        for reading in sent {
            run.add(reading)
            if random.once(in: pace) { run.take() }
        }
        run.finish()
        return (run.shown, run.outcomes)
    }

    @Test func readingsOfAnInstantEachAreShownAsOftenWhenTheyArePacked() {
        for seed in Trials.seeds(400) {
            var random = WindowRandom(seed: seed)
            let pace = random.int(1...4)
            let sent = LongWindowTests.sent(&random, count: random.int(1...160), span: 9 * minute)
            let packed = LongWindowTests.instances(sent, pace: pace, packingSizeClass: 3)
            let plain = LongWindowTests.instances(sent, pace: pace, packingSizeClass: 20)
            #expect(packed.0 == plain.0, "seed \(seed)")
            #expect(packed.1 == plain.1, "seed \(seed)")
        }
    }

    /// Some wait to be shown while earlier ones are taken back from where they were packed.
    @Test func aLateReadingAmongPackedOnesChangesOnlyItself() {
        var run = WindowRun(.instance, settings: LongWindowTests.settings(lateness: minute))
        for number in Int64(0)..<100 {
            run.add(.at(2 * number))
            run.take()
        }
        for number in Int64(100)..<104 { run.add(.at(2 * number)) }
        run.add(.at(31))
        run.add(.at(40, 99, received: 500))
        run.add(.at(150))
        run.finish()
        let late = run.shown[100...]
        #expect(late.map(\.name.start) == [31, 40, 200, 202, 204, 206].map { $0 * second })
        #expect(late.map(\.status) == [.final, .amended, .final, .final, .final, .final])
    }

    /// A reading each `step` nanoseconds, of a value that changes, received some milliseconds later.
    private static func steady(_ count: Int, step: Int64, _ random: inout WindowRandom) -> [TestReading] {
        (0..<count).map { number in
            var reading = TestReading.at(0, Int64(random.int(50...180)))
            reading.instant = Int64(number) * step
            reading.received = reading.instant + Int64(random.int(0...60_000)) * 1_000
            return reading
        }
    }

    /// Settings with which windows are not shown before they end.
    private static var unshown: WindowSettings {
        WindowSettings(lateness: 0, limits: WindowLimits(preliminaryEvery: 0))
    }

    /// Memory of a window of a day, or of those that carry readings of an instant each, after each of `counts`
    /// readings.
    private static func memory(
        after counts: [Int], _ grouping: Grouping = .tumbling(nanoseconds: 86_400 * second), step: Int64 = second,
        settings: WindowSettings
    ) -> [Int] {
        var random = WindowRandom(seed: Trials.seed(11))
        var run = WindowRun(grouping, settings: settings)
        let sent = steady(counts.max() ?? 0, step: step, &random)
        var (bytes, added) = ([Int](), 0)
        for count in counts {
            for reading in sent[added..<count] {
                #expect(run.add(reading) == .accepted)
                run.take()
            }
            added = count
            bytes.append(run.machine.counters.readingBytes)
        }
        #expect(run.machine.counters.readingsHeld == added)
        return bytes
    }

    @Test func aReadingOfALongWindowTakesSixBytes() {
        let bytes = LongWindowTests.memory(after: [2_000, 32_000], settings: LongWindowTests.unshown)
        #expect(bytes[0] < 2_000 * 6 + 16_384)
        #expect(bytes[1] - bytes[0] < 30_000 * 6)
    }

    /// Of a day that comes again, one chunk is unpacked at a time.
    @Test func aDayThatComesAgainTakesNoMoreMemory() {
        var random = WindowRandom(seed: Trials.seed(11))
        var run = WindowRun(.tumbling(nanoseconds: 86_400 * second), settings: LongWindowTests.unshown)
        let sent = LongWindowTests.steady(32_000, step: second, &random)
        for reading in sent { #expect(run.add(reading) == .accepted) }
        let before = run.machine.counters.readingBytes
        for reading in sent { #expect(run.add(reading) == .duplicate) }
        #expect(run.machine.counters.readingBytes < before + 16_384)
    }

    @Test func aReadingOfAnInstantTakesSixBytes() {
        let bytes = LongWindowTests.memory(
            after: [2_000, 32_000], .instance, step: 9_000_000, settings: LongWindowTests.unshown)
        #expect(bytes[1] - bytes[0] < 30_000 * 6)
    }

    /// The tests above can fail: what does not pack takes 32 bytes.
    @Test func aReadingThatIsNotPackedTakesThirtyTwoBytes() {
        var settings = LongWindowTests.unshown
        settings.packingSizeClass = 20
        let bytes = LongWindowTests.memory(after: [2_000, 32_000], settings: settings)
        #expect(bytes[1] - bytes[0] >= 30_000 * 32)
    }
}
