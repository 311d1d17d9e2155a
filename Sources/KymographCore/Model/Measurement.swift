/// One normalised reading in fixed layout: one 64-byte slot of a ring, plus continuation slots for what does not fit.
///
/// Values are numbered by their place in the type's ``MeasurementType/valueNames``. The first four numbers are inline;
/// texts and further numbers follow as ``ValueRecord``s in the payload of the continuation slots.
@usableFromInline
package struct Measurement: BitwiseCopyable, Sendable {
    /// The ring's fields, in one word: kind (8 bits), nothing (8), form of the time (16), series (32).
    @usableFromInline var ringWord = Measurement.usualRingWord
    /// Event time in nanoseconds since the epoch.
    @usableFromInline package var instant: Instant
    /// Receive time in nanoseconds since the epoch.
    @usableFromInline package var received: Instant
    /// Digits of the inline numbers.
    @usableFromInline package var mantissas: InlineArray<4, Int64> = .init(repeating: 0)
    /// What the values are, in one word: four powers of ten (8 bits each), presence (4), mark (8), payload bytes (20).
    @usableFromInline var valueWord: UInt64 = 0

    /// A measurement without values.
    package init(instant: Instant, received: Instant) {
        self.instant = instant
        self.received = received
    }

    /// Numbers that fit in the slot itself.
    package static let inlineValues = 4
    /// Most ``payloadBytes``.
    static let mostPayloadBytes = 1 << 20 - 1

    /// Whether it is inline number 0 and nothing else, as nearly all are.
    @inlinable
    @inline(__always)
    var isPlain: Bool { Measurement.isPlain(valueWord) }

    @inlinable
    @inline(__always)
    static func isPlain(_ valueWord: UInt64) -> Bool { valueWord & ~Measurement.markAndPowers == 1 << 32 }

    /// Sets inline number `index` (0…3).
    @inline(__always)
    package mutating func setInline(_ index: Int, _ value: Decimal64) {
        mantissas[index] = value.mantissa
        setExponent(index, value.exponent)
        valueWord |= 1 &<< UInt64(truncatingIfNeeded: 32 &+ index)
    }

    /// Inline number `index` (0…3), or nil when absent.
    @inline(__always)
    package func inline(_ index: Int) -> Decimal64? {
        guard present & (1 << UInt8(truncatingIfNeeded: index)) != 0 else { return nil }
        return Decimal64(mantissa: mantissas[index], exponent: exponent(index))
    }
}

/// Fields that share a word. A processor waits where it reads a word that was just written in parts, as each reading is
/// on its way into a ring; written as a whole, the word is at hand.
extension Measurement {
    static var usualRingWord: UInt64 {
        UInt64(RecordKind.measurement.rawValue) | UInt64(UInt16(bitPattern: TimeForm.unknown.rawValue)) << 16
    }
    @inlinable static var markAndPowers: UInt64 { 0xFF0_FFFF_FFFF }

    /// What this slot is in a ring.
    @inlinable
    package var kind: RecordKind.RawValue {
        @inline(__always) get { UInt8(truncatingIfNeeded: ringWord) }
        @inline(__always) set { ringWord = ringWord & ~0xFF | UInt64(newValue) }
    }

    /// Bytes of one, and of a slot of a ring.
    @inlinable static var slotBytes: Int { 64 }

    /// How many slots of a ring the payload takes.
    @inlinable
    var continuationSlots: Int {
        @inline(__always) get {
            hasPayload ? (payloadBytes &+ Measurement.slotBytes &- 1) / Measurement.slotBytes : 0
        }
    }

    /// How the source wrote the time.
    package var timeForm: TimeForm {
        @inline(__always) get { TimeForm(rawValue: Int16(truncatingIfNeeded: ringWord >> 16)) }
        @inline(__always) set { ringWord = Measurement.ringWord(ringWord, timeForm: newValue) }
    }

    /// A ``ringWord`` with another form of the time.
    @inline(__always)
    static func ringWord(_ word: UInt64, timeForm: TimeForm) -> UInt64 {
        word & ~0xFFFF_0000 | UInt64(UInt16(bitPattern: timeForm.rawValue)) << 16
    }

    /// Series number within its ring.
    @inlinable
    package var series: UInt32 {
        @inline(__always) get { UInt32(truncatingIfNeeded: ringWord >> 32) }
        @inline(__always) set { ringWord = ringWord & 0xFFFF_FFFF | UInt64(newValue) << 32 }
    }

    /// A ``ringWord`` with another series.
    @inlinable
    @inline(__always)
    static func ringWord(_ word: UInt64, series: UInt32) -> UInt64 { word & 0xFFFF_FFFF | UInt64(series) << 32 }

    /// Powers of ten of the inline numbers, the first in the lowest byte.
    @inlinable
    package var powers: UInt32 {
        @inline(__always) get { UInt32(truncatingIfNeeded: valueWord) }
        @inline(__always) set { valueWord = valueWord & ~0xFFFF_FFFF | UInt64(newValue) }
    }

    /// Bit i is set when inline number i is present.
    @inlinable
    package var present: UInt8 {
        @inline(__always) get { UInt8(truncatingIfNeeded: valueWord >> 32) & 0xF }
        @inline(__always) set { valueWord = valueWord & ~0xF_0000_0000 | UInt64(newValue & 0xF) << 32 }
    }

    /// The upper four bits name the source (``ReadingSource``); the others are free for the owner's use.
    @inlinable
    package var mark: UInt8 {
        @inline(__always) get { UInt8(truncatingIfNeeded: valueWord >> 36) }
        @inline(__always) set { valueWord = Measurement.valueWord(valueWord, mark: newValue) }
    }

    /// A ``valueWord`` with another mark.
    @inlinable
    @inline(__always)
    static func valueWord(_ word: UInt64, mark: UInt8) -> UInt64 { word & ~0xFF0_0000_0000 | UInt64(mark) << 36 }

    /// Bytes of ``ValueRecord``s in the payload: 0…1,048,575.
    @inlinable
    package var payloadBytes: Int {
        @inline(__always) get { Int(truncatingIfNeeded: valueWord >> 44) }
        @inline(__always) set {
            valueWord = valueWord & 0xFFF_FFFF_FFFF | UInt64(truncatingIfNeeded: newValue) << 44
        }
    }

    /// Whether there is a payload.
    @inlinable
    var hasPayload: Bool {
        @inline(__always) get { valueWord >= 1 << 44 }
    }

    /// The power of ten of inline number `index` (0…3).
    @inlinable
    @inline(__always)
    package func exponent(_ index: Int) -> Int8 {
        Int8(truncatingIfNeeded: valueWord &>> UInt64(truncatingIfNeeded: index &* 8))
    }

    /// Sets the power of ten of inline number `index` (0…3).
    @inlinable
    @inline(__always)
    package mutating func setExponent(_ index: Int, _ exponent: Int8) {
        let place = UInt64(truncatingIfNeeded: index &* 8)
        valueWord = valueWord & ~(0xFF &<< place) | UInt64(UInt8(bitPattern: exponent)) &<< place
    }
}

/// Which source a reading came from, as a number in its ``Measurement/mark``: windows keep it with each reading, so
/// that the ledger can say what each source contributed.
package enum ReadingSource {
    /// Stands for "unknown, or one of those beyond the numbers there are".
    package static let other = 15

    /// The mark of a reading of source `number`.
    @inline(__always)
    static func mark(_ number: Int) -> UInt8 { UInt8(truncatingIfNeeded: min(number, other)) << 4 }

    /// The source that `mark` names.
    @inline(__always)
    package static func number(_ mark: UInt8) -> Int { Int(mark >> 4) }
}

/// What a ring slot holds.
@usableFromInline
package enum RecordKind: UInt8, Sendable {
    /// A reading.
    case measurement = 1
    /// The introduction of a series, before its first reading.
    case definition = 2
    /// Nothing: the rest of the ring up to its end, because records do not wrap.
    case padding = 3
    /// From here on readings are mapped by a newer mapping set.
    case mappings = 4
    /// A retraction (``Tombstone``).
    case retraction = 5
    /// The end of a document that had retractions.
    case documentEnd = 6
    /// What became of the readings since the last of its kind is to be told under a number, or with 0 to nobody.
    case countEnd = 7
}
