import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// Fields of a measurement share words: none may change another.
@Suite struct MeasurementTests {
    /// The fields, each by itself.
    private struct Fields: Equatable {
        var kind: UInt8 = RecordKind.measurement.rawValue
        var form = TimeForm.unknown
        var series: UInt32 = 0
        var exponents: [Int8] = [0, 0, 0, 0]
        var mantissas: [Int64] = [0, 0, 0, 0]
        var present: UInt8 = 0
        var mark: UInt8 = 0
        var payloadBytes = 0

        init() {}

        init(_ measurement: Measurement) {
            kind = measurement.kind
            (form, series) = (measurement.timeForm, measurement.series)
            exponents = (0..<4).map { measurement.exponent($0) }
            mantissas = (0..<4).map { measurement.mantissas[$0] }
            (present, mark, payloadBytes) = (measurement.present, measurement.mark, measurement.payloadBytes)
        }
    }

    private func change(_ measurement: inout Measurement, _ fields: inout Fields, _ random: inout SeededGenerator) {
        let number = Int.random(in: 0..<4, using: &random)
        let bits = UInt64.random(in: .min ... .max, using: &random)
        switch Int.random(in: 0..<9, using: &random) {
        case 0, 1: (measurement.kind, fields.kind) = (UInt8(bits & 0xFF), UInt8(bits & 0xFF))
        case 2:
            fields.form = TimeForm(offsetMinutes: Int16(bits % 1_681) - 840, digits: Int(bits >> 32 % 10))
            measurement.timeForm = fields.form
        case 3:
            measurement.series = UInt32(truncatingIfNeeded: bits)
            fields.series = UInt32(truncatingIfNeeded: bits)
        case 4:
            measurement.setExponent(number, Int8(truncatingIfNeeded: bits))
            fields.exponents[number] = Int8(truncatingIfNeeded: bits)
        case 5:
            let value = Decimal64(mantissa: Int64(bitPattern: bits), exponent: Int8(truncatingIfNeeded: bits >> 8))
            measurement.setInline(number, value)
            (fields.mantissas[number], fields.exponents[number]) = (value.mantissa, value.exponent)
            fields.present |= 1 << UInt8(number)
            #expect(measurement.inline(number) == value)
        case 6: (measurement.present, fields.present) = (UInt8(bits & 15), UInt8(bits & 15))
        case 7: (measurement.mark, fields.mark) = (UInt8(truncatingIfNeeded: bits), UInt8(truncatingIfNeeded: bits))
        default:
            measurement.payloadBytes = Int(bits & 0xF_FFFF)
            fields.payloadBytes = Int(bits & 0xF_FFFF)
        }
    }

    @Test func fieldsThatShareAWordDoNotChangeEachOther() {
        var random = SeededGenerator(seed: Trials.seed(21))
        var measurement = Measurement(instant: Instant(nanoseconds: 1), received: Instant(nanoseconds: 2))
        var fields = Fields()
        #expect(Fields(measurement) == fields)
        for _ in 0..<5_000 {
            change(&measurement, &fields, &random)
            #expect(Fields(measurement) == fields)
        }
        #expect(measurement.instant == Instant(nanoseconds: 1) && measurement.received == Instant(nanoseconds: 2))
    }

    @Test func whatComesOutOfARingIsWhatWentIn() {
        var random = SeededGenerator(seed: Trials.seed(22))
        let ring = Ring(capacity: 512)
        var producer = RingProducer(ring)
        var consumer = RingConsumer(ring)
        for number in 0..<5_000 {
            var reading = Measurement(instant: Instant(nanoseconds: Int64(number)), received: Instant(nanoseconds: -1))
            var fields = Fields()
            for value in 0..<Int.random(in: 0...4, using: &random) {
                let digits = Int64.random(in: .min ... .max, using: &random)
                reading.setInline(value, Decimal64(mantissa: digits, exponent: Int8(value) - 2))
            }
            reading.mark = UInt8(truncatingIfNeeded: number)
            reading.series = UInt32(number)
            fields = Fields(reading)
            let isWritten = producer.write(reading, payload: ByteView(""))
            #expect(isWritten)
            producer.publish()
            let taken = consumer.next()
            #expect(taken.map(Fields.init) == fields && taken?.instant == reading.instant)
            consumer.release()
        }
    }
}
