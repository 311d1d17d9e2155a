import CommandSupport
import Kymograph
import KymographCore
import KymographTemplates
import Testing

/// Why windows were closed, and which readings came too late for theirs.
@Suite struct WindowCauseTests {
    private static let minute: Int64 = 60_000_000_000

    /// Windows of five minutes, and the time of the first readings.
    private func rehearsal(_ settings: WindowSettings) throws -> PipelineRehearsal {
        try PipelineRehearsal(set: #require(PipelineRehearsal.reading), settings: settings)
    }

    private func counts(_ record: PipelineRehearsal.Record) -> [WindowCause: Int] {
        var counts: [WindowCause: Int] = [:]
        for cause in WindowCause.allCases where record.tally.closings[cause] > 0 {
            counts[cause] = record.tally.closings[cause]
        }
        return counts
    }

    private func take(_ seconds: [Int], _ rehearsal: inout PipelineRehearsal) {
        for second in seconds { rehearsal.take(Array(Readings.heartRate(second: second).utf8), isBatchEnd: true) }
    }

    @Test func byTimeAndAtTheEnd() throws {
        var rehearsal = try rehearsal(WindowSettings(lateness: Self.minute, idle: 0))
        take([0, 299, 359], &rehearsal)
        rehearsal.pass(nanoseconds: 0)
        #expect(counts(rehearsal.record).isEmpty)
        take([360], &rehearsal)
        rehearsal.pass(nanoseconds: 0)
        #expect(counts(rehearsal.record) == [.time: 1])
        _ = try rehearsal.end()
        #expect(counts(rehearsal.record) == [.time: 1, .end: 1])
        #expect(rehearsal.record.tally.lateReadings == 0)
    }

    @Test func ofQuietSeries() throws {
        var rehearsal = try rehearsal(WindowSettings(lateness: Self.minute, idle: Self.minute))
        take([0, 1], &rehearsal)
        rehearsal.pass(nanoseconds: Self.minute - 1)
        #expect(counts(rehearsal.record).isEmpty)
        rehearsal.pass(nanoseconds: 1)
        #expect(counts(rehearsal.record) == [.idle: 1])
    }

    /// A repeat is not late, and neither is what comes within the lateness.
    @Test func lateReadingsOpenAWindowForAWhile() throws {
        var rehearsal = try rehearsal(WindowSettings(lateness: Self.minute, idle: 0, lateHold: Self.minute))
        take([0, 320, 299, 360], &rehearsal)
        rehearsal.pass(nanoseconds: 0)
        #expect(counts(rehearsal.record) == [.time: 1] && rehearsal.record.tally.lateReadings == 0)
        take([0, 10, 11, 10], &rehearsal)
        rehearsal.pass(nanoseconds: Self.minute)
        #expect(rehearsal.record.tally.lateReadings == 2 && rehearsal.record.tally.duplicate == 2)
        #expect(counts(rehearsal.record) == [.time: 1, .late: 1] && rehearsal.record.tally.amended == 1)
    }

    /// Without a hold, a late reading's window is closed at once, because its time has passed.
    @Test func lateReadingsWithoutAHold() throws {
        var rehearsal = try rehearsal(WindowSettings(lateness: 0, idle: 0, lateHold: 0))
        take([0, 300, 10], &rehearsal)
        rehearsal.pass(nanoseconds: 0)
        #expect(counts(rehearsal.record) == [.time: 2] && rehearsal.record.tally.lateReadings == 1)
    }

    @Test func ofTypesThatAreNotInUseAnyMore() throws {
        let first = try #require(MappingLoader.load([MappingVariant(kinds: [.level]).named]).set)
        let second = try #require(MappingLoader.load([MappingVariant(kinds: []).named], continuing: first).set)
        var rehearsal = PipelineRehearsal(set: first, settings: WindowSettings(idle: 0))
        rehearsal.take(Array(#"{"d":"a","t":1790000000,"level":1}"#.utf8), isBatchEnd: true)
        rehearsal.adopt(second, names: ["m"])
        rehearsal.pass(nanoseconds: 0)
        #expect(counts(rehearsal.record) == [.unused: 1])
    }
}
