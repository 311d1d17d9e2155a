package import KymographCore

/// Lines one after the other in padded memory, made once before anything is measured.
package final class LinePool: Sendable {
    private let memory: PaddedBytes
    /// The lines, without line feeds; valid while the pool is alive.
    nonisolated(unsafe) public let lines: [ByteView]

    init(_ text: borrowing ByteWriter, ends: [Int]) {
        memory = PaddedBytes(copying: text.view.array)
        var start = 0
        var lines: [ByteView] = []
        lines.reserveCapacity(ends.count)
        for end in ends {
            lines.append(memory.view(start..<end))
            start = end + 1
        }
        unsafe self.lines = lines
    }

    /// Readings of about 200 bytes with an ISO-8601 time, as a telephone's health store sends them.
    package static func healthReadings(count: Int = 8_192) -> LinePool {
        var random = SplitMix64(seed: 1)
        var text = ByteWriter(capacity: count * 256)
        var ends: [Int] = []
        for index in 0..<count {
            appendHealthReading(index, &random, to: &text)
            ends.append(text.count)
            text.append("\n")
        }
        return LinePool(text, ends: ends)
    }

    /// The same payload again and again.
    static func copies(of payload: [UInt8], count: Int = 64) -> LinePool {
        var text = ByteWriter(capacity: count * (payload.count + 1))
        var ends: [Int] = []
        for _ in 0..<count {
            text.append(payload)
            ends.append(text.count)
            text.append("\n")
        }
        return LinePool(text, ends: ends)
    }

    /// The bytes of a connection as it is read, so many at a time.
    package static func pieces(of bytes: [UInt8], each: Int) -> LinePool {
        var text = ByteWriter(capacity: bytes.count * 2)
        var ends: [Int] = []
        for start in stride(from: 0, to: bytes.count, by: each) {
            text.append(Array(bytes[start..<min(start + each, bytes.count)]))
            ends.append(text.count)
            text.append("\n")
        }
        return LinePool(text, ends: ends)
    }

    /// Times of the year 2026 with milliseconds, in UTC.
    package static func times(count: Int = 8_192) -> LinePool {
        var random = SplitMix64(seed: 5)
        var text = ByteWriter(capacity: count * 32)
        var ends: [Int] = []
        for _ in 0..<count {
            text.appendTime(&random)
            ends.append(text.count)
            text.append("\n")
        }
        return LinePool(text, ends: ends)
    }

    /// Heart rates as a chest strap sends them, in packets of the characteristic 2A37, or as lines of the catalogue's
    /// mapping `reading`.
    package static func heartRates(asPackets: Bool, count: Int = 4_096) -> LinePool {
        var random = SplitMix64(seed: 3)
        var text = ByteWriter(capacity: count * 128)
        var ends: [Int] = []
        for index in 0..<count {
            let rate = 48 + random.below(80)
            if asPackets {
                text.append(0x06)
                text.append(UInt8(rate))
            } else {
                text.append("{\"deviceId\":\"strap-1\",\"type\":\"heartRate\",\"timestamp\":\"2026-03-01T08:")
                text.append(UInt64(index / 60 % 60), digits: 2)
                text.append(":")
                text.append(UInt64(index % 60), digits: 2)
                text.append(".250Z\",\"value\":")
                text.append(rate)
                text.append(",\"unit\":\"/min\"}")
            }
            ends.append(text.count)
            text.append("\n")
        }
        return LinePool(text, ends: ends)
    }

    /// Lines in the shape of the end-to-end workload: heart rate 70 %, steps 15 %, glucose 10 %, blood pressure 5 %;
    /// `devices` devices, each with as many readings per second as there; 5 % are up to 20 s late.
    package static func workload(count: Int, devices: UInt64 = 32) -> LinePool {
        var random = SplitMix64(seed: 20_260_101)
        var text = ByteWriter(capacity: count * 128)
        var ends: [Int] = []
        ends.reserveCapacity(count)
        for index in 0..<count {
            let late = random.below(20) == 0 ? random.below(20_000) : 0
            let time = Workload.start + UInt64(index) * Workload.millisecondsPerDeviceReading / devices
            appendLine(max(time - late, Workload.start), index, devices, &random, to: &text)
            ends.append(text.count)
            text.append("\n")
        }
        return LinePool(text, ends: ends)
    }

    /// The same readings, `each` at a time as the elements of an array.
    package static func workloadArrays(count: Int, each: Int) -> LinePool {
        let pool = workload(count: count)
        // The lines are valid while it is alive.
        defer { withExtendedLifetime(pool) {} }
        let lines = unsafe pool.lines
        var text = ByteWriter(capacity: count * 128)
        var ends: [Int] = []
        for start in stride(from: 0, to: count - each + 1, by: each) {
            for index in start..<start + each {
                text.append(index == start ? "[" : ",")
                text.append(lines[index])
            }
            text.append("]")
            ends.append(text.count)
            text.append("\n")
        }
        return LinePool(text, ends: ends)
    }

    /// Heart rates of `devices` devices in turn, each 14 s after the one before of its device. The clocks of the
    /// devices are spread over five minutes, so that windows end all the time.
    package static func turns(count: Int, devices: Int) -> LinePool {
        var random = SplitMix64(seed: 6)
        var text = ByteWriter(capacity: count * 128)
        var ends: [Int] = []
        ends.reserveCapacity(count)
        for index in 0..<count {
            let (round, device) = index.quotientAndRemainder(dividingBy: devices)
            text.append("{\"device\":\"dev-")
            text.append(UInt64(device), digits: 5)
            text.append("\",\"ts\":")
            text.append(Workload.start + UInt64(round * 14_000 + device * 300_000 / devices), digits: 13)
            appendValue("heart-rate", 48 + random.below(122), "bpm", to: &text)
            text.append("}")
            ends.append(text.count)
            text.append("\n")
        }
        return LinePool(text, ends: ends)
    }

    private static func appendLine(
        _ time: UInt64, _ index: Int, _ devices: UInt64, _ random: inout SplitMix64, to text: inout ByteWriter
    ) {
        text.append("{\"device\":\"dev-")
        text.append(random.below(devices), digits: 5)
        text.append("\",\"ts\":")
        text.append(time, digits: 13)
        switch random.below(100) {
        case 0..<70: appendValue("heart-rate", 48 + random.below(122), "bpm", to: &text)
        case 70..<85: appendValue("steps", random.below(40), "steps", to: &text)
        case 85..<95: appendValue("glucose", 60 + random.below(160), "mg/dL", to: &text)
        default:
            text.append(",\"type\":\"bp\",\"sys\":")
            text.append(95 + random.below(75))
            text.append(",\"dia\":")
            text.append(55 + random.below(50))
            text.append(",\"unit\":\"mmHg\"")
        }
        text.append(",\"seq\":")
        text.append(UInt64(index) / devices + 1)
        text.append(",\"batt\":")
        text.append(5 + random.below(96))
        text.append("}")
    }

    private static func appendValue(
        _ type: StaticString, _ value: UInt64, _ unit: StaticString, to text: inout ByteWriter
    ) {
        text.append(",\"type\":\"")
        text.append(type)
        text.append("\",\"value\":")
        text.append(value)
        text.append(",\"unit\":\"")
        text.append(unit)
        text.append("\"")
    }

    private static func appendHealthReading(_ index: Int, _ random: inout SplitMix64, to text: inout ByteWriter) {
        text.append("{\"deviceId\":\"hr-")
        text.append(random.below(10_000), digits: 4)
        text.append("\",\"patientId\":\"p-")
        text.append(1 + random.below(4_999))
        text.append("\",\"type\":\"HKQuantityTypeIdentifierHeartRate\",\"sourceName\":\"Apple Watch\",\"endDate\":\"")
        text.appendTime(&random)
        text.append("\",\"heartRate\":")
        text.append(40 + random.below(140))
        if index % 3 == 0 { text.append(".25") }
        text.append(",\"unit\":\"beats/min\",\"seq\":")
        text.append(UInt64(index))
        text.append("}")
    }
}

extension ByteWriter {
    /// Writes a number, with leading zeros up to `digits`.
    fileprivate mutating func append(_ number: UInt64, digits: Int = 1) {
        var power: UInt64 = 1
        var width = 1
        while width < digits || number / power >= 10 {
            power *= 10
            width += 1
        }
        while power > 0 {
            append(UInt8(ascii: "0") + UInt8(number / power % 10))
            power /= 10
        }
    }

    /// A time of the year 2026 with milliseconds, in UTC.
    fileprivate mutating func appendTime(_ random: inout SplitMix64) {
        append("2026-")
        append(1 + random.below(12), digits: 2)
        append("-")
        append(1 + random.below(28), digits: 2)
        append("T")
        append(random.below(24), digits: 2)
        append(":")
        append(random.below(60), digits: 2)
        append(":")
        append(random.below(60), digits: 2)
        append(".")
        append(random.below(1_000), digits: 3)
        append("Z")
    }
}
