/// A reading that is ``Measurement/isPlain``, as nearly all are: what of it a window keeps, small enough for registers.
///
/// No two fields are neighbours in the same order as in a ``Measurement``: the compiler would copy them together, and a
/// processor waits for a load of two words that were just written one by one.
package struct PlainReading: BitwiseCopyable, Sendable {
    var instant: Instant
    /// Digits of its number.
    var mantissa: Int64
    /// ``Measurement/ringWord`` and ``Measurement/valueWord``.
    var ringWord: UInt64
    var valueWord: UInt64
    var received: Instant

    /// What `reading`, which must be plain, says.
    @inline(__always)
    init(_ reading: Measurement) {
        (instant, received, mantissa) = (reading.instant, reading.received, reading.mantissas[0])
        (ringWord, valueWord) = (reading.ringWord, reading.valueWord)
    }

    /// A reading of one number, inline number 0.
    @inline(__always)
    init(instant: Instant, received: Instant, timeForm: TimeForm, number: Decimal64) {
        (self.instant, self.received, mantissa) = (instant, received, number.mantissa)
        ringWord = Measurement.ringWord(Measurement.usualRingWord, timeForm: timeForm)
        valueWord = UInt64(UInt8(bitPattern: number.exponent)) | 1 << 32
    }

    /// Whether it says all of the reading that it was made of.
    @inline(__always)
    var isPlain: Bool { Measurement.isPlain(valueWord) }

    /// Series number within its ring.
    @inline(__always)
    var series: UInt32 { UInt32(truncatingIfNeeded: ringWord >> 32) }

    /// The form of the time in the upper 16 bits.
    @inline(__always)
    var timeForm: UInt64 { ringWord << 32 & 0xFFFF << 48 }

    /// The same with another mark.
    @inline(__always)
    func marked(_ mark: UInt8) -> PlainReading {
        var marked = self
        marked.valueWord = Measurement.valueWord(valueWord, mark: mark)
        return marked
    }
}

extension Measurement {
    /// The reading that `plain` stands for.
    package init(_ plain: PlainReading) {
        self.init(instant: plain.instant, received: plain.received)
        mantissas[0] = plain.mantissa
        (ringWord, valueWord) = (plain.ringWord, plain.valueWord)
    }
}
