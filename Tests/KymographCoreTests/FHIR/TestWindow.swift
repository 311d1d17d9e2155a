import COpenSSL
@testable import KymographCore

/// Builds the content of a window by hand.
struct TestWindow: ~Copyable {
    private var readings: [(reading: Measurement, payload: [UInt8])] = []
    var series: SeriesIdentity
    var start: Int64
    var end: Int64
    var status = ObservationStatus.final
    /// Whether it may have been shown before.
    var mayHaveBeenSeen = false

    static let second: Int64 = 1_000_000_000
    /// 2024-05-01T10:00:00Z, in nanoseconds.
    static let tenOClock: Int64 = 1_714_557_600_000_000_000

    init(
        device: String = "hr-1", patient: String? = "7", encounter: String? = nil, correlation: String? = nil,
        type: Int = 0, start: Int64 = tenOClock, seconds: Int64 = 60
    ) {
        series = SeriesIdentity(
            type: type, device: Array(device.utf8), patient: patient.map { Array($0.utf8) },
            encounter: encounter.map { Array($0.utf8) }, correlation: correlation.map { Array($0.utf8) })
        self.start = start
        end = start + seconds * TestWindow.second
    }

    /// Adds a reading `offset` nanoseconds after the start. `arrays` are samples: numbers, `E`, `L` and `U`.
    mutating func add(
        _ offset: Int64, _ numbers: [Int: String] = [:], texts: [Int: String] = [:], arrays: [Int: [String]] = [:],
        zone: Int16? = nil, digits: Int = 0
    ) {
        let instant = Instant(nanoseconds: start + offset)
        var reading = Measurement(instant: instant, received: instant)
        reading.timeForm = TimeForm(offsetMinutes: zone ?? UTCOffset.none, digits: digits)
        var payload = ByteWriter()
        for (slot, text) in numbers.sorted(by: { $0.key < $1.key }) {
            let number = decimal(text)
            if slot < Measurement.inlineValues {
                reading.setInline(slot, number)
            } else {
                ValueRecord.append(slot: slot, number: number, to: &payload)
            }
        }
        for (slot, text) in texts.sorted(by: { $0.key < $1.key }) {
            Array(text.utf8).withByteView { ValueRecord.append(slot: slot, text: $0, to: &payload) }
        }
        for (slot, samples) in arrays.sorted(by: { $0.key < $1.key }) {
            TestWindow.add(samples, slot: slot, to: &payload)
        }
        reading.payloadBytes = payload.count
        readings.append((reading, payload.view.array))
    }

    /// Gives all readings these tags.
    mutating func tag(_ tags: [String]) { tag { _ in tags } }

    /// Gives each reading the tags that `tags` has for its place.
    mutating func tag(_ tags: (Int) -> [String]) {
        for index in readings.indices {
            var payload = ByteWriter()
            readings[index].payload.withByteView { own in
                ReadingTags.list(tags(index)).withByteView { ReadingTags.append(own, with: $0, to: &payload) }
            }
            readings[index].payload = payload.view.array
            readings[index].reading.payloadBytes = payload.count
        }
    }

    private static func add(_ samples: [String], slot: Int, to payload: inout ByteWriter) {
        var content = ByteWriter()
        let isExact = SampleRecord.append(RawArray(samples.map(TestWindow.placeholder)), to: &content)
        precondition(isExact)
        ValueRecord.append(slot: slot, .samples, content.view, to: &payload)
    }

    private static func placeholder(_ sample: String) -> Decimal64 {
        switch sample {
        case "E": SampleRecord.placeholder(.missing)
        case "L": SampleRecord.placeholder(.below)
        case "U": SampleRecord.placeholder(.above)
        default: decimal(sample)
        }
    }

    /// Lends the content.
    func withContent<Result>(_ body: (borrowing WindowContent) throws -> Result) rethrows -> Result {
        let slab = ReadingSlab(readings)
        return try body(
            WindowContent(
                series: series, start: Instant(nanoseconds: start), end: Instant(nanoseconds: end), status: status,
                readings: slab.readings(from: 0, count: readings.count), mayHaveBeenSeen: mayHaveBeenSeen))
    }
}

/// The number that `text` writes, digits kept.
func decimal(_ text: String) -> Decimal64 {
    let parts = text.split(separator: ".")
    let digits = parts.joined()
    guard let mantissa = Int64(digits) else { preconditionFailure("not a test number: \(text)") }
    return Decimal64(mantissa: mantissa, exponent: parts.count == 2 ? -Int8(parts[1].count) : 0)
}

/// SHA-256 of the system's crypto library.
let testDigest = Digest256 { message, bytes in bytes = testSHA256(message) }

private func testSHA256(_ message: ByteView) -> Digest256.Bytes {
    var bytes = Digest256.Bytes(repeating: 0)
    unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32) { output in
        // Safe: the view is readable for the call, and SHA256 writes exactly 32 bytes.
        let input = unsafe message.unsafeBuffer.bindMemory(to: UInt8.self)
        _ = unsafe SHA256(input.baseAddress, message.count, output.baseAddress)
        for index in 0..<32 { unsafe bytes[index] = output[index] }
    }
    return bytes
}

extension TestWindow {
    /// Adds a reading with one number in slot 0.
    mutating func add(_ offset: Int64, number: Decimal64) {
        let instant = Instant(nanoseconds: start + offset)
        var reading = Measurement(instant: instant, received: instant)
        reading.setInline(0, number)
        readings.append((reading, []))
    }
}

/// The SHA-256 of `text` in hexadecimal.
func hexDigest(_ text: String) -> String {
    Array(text.utf8).withByteView { view in
        let bytes = testSHA256(view)
        return (0..<32).map { index in
            let digits = String(bytes[index], radix: 16)
            return digits.count == 1 ? "0\(digits)" : digits
        }.joined()
    }
}
