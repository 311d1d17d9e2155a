import KymographCore
import Testing
import TrialSupport

@Suite struct WindowMergeTests {
    static func reading(_ values: [Int: TestValue], received: Int64 = 0, offset: Int16 = UTCOffset.none) -> TestReading
    {
        TestReading(instant: second, received: received * second, offset: offset, values: values)
    }

    static func final(_ readings: [TestReading]) -> (String?, [ReadingOutcome]) {
        var run = WindowRun()
        run.play(readings)
        return (run.shown.last?.content, run.outcomes)
    }

    @Test func readingsOfOneInstantAreMergedPerValue() {
        let (content, outcomes) = WindowMergeTests.final([
            WindowMergeTests.reading([0: .number(120, 0), 5: .number(7, -1)]),
            WindowMergeTests.reading([1: .number(80, 0), 2: .text("left arm"), 5: .number(70, -2)]),
        ])
        #expect(content == "1000000000 -32768 0=120e0 1=80e0 2='left arm' 5=70e-2")
        #expect(outcomes == [.accepted, .accepted])
    }

    @Test func theLaterReceivedValueWinsAConflict() {
        let early = WindowMergeTests.reading([0: .number(1, 0), 8: .text("old")], received: 1)
        let late = WindowMergeTests.reading([0: .number(2, 0), 8: .text("new")], received: 2)
        #expect(WindowMergeTests.final([early, late]) == ("1000000000 -32768 0=2e0 8='new'", [.accepted, .conflict]))
        #expect(WindowMergeTests.final([late, early]) == ("1000000000 -32768 0=2e0 8='new'", [.accepted, .conflict]))
    }

    @Test func samplesOfAWaveformAreOneValue() {
        let early = WindowMergeTests.reading([1: .number(500, 0), 5: .samples([-3, 70, 4_000])], received: 1)
        let late = WindowMergeTests.reading([1: .number(500, 0), 5: .samples([-3, 70, 4_001])], received: 2)
        let again = WindowMergeTests.final([early, early])
        #expect(again == ("1000000000 -32768 1=500e0 5=[-3 70 4000]", [.accepted, .duplicate]))
        let expected = "1000000000 -32768 1=500e0 5=[-3 70 4001]"
        #expect(WindowMergeTests.final([early, late]) == (expected, [.accepted, .conflict]))
        #expect(WindowMergeTests.final([late, early]) == (expected, [.accepted, .conflict]))
    }

    @Test func aTextAndANumberConflict() {
        let number = WindowMergeTests.reading([0: .number(1, 0)], received: 1)
        let text = WindowMergeTests.reading([0: .text("1")], received: 2)
        #expect(WindowMergeTests.final([number, text]) == ("1000000000 -32768 0='1'", [.accepted, .conflict]))
    }

    @Test func writtenPrecisionAndOffsetDoNotDependOnOrder() {
        let coarse = WindowMergeTests.reading([0: .number(60, 0)], offset: 60)
        let fine = WindowMergeTests.reading([0: .number(600, -1)], offset: -60)
        let expected = "1000000000 60 0=600e-1"
        #expect(WindowMergeTests.final([coarse, fine]) == (expected, [.accepted, .duplicate]))
        #expect(WindowMergeTests.final([fine, coarse]) == (expected, [.accepted, .duplicate]))
    }

    /// Receive times belong to the readings here, so every order must end the same, also across the archive.
    @Test func conflictsEndTheSameInEveryOrder() {
        for seed in Trials.seeds(600) {
            var random = WindowRandom(seed: seed)
            let readings = (0..<random.int(2...7)).map { index -> TestReading in
                var values: [Int: TestValue] = [:]
                for slot in [0, 2, 3, 7, 11] where random.once(in: 2) {
                    values[slot] =
                        random.once(in: 3) ? .text("t\(random.int(0...1))") : .number(Int64(random.int(0...2)), 0)
                }
                return WindowMergeTests.reading(values, received: Int64(index))
            }
            var oracle = WindowOracle(period: minute)
            for reading in readings { _ = oracle.add(reading) }
            for _ in 0..<4 {
                var run = WindowRun()
                for reading in readings.shuffled(using: &random) {
                    run.add(reading)
                    if random.once(in: 3) { run.finish() }
                }
                run.finish()
                #expect(run.last == oracle.contents, "seed \(seed)")
            }
        }
    }

    @Test func valuesThatDoNotFitTogetherAreRejected() {
        var run = WindowRun()
        let long = String(repeating: "x", count: 65_000)
        // Sixteen fit in the 2^20 - 1 bytes of a payload.
        for slot in 1...16 { #expect(run.add(WindowMergeTests.reading([slot: .text(long)])) == .accepted) }
        #expect(run.add(WindowMergeTests.reading([17: .text(long)])) == .rejected(.valueTooLong))
        run.finish()
        let texts = (1...15).map { " \($0)='\(long)'" }.joined()
        #expect(run.shown.first?.content == "1000000000 -32768\(texts)")
    }
}
