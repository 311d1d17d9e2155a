import Testing

@testable import KymographCore

/// Version 2 of the archive's blocks: windows whose readings differ only in times and digits.
@Suite struct WindowColumnsTests {
    /// Readings with one number each, in time order; all else is the same, and numbers and times take any value.
    static func readings(_ random: inout WindowRandom, count: Int) -> [(Measurement, [UInt8])] {
        let unit = [Int64(1), 1_000, 1_000_000, 1_000_000_000][random.int(0...3)]
        let longestStep = [1, 200, 70_000, 1 << 26][random.int(0...3)]
        let isExtreme = random.once(in: 3)
        var model = TestReading(instant: Int64(random.int(-1_000_000...1_000_000)) * unit, received: 0)
        model.offset = random.once(in: 2) ? UTCOffset.none : Int16(random.int(-900...900))
        let exponent = Int8(random.int(-100...100))
        let mark = UInt8(random.int(0...7))
        return (0..<count).map { _ in
            model.instant += Int64(random.int(1...longestStep)) * unit
            model.received = random.once(in: 3) ? model.instant &+ 5 : model.received &+ Int64(random.int(0...900))
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
        for seed in UInt64(1)...1_500 {
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
        var random = WindowRandom(seed: 1)
        let uniform = WindowColumnsTests.readings(&random, count: 9)
        let changes: [(inout Measurement) -> Void] = [
            { $0.exponents[0] &+= 1 }, { $0.mark ^= 1 }, { $0.offsetMinutes = 901 }, { $0.payloadBytes = 6 },
            { $0.setInline(1, Decimal64(mantissa: 1)) }, { $0.present = 0 }, { $0.mark |= ReadingMark.mixedReceipt },
        ]
        for (number, change) in changes.enumerated() {
            for place in [0, 4, 8] {
                var readings = uniform
                change(&readings[place].0)
                readings[place].1 = [UInt8](repeating: 0, count: Int(readings[place].0.payloadBytes))
                #expect(WindowColumnsTests.encode(readings) == nil, "change \(number) of reading \(place)")
            }
        }
        #expect(WindowColumnsTests.encode(Array(uniform.prefix(3))) == nil)
    }

    @Test func aRegularSeriesTakesFewBytes() throws {
        #expect(try #require(WindowColumnsTests.encode(WindowBlockTests.everySecond)).count < 300 * 3)
    }

    @Test func everyDamagedByteIsNoticed() throws {
        for seed in UInt64(1)...100 {
            var random = WindowRandom(seed: seed)
            let block = try #require(WindowColumnsTests.encode(WindowColumnsTests.readings(&random, count: 8)))
            for _ in 0..<40 {
                #expect(WindowBlockTests.decode(WindowBlockTests.damaged(block, &random)) == nil, "seed \(seed)")
            }
        }
    }

    /// Damage behind a right checksum: any answer will do, as long as there is one and a window can be opened with it.
    @Test func nothingInABlockCanTrap() throws {
        for seed in UInt64(1)...400 {
            var random = WindowRandom(seed: seed)
            let block = try #require(WindowColumnsTests.encode(WindowColumnsTests.readings(&random, count: 8)))
            for _ in 0..<20 {
                var content = Array(block.dropLast(4))
                for _ in 0...random.int(0...3) {
                    let last = random.once(in: 2) ? WindowColumns.headBytes : content.count
                    content[random.int(1...last - 1)] = UInt8(random.once(in: 3) ? 0 : random.int(0...255))
                }
                WindowBlockTests.openShortened(content, &random)
            }
        }
    }
}
