/// A reading that is ``Measurement/isPlain``, as nearly all are: what of it a window keeps, small enough for registers.
struct PlainReading: BitwiseCopyable {
    var instant: Instant
    var received: Instant
    /// Digits of its number.
    var mantissa: Int64
    /// ``Measurement/ringWord`` and ``Measurement/valueWord``.
    var ringWord: UInt64
    var valueWord: UInt64

    /// What `reading`, which must be plain, says.
    @inline(__always)
    init(_ reading: Measurement) {
        (instant, received, mantissa) = (reading.instant, reading.received, reading.mantissas[0])
        (ringWord, valueWord) = (reading.ringWord, reading.valueWord)
    }

    /// Series number within its ring.
    @inline(__always)
    var series: UInt32 { UInt32(truncatingIfNeeded: ringWord >> 32) }

    /// The offset from UTC in the upper 16 bits.
    @inline(__always)
    var offset: UInt64 { ringWord << 32 & 0xFFFF << 48 }
}
