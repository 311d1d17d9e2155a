import KymographTestKit
import Testing
import TrialSupport

@testable import Kymograph

/// What is missing is what a rhythm would have.
@Suite struct SeriesRhythmTests {
    /// A count by arithmetic is that by one reading after the other.
    @Test(arguments: Trials.seeds(200)) func countsOfGaps(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let gap = RhythmGap(
            start: Int64.random(in: -1_000...1_000, using: &random), step: Int64.random(in: 1...50, using: &random),
            count: Int64.random(in: 1...40, using: &random))
        for _ in 0..<20 {
            let from = Int64.random(in: -1_200...3_500, using: &random)
            let to = from + Int64.random(in: -5...400, using: &random)
            let expected = (1...gap.count).count { from <= gap.start + $0 * gap.step && gap.start + $0 * gap.step < to }
            #expect(gap.count(from: from, to: to) == expected, "seed \(seed): \(gap) \(from) \(to)")
        }
    }

    @Test func rhythms() {
        #expect(SeriesRhythm(Array(repeating: 1_000, count: 8))?.interval == 1_000)
        #expect(SeriesRhythm(Array(repeating: 1_000, count: 7)) == nil)
        #expect(SeriesRhythm([]) == nil)
        // Readings of one instant are no distance.
        #expect(SeriesRhythm(Array(repeating: 0, count: 20) + Array(repeating: 5, count: 8))?.interval == 5)
        // Jitter of less than a quarter is a rhythm; anything is none.
        #expect(SeriesRhythm([900, 1_000, 1_100, 1_050, 950, 1_200, 800, 1_000, 60_000])?.interval == 1_000)
        #expect(SeriesRhythm([10, 1_000, 35, 7, 90_000, 400, 3, 77, 12_345]) == nil)
        #expect(SeriesRhythm(Array(repeating: 1_000, count: 100_000))?.interval == 1_000)
    }

    @Test func gaps() throws {
        let rhythm = try #require(SeriesRhythm(Array(repeating: 10, count: 10)))
        #expect(rhythm.gap(from: 0, to: 10) == nil && rhythm.gap(from: 0, to: 14) == nil)
        #expect(rhythm.gap(from: 0, to: 15) == RhythmGap(start: 0, step: 7, count: 1))
        #expect(rhythm.gap(from: 0, to: 100) == RhythmGap(start: 0, step: 10, count: 9))
        // What may only be late is not missing.
        #expect(rhythm.silence(after: 0, until: 14) == nil)
        #expect(rhythm.silence(after: 0, until: 15) == RhythmGap(start: 0, step: 10, count: 1))
        #expect(rhythm.silence(after: 0, until: 5) == nil && rhythm.silence(after: 50, until: 0) == nil)
        #expect(rhythm.lack(from: 0, to: 90, readings: 10) == nil)
        #expect(rhythm.lack(from: 0, to: 90, readings: 7)?.count == 3)
    }
}
