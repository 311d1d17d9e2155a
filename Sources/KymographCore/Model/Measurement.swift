/// One normalised reading in fixed layout: one 64-byte slot of a ring, plus continuation slots for what does not fit.
///
/// Values are numbered by their place in the type's ``MeasurementType/valueNames``. The first four numbers are inline;
/// texts and further numbers follow as ``ValueRecord``s in the payload of the continuation slots.
public struct Measurement: BitwiseCopyable, Sendable {
    /// What this slot is in a ring.
    public var kind: RecordKind.RawValue = RecordKind.measurement.rawValue
    /// How many continuation slots follow.
    public var continuationSlots: UInt8 = 0
    /// Minutes from UTC that the source wrote, or ``UTCOffset/none``.
    public var offsetMinutes: Int16 = UTCOffset.none
    /// Series number within its ring.
    public var series: UInt32 = 0
    /// Event time in nanoseconds since the epoch.
    public var instant: Instant
    /// Receive time in nanoseconds since the epoch.
    public var received: Instant
    /// Digits of the inline numbers.
    public var mantissas: InlineArray<4, Int64> = .init(repeating: 0)
    /// Powers of ten of the inline numbers.
    public var exponents: InlineArray<4, Int8> = .init(repeating: 0)
    /// Bit i is set when inline number i is present.
    public var present: UInt8 = 0
    /// The upper four bits name the source (``ReadingSource``); the others are free for the owner's use.
    public var mark: UInt8 = 0
    /// Bytes of ``ValueRecord``s in the payload.
    public var payloadBytes: UInt16 = 0

    /// A measurement without values.
    public init(instant: Instant, received: Instant) {
        self.instant = instant
        self.received = received
    }

    /// Numbers that fit in the slot itself.
    public static let inlineValues = 4

    /// Whether it is inline number 0 and nothing else, as nearly all are.
    @inline(__always)
    var isPlain: Bool { present == 1 && payloadBytes == 0 }

    /// Sets inline number `index` (0…3).
    @inline(__always)
    public mutating func setInline(_ index: Int, _ value: Decimal64) {
        mantissas[index] = value.mantissa
        exponents[index] = value.exponent
        present |= 1 << UInt8(truncatingIfNeeded: index)
    }

    /// Inline number `index` (0…3), or nil when absent.
    @inline(__always)
    public func inline(_ index: Int) -> Decimal64? {
        guard present & (1 << UInt8(truncatingIfNeeded: index)) != 0 else { return nil }
        return Decimal64(mantissa: mantissas[index], exponent: exponents[index])
    }
}

/// What a ring slot holds.
public enum RecordKind: UInt8, Sendable {
    /// A reading.
    case measurement = 1
    /// The introduction of a series, before its first reading.
    case definition = 2
    /// Nothing: the rest of the ring up to its end, because records do not wrap.
    case padding = 3
    /// From here on readings are mapped by a newer mapping set.
    case mappings = 4
}
