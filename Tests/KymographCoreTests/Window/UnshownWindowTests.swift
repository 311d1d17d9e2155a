@testable import KymographCore
import Testing
import TrialSupport

/// A machine of one series, and what it shows.
private struct VetoTrial: ~Copyable {
    private var machine: WindowMachine<MemoryArchive>
    private let series: Int

    init(_ grouping: Grouping, preliminaryEvery: Int = 0) {
        var settings = WindowSettings(lateness: 0, idle: 0)
        settings.limits.preliminaryEvery = preliminaryEvery
        var type = MeasurementType(
            name: "x", valueNames: ["x", "y"], grouping: grouping, isNumeric: [true, true])
        type.sameInstant = .merge
        var machine = WindowMachine(types: [type], settings: settings)
        series = machine.define(SeriesIdentity(type: 0, device: Array("d".utf8))) ?? -1
        self.machine = machine
    }

    private static func reading(_ at: Int64, slot: Int) -> Measurement {
        var reading = Measurement(
            instant: Instant(nanoseconds: at * second), received: Instant(nanoseconds: at * second))
        reading.setInline(slot, Decimal64(mantissa: at))
        return reading
    }

    mutating func add(_ at: Int64, slot: Int = 0) {
        _ = machine.add(series: series, Self.reading(at, slot: slot), payload: ByteView(""))
    }

    /// Takes readings back; how many there were.
    mutating func retract(_ instants: Int64...) -> Int {
        let key = SeriesKey.encode(SeriesIdentity(type: 0, device: Array("d".utf8)))
        var payload = ByteWriter()
        key.withByteView { Tombstone.write($0, isNameless: false, content: ByteView(""), into: &payload) }
        var taken = 0
        for at in instants {
            if case .taken = machine.retract(Tombstone(Self.reading(at, slot: 0), payload.view)) { taken += 1 }
        }
        return taken
    }

    /// The statuses that it shows, which rules keep from all sinks with `isVetoed`; everything is closed before that
    /// with `closes`.
    mutating func shown(isVetoed: Bool = false, closes: Bool = true) -> [ObservationStatus] {
        if closes { machine.drain() }
        var found: [ObservationStatus] = []
        while let emission = machine.nextEmission() {
            found.append(emission.status)
            machine.settle(emission, isVetoed: isVetoed)
        }
        return found
    }
}

/// Windows of which rules have kept versions from every sink.
@Suite struct UnshownWindowTests {
    private static let windows = Grouping.tumbling(nanoseconds: minute)

    /// Catches: an error that is sent of what no sink has got. It is not said of other windows than these.
    @Test(arguments: [Grouping.tumbling(nanoseconds: minute), .instance], [true, false])
    func whatNoSinkHasGotIsNoError(_ grouping: Grouping, isVetoed: Bool) {
        var trial = VetoTrial(grouping)
        trial.add(1)
        let first = trial.shown(isVetoed: isVetoed)
        #expect(first == [.final])
        trial.add(2)
        let second = trial.shown(isVetoed: true)
        #expect(second == [grouping == .instance ? .final : .amended])
        let taken = trial.retract(1, 2)
        #expect(taken == 2)
        let last = trial.shown()
        #expect(last == (isVetoed ? [] : [.enteredInError]))
    }

    /// From its first version on that goes out, it may have to be taken back.
    @Test func whatIsVetoedNoMoreIsAnError() {
        var trial = VetoTrial(Self.windows)
        trial.add(1)
        _ = trial.shown(isVetoed: true)
        trial.add(2)
        var shown = trial.shown()
        #expect(shown == [.amended])
        _ = trial.retract(1)
        shown = trial.shown(isVetoed: true)
        #expect(shown == [.amended])
        _ = trial.retract(2)
        shown = trial.shown(isVetoed: true)
        #expect(shown == [.enteredInError])
    }

    /// Of a single reading, the same: whichever of its versions was sent.
    @Test(arguments: [(true, true), (true, false), (false, true)])
    func aSingleReading(isFirstVetoed: Bool, isSecondVetoed: Bool) {
        var trial = VetoTrial(.instance)
        trial.add(1)
        var shown = trial.shown(isVetoed: isFirstVetoed)
        #expect(shown == [.final])
        trial.add(1, slot: 1)
        shown = trial.shown(isVetoed: isSecondVetoed)
        #expect(shown == [isFirstVetoed ? .final : .amended])
        _ = trial.retract(1)
        shown = trial.shown()
        #expect(shown == (isFirstVetoed && isSecondVetoed ? [] : [.enteredInError]))
    }

    /// A preliminary version counts as any.
    @Test(arguments: [true, false]) func preliminaryVersions(isVetoed: Bool) {
        var trial = VetoTrial(Self.windows, preliminaryEvery: 1)
        trial.add(1)
        var shown = trial.shown(isVetoed: isVetoed, closes: false)
        #expect(shown == [.preliminary])
        shown = trial.shown(isVetoed: true)
        #expect(shown == [.final])
        _ = trial.retract(1)
        shown = trial.shown()
        #expect(shown == (isVetoed ? [] : [.enteredInError]))
    }

    /// What an earlier run may have sent was shown, whatever rules say now.
    @Test(arguments: [true, false]) func inDoubtItWasShown(isInDoubt: Bool) {
        var window = OpenWindow(
            span: .aligned(around: Instant(seconds: 90), period: minute), series: 0, isCarrier: false, isStored: false,
            readings: 8, sizeClass: 2, journal: JournalWriter.noBlock, preliminaryEvery: 0)
        if isInDoubt { window.noteDoubt() }
        window.count = 1
        window.change()
        window.close()
        window.beginEmission()
        window.settleEmission(.final, isVetoed: true)
        #expect(window.due == .retirement)
        #expect(window.isUnshown == !isInDoubt && window.mayHaveBeenSeen == isInDoubt)
    }

    private static func block(_ readings: [(Measurement, [UInt8])], isUnshown: Bool) -> [UInt8] {
        let slab = ReadingSlab(readings)
        var writer = ByteWriter()
        WindowBlockEncoder.append(slab.readings(from: 0, count: readings.count), isUnshown: isUnshown, to: &writer)
        return writer.view.array
    }

    private static func isUnshown(_ block: [UInt8]) -> Bool? {
        block.withByteView { WindowBlockDecoder($0)?.isUnshown }
    }

    /// A block says so in one byte, in either version, and has the same readings.
    @Test func blocksSaySo() {
        for seed in Trials.seeds(200) {
            var random = WindowRandom(seed: seed)
            let count = random.once(in: 10) ? random.int(120...400) : random.int(1...40)
            let readings =
                random.once(in: 2)
                ? WindowBlockTests.readings(&random, count: count)
                : WindowColumnsTests.readings(&random, count: max(count, 4))
            let plain = Self.block(readings, isUnshown: false)
            let unshown = Self.block(readings, isUnshown: true)
            #expect(Self.isUnshown(plain) == false && Self.isUnshown(unshown) == true, "seed \(seed)")
            #expect(unshown.count == plain.count + 1 && unshown[0] == plain[0], "seed \(seed)")
            let decoded = WindowBlockTests.decode(unshown)
            #expect(decoded?.map(WindowBlockTests.text) == readings.map(WindowBlockTests.text), "seed \(seed)")
        }
    }

    /// Numbers that end in a byte of zeros are none that are longer than they have to be.
    @Test(arguments: [127, 128, 255, 256, 512, 16_383, 16_384]) func numbersOfReadings(_ count: Int) {
        let model = WindowBlockTests.everySecond[0].0
        for isUniform in [true, false] {
            let readings = (0..<count).map { place -> (Measurement, [UInt8]) in
                var reading = model
                reading.instant = Instant(seconds: 1_700_000_000 + Int64(place))
                if !isUniform, place == 1 { reading.setExponent(0, 1) }
                return (reading, [])
            }
            let plain = Self.block(readings, isUnshown: false)
            let unshown = Self.block(readings, isUnshown: true)
            #expect(plain[0] == (isUniform ? WindowColumns.version : WindowBlockFormat.version))
            #expect(Self.isUnshown(plain) == false && Self.isUnshown(unshown) == true)
            #expect(WindowBlockTests.decode(unshown)?.count == count && unshown.count == plain.count + 1)
        }
    }
}
