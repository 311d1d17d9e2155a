import KymographCore

/// Records whose content follows from a number, so that a reader can tell whether it got what was written.
enum RecordPlan {
    /// A payload of `length` bytes for record `number`.
    static func payload(_ number: UInt64, length: Int) -> [UInt8] {
        (0..<length).map { UInt8(truncatingIfNeeded: number &* 31 &+ UInt64($0)) }
    }

    /// Record `number` with a payload of `length` bytes.
    static func record(_ number: UInt64, length: Int) -> Measurement {
        var record = Measurement(
            instant: Instant(nanoseconds: Int64(bitPattern: number)), received: Instant(nanoseconds: Int64(length)))
        record.payloadBytes = length
        record.series = UInt32(truncatingIfNeeded: number)
        record.setInline(Int(number % 4), Decimal64(mantissa: Int64(bitPattern: ~number), exponent: 1))
        return record
    }
}

/// Writes record `number`; false when the ring is full.
func put(_ number: UInt64, length: Int, _ producer: inout RingProducer) -> Bool {
    RecordPlan.payload(number, length: length).withByteView { payload in
        producer.write(RecordPlan.record(number, length: length), payload: payload)
    }
}
