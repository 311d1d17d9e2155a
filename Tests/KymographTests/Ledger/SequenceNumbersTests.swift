import KymographTestKit
import Testing

@testable import Kymograph
import TrialSupport

/// Messages that never came, by the numbers of those that did.
@Suite struct SequenceNumbersTests {
    /// Whatever came, in whatever order and how often: what is missing is what lies between the first and the last.
    @Test(arguments: Trials.seeds(40))
    func subsets(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let first = Int64.random(in: -50...50, using: &random)
        let came = (first..<first + 60).filter { _ in Bool.random(using: &random) }
        var numbers = SequenceNumbers()
        for number in (came + came.filter { _ in Bool.random(using: &random) }).shuffled(using: &random) {
            numbers.add(number, at: number * 1_000, device: "d")
        }
        guard let least = came.min(), let most = came.max() else { return #expect(numbers.missing.isEmpty) }
        #expect(numbers.missing == ["d": Int(most - least) + 1 - came.count])
    }

    /// A lower number than before is a device that has begun again; devices do not disturb each other.
    @Test func restarts() {
        var numbers = SequenceNumbers()
        for (place, number) in [Int64(7), 8, 0, 1, 3].enumerated() {
            numbers.add(number, at: Int64(place), device: "restarted")
            numbers.add(Int64(place), at: Int64(place), device: "other")
        }
        #expect(numbers.missing == ["restarted": 1, "other": 0])
    }

    @Test func extremes() {
        var numbers = SequenceNumbers()
        numbers.add(.min, at: 0, device: "d")
        numbers.add(.max, at: 1, device: "d")
        #expect(numbers.missing == ["d": 0])
    }
}

/// Lines of CSV.
@Suite struct ReadingTableTests {
    @Test func quotes() {
        let row = ["plain", nil, "a,b", "say \"so\"", "two\nlines", "\"", ""]
        let text = String(decoding: ReadingTable.csv(row), as: UTF8.self)
        #expect(text == "plain,,\"a,b\",\"say \"\"so\"\"\",\"two\nlines\",\"\"\"\",\n")
    }

    @Test(arguments: ["", "_", "1_", "_1", "1_-1", "1_1_1", "z!_0"])
    func cursorsOfOthers(text: String) { #expect(ArchiveCursor(text) == nil) }

    @Test func cursors() {
        for start in [Int64.min, -1, 0, 1_772_352_000_000_000_000, .max] {
            let cursor = ArchiveCursor(start: start, series: 41)
            #expect(ArchiveCursor(cursor.text) == cursor)
        }
    }
}
