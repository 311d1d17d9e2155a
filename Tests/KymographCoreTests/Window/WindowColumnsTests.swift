import Testing

@testable import KymographCore
import TrialSupport

/// Version 3 of the archive's blocks: windows whose readings differ only in times and digits.
@Suite struct WindowColumnsTests {
    /// Readings with one number each, in time order; all else is the same, and numbers and times take any value.
    static func readings(_ random: inout WindowRandom, count: Int) -> [(Measurement, [UInt8])] {
        let unit = WindowBlockFormat.units[random.int(0...3)]
        let receivedUnit = WindowBlockFormat.units[random.int(0...3)]
        let longestStep = [1, 200, 70_000, 1 << 26][random.int(0...3)]
        let isExtreme = random.once(in: 3)
        var model = TestReading(instant: Int64(random.int(-1_000_000...1_000_000)) * unit, received: 0)
        model.offset = random.once(in: 2) ? UTCOffset.none : Int16(random.int(-900...900))
        let exponent = Int8(random.int(-100...100))
        let mark = UInt8(random.int(0...7))
        return (0..<count).map { _ in
            model.instant += Int64(random.int(1...longestStep)) * unit
            let delay = Int64(random.int(0...900)) * receivedUnit
            model.received = random.once(in: 3) ? model.instant &+ 5 * receivedUnit : model.received &+ delay
            if isExtreme, random.once(in: 5) { model.received = WindowBlockTests.extremes[random.int(0...7)] }
            let number = isExtreme ? WindowBlockTests.extremes[random.int(0...7)] : Int64(random.int(-50...200))
            model.values = [0: .number(number, exponent)]
            var payload = ByteWriter()
            var measurement = model.measurement(&payload)
            measurement.mark = mark
            return (measurement, [])
        }
    }

    /// The block of `readings`, or nil when they are not uniform.
    static func encode(_ readings: [(Measurement, [UInt8])]) -> [UInt8]? {
        let slab = ReadingSlab(readings)
        var writer = ByteWriter()
        writer.append("before")
        guard WindowColumns.append(slab.readings(from: 0, count: readings.count), to: &writer) else {
            #expect(writer.count == 6)
            return nil
        }
        return writer.view(6..<writer.count).array
    }

    @Test func everyFieldSurvives() throws {
        for seed in Trials.seeds(1_500) {
            var random = WindowRandom(seed: seed)
            let readings = WindowColumnsTests.readings(&random, count: random.int(4...60))
            let block = try #require(WindowColumnsTests.encode(readings), "seed \(seed)")
            let decoded = WindowBlockTests.decode(block)
            #expect(decoded?.map(WindowBlockTests.text) == readings.map(WindowBlockTests.text), "seed \(seed)")
        }
    }

    @Test func instantsOfTheWholeRangeSurvive() throws {
        let readings = [Int64.min, .min + 1, -1, 0, .max].map { instant -> (Measurement, [UInt8]) in
            var payload = ByteWriter()
            let reading = TestReading(instant: instant, received: -instant.signum(), values: [0: .number(7, 0)])
            return (reading.measurement(&payload), [])
        }
        let decoded = WindowBlockTests.decode(try #require(WindowColumnsTests.encode(readings)))
        #expect(decoded?.map(WindowBlockTests.text) == readings.map(WindowBlockTests.text))
    }

    @Test func readingsThatDifferInMoreAreLeftToTheOtherVersion() {
        var random = WindowRandom(seed: Trials.seed(1))
        let uniform = WindowColumnsTests.readings(&random, count: 9)
        let changes: [(inout Measurement) -> Void] = [
            { $0.setExponent(0, $0.exponent(0) &+ 1) }, { $0.mark ^= 1 },
            { $0.timeForm = TimeForm(offsetMinutes: 901) },
            { $0.payloadBytes = 6 },
            { $0.setInline(1, Decimal64(mantissa: 1)) }, { $0.present = 0 }, { $0.mark |= ReadingMark.mixedReceipt },
        ]
        for (number, change) in changes.enumerated() {
            for place in [0, 4, 8] {
                var readings = uniform
                change(&readings[place].0)
                readings[place].1 = [UInt8](repeating: 0, count: readings[place].0.payloadBytes)
                #expect(WindowColumnsTests.encode(readings) == nil, "change \(number) of reading \(place)")
            }
        }
        #expect(WindowColumnsTests.encode(Array(uniform.prefix(3))) == nil)
    }

    @Test func aRegularSeriesTakesFewBytes() throws {
        #expect(try #require(WindowColumnsTests.encode(WindowBlockTests.everySecond)).count < 300 * 3)
    }

    /// 200 readings of a second each, received up to 60 ms after it.
    private static func live(_ random: inout WindowRandom, receivedUnit: Int64) -> [(Measurement, [UInt8])] {
        (0..<200).map { (index: Int) in
            var payload = ByteWriter()
            var reading = TestReading.at(1_767_225_600 + Int64(index), Int64(random.int(50...180)))
            reading.received += Int64(random.int(0...Int(60_000_000 / receivedUnit))) * receivedUnit
            return (reading.measurement(&payload), [])
        }
    }

    @Test func receiveTimesOfWholeMicrosecondsTakeTwoBytes() throws {
        var random = WindowRandom(seed: Trials.seed(3))
        for (unit, bytes) in [(Int64(1), 4), (1_000, 2), (1_000_000, 1)] {
            let readings = WindowColumnsTests.live(&random, receivedUnit: unit)
            let block = try #require(WindowColumnsTests.encode(readings))
            #expect(block.count <= 200 * (2 + bytes) + 28, "receive times in \(unit) ns")
            #expect(WindowBlockTests.decode(block)?.map(WindowBlockTests.text) == readings.map(WindowBlockTests.text))
        }
    }

    /// Times so far apart that their differences wrap around, and are then no multiples of a unit.
    @Test func wholeReceiveTimesOfTheWholeRangeSurvive() throws {
        let farthest: Int64 = 9_223_372_036_854_775_000
        for received in [
            [-farthest, farthest], [farthest, -farthest], [0, farthest], [-farthest, 0], [1_000, 2_000],
        ] {
            for instant in [-farthest, -1_000_000, 1_000, farthest - 10_000_000] {
                let readings = (0..<8).map { index -> (Measurement, [UInt8]) in
                    var payload = ByteWriter()
                    let reading = TestReading(
                        instant: instant + Int64(index) * 1_000_000, received: received[index % 2],
                        values: [0: .number(7, 0)])
                    return (reading.measurement(&payload), [])
                }
                let decoded = WindowBlockTests.decode(try #require(WindowColumnsTests.encode(readings)))
                #expect(decoded?.map(WindowBlockTests.text) == readings.map(WindowBlockTests.text))
            }
        }
    }

    /// Delays that are all the same, and longer than there are nanoseconds in 64 bits with a sign.
    @Test func delaysThatWrapAroundSurvive() throws {
        let farthest: Int64 = 9_223_372_036_854_775_000
        let readings = (0..<8).map { index -> (Measurement, [UInt8]) in
            var payload = ByteWriter()
            let later = Int64(index) * 1_000_000
            let reading = TestReading(
                instant: -farthest + later, received: farthest - 10_000_000 + later, values: [0: .number(7, 0)])
            return (reading.measurement(&payload), [])
        }
        let decoded = WindowBlockTests.decode(try #require(WindowColumnsTests.encode(readings)))
        #expect(decoded?.map(WindowBlockTests.text) == readings.map(WindowBlockTests.text))
    }

    /// What a window that was packed unpacks: the same as what the archive gives back.
    @Test func theSlabTakesTheSameReadings() throws {
        for seed in Trials.seeds(300) {
            var random = WindowRandom(seed: seed)
            let readings = WindowColumnsTests.readings(&random, count: random.int(4...60))
            let block = try #require(WindowColumnsTests.encode(readings))
            var slab = ReadingSlab(readings.map { ($0.0, []) })
            let isSound = block.withByteView { view in
                guard let content = WindowBlockFormat.content(of: view), let columns = WindowColumns(head: content),
                    columns.hasWordRows
                else { return true }
                for place in readings.indices { slab[place].instant = .distantPast }
                return slab.put(columns, of: content, at: 0)
            }
            #expect(isSound, "seed \(seed)")
            let list = slab.readings(from: 0, count: readings.count)
            for (place, reading) in readings.enumerated() {
                #expect(WindowBlockTests.text((list.measurement(place), [])) == WindowBlockTests.text(reading))
            }
        }
    }

    @Test func theSlabNoticesAReadingThatIsNotLater() throws {
        let readings = Array(WindowBlockTests.everySecond.prefix(10))
        var content = Array(try #require(WindowColumnsTests.encode(readings)).dropLast(4))
        let columns = try #require(content.withByteView { WindowColumns(head: $0) })
        for byte in 0..<columns.stepBytes { content[columns.headBytes + 3 * columns.rowBytes + byte] = 0 }
        var slab = ReadingSlab(readings)
        let isSound = content.withByteView { slab.put(columns, of: $0, at: 0) }
        #expect(!isSound)
    }

    @Test func everyDamagedByteIsNoticed() throws {
        for seed in Trials.seeds(100) {
            var random = WindowRandom(seed: seed)
            let block = try #require(WindowColumnsTests.encode(WindowColumnsTests.readings(&random, count: 8)))
            for _ in 0..<40 {
                #expect(WindowBlockTests.decode(WindowBlockTests.damaged(block, &random)) == nil, "seed \(seed)")
            }
        }
    }

    /// Damage behind a right checksum: any answer will do, as long as there is one and a window can be opened with it.
    @Test func nothingInABlockCanTrap() throws {
        for seed in Trials.seeds(400) {
            var random = WindowRandom(seed: seed)
            let block = try #require(WindowColumnsTests.encode(WindowColumnsTests.readings(&random, count: 8)))
            for _ in 0..<20 {
                var content = Array(block.dropLast(4))
                for _ in 0...random.int(0...3) {
                    let last = random.once(in: 2) ? min(30, content.count) : content.count
                    content[random.int(0...last - 1)] = UInt8(random.once(in: 3) ? 0 : random.int(0...255))
                }
                WindowBlockTests.openShortened(content, &random)
            }
        }
    }
}
