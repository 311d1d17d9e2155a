import Testing

@testable import KymographCore
import TrialSupport

@Suite struct WindowBlockTests {
    static let extremes: [Int64] = [0, 1, -1, .max, .min, 999, 1_000_000_000, 1 << 40]

    /// Readings whose fields take any value, in time order.
    static func readings(_ random: inout WindowRandom, count: Int) -> [(Measurement, [UInt8])] {
        let unit = [Int64(1), 1_000, 1_000_000, 1_000_000_000][random.int(0...3)]
        var instant = Int64(random.int(-1_000_000...1_000_000)) * unit
        var received: Int64 = 0
        return (0..<count).map { _ in
            instant += Int64(random.once(in: 3) ? random.int(1...5_000) : 1) * unit
            if random.once(in: 2) { received &+= random.once(in: 4) ? extremes[random.int(0...7)] : unit }
            var reading = TestReading(instant: instant, received: received)
            if random.once(in: 4) { reading.offset = Int16(random.int(-840...840)) }
            if random.once(in: 4) { reading.digits = random.int(0...9) }
            for slot in 0..<8 where random.once(in: 3) {
                if random.once(in: 5) {
                    let samples = (0..<random.int(1...30)).map { _ in Int64(random.int(-9_000...9_000)) }
                    reading.values[slot] = .samples(samples)
                    continue
                }
                let mantissa = random.once(in: 3) ? extremes[random.int(0...7)] : Int64(random.int(0...200))
                reading.values[slot] =
                    random.once(in: 4)
                    ? .text(String(repeating: "y", count: random.int(0...90)))
                    : .number(mantissa, Int8(random.once(in: 3) ? random.int(-100...100) : 0))
            }
            var payload = ByteWriter()
            var measurement = reading.measurement(&payload)
            measurement.mark = random.once(in: 3) ? UInt8(random.int(0...7)) : 2
            return (measurement, payload.view.array)
        }
    }

    static func encode(_ readings: [(Measurement, [UInt8])]) -> [UInt8] {
        let slab = ReadingSlab(readings)
        var writer = ByteWriter()
        var encoder = WindowBlockEncoder(readings: slab.readings(from: 0, count: readings.count))
        encoder.begin(&writer)
        for (reading, payload) in readings { payload.withByteView { encoder.append(reading, $0, to: &writer) } }
        encoder.finish(&writer)
        return writer.view.array
    }

    /// The readings of a block, or nil when it is damaged.
    static func decode(_ block: [UInt8]) -> [(Measurement, [UInt8])]? {
        block.withByteView { view in
            guard var decoder = WindowBlockDecoder(view) else { return nil }
            var readings: [(Measurement, [UInt8])] = []
            while let reading = decoder.next() { readings.append((reading, decoder.payload.array)) }
            return decoder.isComplete ? readings : nil
        }
    }

    /// A reading whose mark says that receive times of its values follow, and that has no value: a block that is written
    /// of it could not be read.
    @Test func receiveTimesOfNoValueAreDamage() {
        let content: [UInt8] = [1, 1, 0, 0x52, 0x61, 0x6E, 8, 0]
        let checksum = content.withByteView(WindowBlockFormat.checksum)
        #expect(Self.decode(content + (0..<4).map { UInt8(truncatingIfNeeded: checksum >> UInt32($0 * 8)) }) == nil)
    }

    static func text(_ reading: (Measurement, [UInt8])) -> String {
        let measurement = reading.0
        var text = "\(measurement.instant) \(measurement.received) \(measurement.timeForm.rawValue) \(measurement.mark)"
        text += " \(measurement.present) \(measurement.payloadBytes) \(reading.1)"
        for slot in 0..<4 { text += measurement.inline(slot).map { " \($0.mantissa)e\($0.exponent)" } ?? " -" }
        return text
    }

    @Test func everyFieldSurvives() {
        for seed in Trials.seeds(800) {
            var random = WindowRandom(seed: seed)
            let readings = WindowBlockTests.readings(&random, count: random.int(0...40))
            let decoded = WindowBlockTests.decode(WindowBlockTests.encode(readings))
            #expect(decoded?.map(WindowBlockTests.text) == readings.map(WindowBlockTests.text), "seed \(seed)")
        }
    }

    @Test func instantsOfTheWholeRangeSurvive() {
        let readings = [Int64.min, -1, 0, .max].map { instant -> (Measurement, [UInt8]) in
            (Measurement(instant: Instant(nanoseconds: instant), received: .distantFuture), [])
        }
        let decoded = WindowBlockTests.decode(WindowBlockTests.encode(readings))
        #expect(decoded?.map(WindowBlockTests.text) == readings.map(WindowBlockTests.text))
    }

    @Test func aRegularSeriesTakesFewBytes() {
        #expect(WindowBlockTests.encode(WindowBlockTests.everySecond).count < 300 * 4)
    }

    @Test func everyDamagedByteIsNoticed() {
        for seed in Trials.seeds(150) {
            var random = WindowRandom(seed: seed)
            let block = WindowBlockTests.encode(WindowBlockTests.readings(&random, count: 8))
            for _ in 0..<40 {
                #expect(WindowBlockTests.decode(WindowBlockTests.damaged(block, &random)) == nil, "seed \(seed)")
            }
        }
    }

    /// Damage behind a right checksum: any answer will do, as long as there is one and a window can be opened with it.
    @Test func nothingInABlockCanTrap() {
        for seed in Trials.seeds(400) {
            var random = WindowRandom(seed: seed)
            let block = WindowBlockTests.encode(WindowBlockTests.readings(&random, count: 8))
            for _ in 0..<20 {
                var content = Array(block.dropLast(4))
                for _ in 0...random.int(0...3) {
                    content[random.int(1...content.count - 1)] = UInt8(random.int(0...255))
                }
                WindowBlockTests.openShortened(content, &random)
            }
        }
    }

    /// Readings of 300 seconds, one each.
    static var everySecond: [(Measurement, [UInt8])] {
        (0..<300).map { index in
            var payload = ByteWriter()
            return (TestReading.at(1_700_000_000 + Int64(index), 60 + Int64(index % 7)).measurement(&payload), [])
        }
    }

    /// `block` with one bit changed, or bytes lost or added at the end.
    static func damaged(_ block: [UInt8], _ random: inout WindowRandom) -> [UInt8] {
        var damaged = block
        switch random.int(0...2) {
        case 0: damaged[random.int(0...block.count - 1)] ^= UInt8(1 << random.int(0...7))
        case 1: damaged.removeLast(random.int(1...block.count))
        default: damaged.append(UInt8(random.int(0...255)))
        }
        return damaged
    }

    /// Reads `content`, or the start of it, behind a right checksum, and opens a window with it.
    static func openShortened(_ content: [UInt8], _ random: inout WindowRandom) {
        var content = content
        if random.once(in: 4) { content.removeLast(random.int(0...content.count - 3)) }
        let checksum = content.withByteView(WindowBlockFormat.checksum)
        content += (0..<4).map { UInt8(truncatingIfNeeded: checksum >> UInt32($0 * 8)) }
        _ = decode(content)
        reopen(with: content)
    }

    static func reopen(with block: [UInt8]) {
        var table = WindowTable(settings: WindowSettings())
        table.append(MeasurementType(name: "type", valueNames: [], grouping: .correlation, isNumeric: []))
        let window = block.withByteView { table.restore(series: 0, span: .always, block: $0) }
        guard let window else {
            #expect(table.windows.count == 0 && table.runs.count == 0)
            return
        }
        var writer = ByteWriter()
        table.pack(window, into: &writer)
        #expect(decode(writer.view.array) != nil)
    }
}
