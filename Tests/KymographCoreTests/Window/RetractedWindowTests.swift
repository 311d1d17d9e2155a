@testable import KymographCore
import Testing

/// What a window machine shows of windows that readings were taken out of.
@Suite struct RetractedWindowTests {
    private static let second: Int64 = 1_000_000_000

    private static func machine(
        preliminaryEvery: Int = 0, grouping: Grouping = .tumbling(nanoseconds: 60 * second)
    ) -> WindowMachine<MemoryArchive> {
        var settings = WindowSettings(lateness: 0, idle: 0)
        settings.limits.preliminaryEvery = preliminaryEvery
        let type = MeasurementType(
            name: "x", valueNames: ["x"], grouping: grouping, isNumeric: [true])
        return WindowMachine(types: [type], settings: settings)
    }

    private static func reading(_ at: Int64, source: Int) -> Measurement {
        var reading = Measurement(
            instant: Instant(nanoseconds: at * second), received: Instant(nanoseconds: at * second))
        reading.setInline(0, Decimal64(mantissa: at))
        reading.mark = ReadingSource.mark(source)
        return reading
    }

    private static func retraction(_ at: Int64, source: Int) -> Tombstone {
        let key = SeriesKey.encode(SeriesIdentity(type: 0, device: Array("d".utf8)))
        var payload = ByteWriter()
        key.withByteView { Tombstone.write($0, isNameless: false, content: ByteView(""), into: &payload) }
        return Tombstone(reading(at, source: source), payload.view)
    }

    /// Which of the sources 1, 2 and 3 get what the machine shows next.
    private static func sources(_ machine: inout WindowMachine<MemoryArchive>) -> [Int] {
        guard let emission = machine.nextEmission() else { return [] }
        let content = machine.content(of: emission)
        let found = (1...3).filter { source in
            var filter = SinkFilter()
            filter.sources = [source]
            return filter.matchesSources(of: content)
        }
        machine.settle(emission)
        return found
    }

    /// Catches: a sink that has got a window for a reading, and does not hear that this is gone; and one that hears of a
    /// window that it has never got, because the retraction came by its source.
    @Test func whoGotTheReadingHearsOfIt() throws {
        var machine = Self.machine()
        let defined = machine.define(SeriesIdentity(type: 0, device: Array("d".utf8)))
        let series = try #require(defined)
        for (at, source) in [(1, 1), (2, 2)] as [(Int64, Int)] {
            _ = machine.add(series: series, Self.reading(at, source: source), payload: ByteView(""))
        }
        machine.drain()
        var told = Self.sources(&machine)
        #expect(told == [1, 2])
        guard case .taken = machine.retract(Self.retraction(1, source: 3)) else {
            Issue.record("the reading stays")
            return
        }
        machine.drain()
        told = Self.sources(&machine)
        #expect(told == [1, 2])
        _ = machine.retract(Self.retraction(2, source: 3))
        machine.drain()
        told = Self.sources(&machine)
        #expect(told == [2])
    }

    /// Catches: a sink that gets a window for a reading which no one has ever got.
    @Test func whatWasNeverShownIsForNoSink() throws {
        var machine = Self.machine()
        let defined = machine.define(SeriesIdentity(type: 0, device: Array("d".utf8)))
        let series = try #require(defined)
        for (at, source) in [(1, 1), (2, 2)] as [(Int64, Int)] {
            _ = machine.add(series: series, Self.reading(at, source: source), payload: ByteView(""))
        }
        _ = machine.retract(Self.retraction(1, source: 1))
        machine.drain()
        let told = Self.sources(&machine)
        #expect(told == [2])
    }

    private static func label(_ number: Int64) -> String { "label-\(number)-" + String(repeating: "x", count: 180) }

    /// Whether sinks that choose by these tags get what the machine shows next, and how many bytes of tags of readings
    /// that are gone it has.
    private static func told(_ machine: inout WindowMachine<MemoryArchive>, _ tags: [String]) -> ([Bool], Int) {
        guard let emission = machine.nextEmission() else { return ([], 0) }
        let content = machine.content(of: emission)
        let found = tags.map { tag in
            var filter = SinkFilter()
            filter.tags = [NamePattern(tag)]
            return filter.matchesTags(of: content)
        }
        let bytes = content.formerTags.count
        machine.settle(emission)
        return (found, bytes)
    }

    /// Catches: tags of readings that were taken back that fill the memory, and a sink that does not hear that the
    /// reading is gone which it has got for one of them. Of too many, all sinks that choose by tags hear.
    @Test(arguments: [(3, false), (50, true)] as [(Int64, Bool)])
    func tagsOfWhatWasTakenBack(count: Int64, isBeyond: Bool) throws {
        var machine = Self.machine()
        let defined = machine.define(SeriesIdentity(type: 0, device: Array("d".utf8)))
        let series = try #require(defined)
        _ = machine.add(series: series, Self.reading(59, source: 1), payload: ByteView(""))
        for at in 1...count {
            var payload = ByteWriter()
            ReadingTags.list([Self.label(at)]).withByteView { ReadingTags.append(ByteView(""), with: $0, to: &payload) }
            var reading = Self.reading(at, source: 1)
            reading.payloadBytes = payload.count
            _ = machine.add(series: series, reading, payload: payload.view)
        }
        machine.drain()
        let tags = [Self.label(1), Self.label(count), "other"]
        let shown = Self.told(&machine, tags)
        #expect(shown.0 == [true, true, false] && shown.1 == 0)
        for at in 1...count { _ = machine.retract(Self.retraction(at, source: 1)) }
        machine.drain()
        let gone = Self.told(&machine, tags)
        #expect(gone.0 == [true, true, isBeyond] && gone.1 > 0 && gone.1 <= ReadingTags.longest)
        // Told once.
        _ = machine.retract(Self.retraction(59, source: 1))
        machine.drain()
        let later = Self.told(&machine, tags)
        #expect(later.0 == [false, false, false] && later.1 == 0)
    }

    /// Catches: single readings of one source that go to who got another one's, because that was taken back.
    @Test func singleReadingsAreForTheirOwnSinks() throws {
        var machine = Self.machine(grouping: .instance)
        let defined = machine.define(SeriesIdentity(type: 0, device: Array("d".utf8)))
        let series = try #require(defined)
        for (at, source) in [(1, 1), (2, 2)] as [(Int64, Int)] {
            _ = machine.add(series: series, Self.reading(at, source: source), payload: ByteView(""))
        }
        var told = [Self.sources(&machine), Self.sources(&machine)]
        #expect(told == [[1], [2]])
        _ = machine.retract(Self.retraction(1, source: 3))
        for at in 3...4 as ClosedRange<Int64> {
            _ = machine.add(series: series, Self.reading(at, source: 2), payload: ByteView(""))
        }
        told = [Self.sources(&machine), Self.sources(&machine), Self.sources(&machine)]
        #expect(told == [[1], [2], [2]])
    }

    /// Catches: a preliminary Observation that stays though its only reading is gone.
    @Test func whatWasPreliminaryWasAnError() throws {
        var machine = Self.machine(preliminaryEvery: 1)
        let defined = machine.define(SeriesIdentity(type: 0, device: Array("d".utf8)))
        let series = try #require(defined)
        _ = machine.add(series: series, Self.reading(1, source: 1), payload: ByteView(""))
        let emission = machine.nextEmission()
        let first = try #require(emission)
        #expect(first.status == .preliminary)
        machine.settle(first)
        _ = machine.retract(Self.retraction(1, source: 1))
        machine.drain()
        let next = machine.nextEmission()
        let last = try #require(next)
        let count = machine.content(of: last).readings.count
        #expect(last.status == .enteredInError && count == 0)
        machine.settle(last)
        let further = machine.nextEmission()
        #expect(further == nil)
    }

    /// A document renews as many readings as it takes back, however many these are.
    @Test func aLargeDocument() throws {
        let count: Int64 = 50_000
        var machine = Self.machine(grouping: .tumbling(nanoseconds: 100_000 * Self.second))
        let defined = machine.define(SeriesIdentity(type: 0, device: Array("d".utf8)))
        let series = try #require(defined)
        for at in 1...count { _ = machine.retract(Self.retraction(at, source: 1)) }
        var accepted: Int64 = 0
        for at in 1...count + 1 {
            let outcome = machine.add(series: series, Self.reading(at, source: 1), payload: ByteView(""))
            if case .accepted = outcome { accepted += 1 }
        }
        #expect(accepted == count + 1)
    }

    /// Catches: a reading that goes by without a look, because the one before it did.
    @Test func eachReadingIsLookedAt() throws {
        var machine = Self.machine()
        let defined = machine.define(SeriesIdentity(type: 0, device: Array("d".utf8)))
        let series = try #require(defined)
        _ = machine.add(series: series, Self.reading(1, source: 1), payload: ByteView(""))
        for at in 5...20 as ClosedRange<Int64> {
            guard case .rejected(.unknownRetraction) = machine.retract(Self.retraction(at, source: 1)) else {
                Issue.record("there is a reading at \(at)")
                return
            }
        }
        machine.retractions.endDocument(of: 0)
        var outcomes: [ReadingOutcome] = []
        for at in 2...22 as ClosedRange<Int64> {
            outcomes.append(machine.add(series: series, Self.reading(at, source: 1), payload: ByteView("")))
        }
        #expect(outcomes.count { $0 == .rejected(.retracted) } == 16)
        #expect(outcomes.count { $0 == .accepted } == 5)
    }
}
