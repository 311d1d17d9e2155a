/// One reading of a window in half of what a ring takes for it: 32 bytes.
///
/// Nearly all readings have one number. Of others, what does not fit is in a block of its own (``ReadingSlab``): the
/// four inline numbers' digits, and behind them the payload of ``ValueRecord``s, which receive times may follow.
package struct StoredReading: BitwiseCopyable, Sendable {
    /// Event time in nanoseconds since the epoch.
    package var instant: Instant
    /// Receive time in nanoseconds since the epoch.
    package var received: Instant
    /// Digits of the only number; with ``hasBlock``, the block's first slot (32 bits), the bytes of the payload (24)
    /// and the block's size class (8).
    var content: Int64
    /// All but times and digits, as one number: the powers of ten of the inline numbers (8 bits each), presence (4),
    /// mark (8), whether there is a block (1), nothing (3), and form of the time (16). Powers, presence and mark are as
    /// in ``Measurement/valueWord``.
    private(set) var kind: UInt64

    private static let blockBit: UInt64 = 1 << 44
    /// The inline numbers' bits.
    private static let numbers: UInt8 = 15
    /// Bytes of a block before the payload.
    static let digitBytes = Measurement.inlineValues * 8

    /// Whether `reading`, whose stored bytes behind the digits are `bytes`, needs no block.
    @inline(__always)
    static func fits(_ reading: Measurement, bytes: Int) -> Bool {
        let numbers = reading.present & StoredReading.numbers
        return bytes == 0 && numbers & (numbers &- 1) == 0
    }

    /// A reading that ``fits(_:bytes:)``.
    @inline(__always)
    init(_ reading: Measurement) {
        self.init(reading, content: 0, block: 0)
        content = reading.mantissas[present.trailingZeroBitCount & 3]
    }

    /// A new reading.
    @inline(__always)
    init(_ reading: PlainReading) {
        (instant, received, content) = (reading.instant, reading.received, reading.mantissa)
        kind = reading.valueWord & (1 << 36 - 1 | UInt64(ReadingMark.source) << 36) | reading.timeForm
    }

    /// A reading at no time yet that is number 0 alone.
    init(number: Int64, exponent: Int8, mark: UInt8, timeForm: TimeForm) {
        (instant, received) = (Instant(nanoseconds: 0), Instant(nanoseconds: 0))
        content = number
        kind = UInt64(UInt8(bitPattern: exponent)) | 1 << 32 | UInt64(mark) << 36
        kind |= StoredReading.bits(timeForm)
    }

    /// A reading with the block of size class `sizeClass` at slot `block`.
    init(_ reading: Measurement, block: Int, sizeClass: Int) {
        let content = UInt64(block) | UInt64(reading.payloadBytes) << 32 | UInt64(sizeClass) << 56
        self.init(reading, content: Int64(bitPattern: content), block: StoredReading.blockBit)
    }

    @inline(__always)
    private init(_ reading: Measurement, content: Int64, block: UInt64) {
        (instant, received) = (reading.instant, reading.received)
        self.content = content
        kind = UInt64(reading.powers) | UInt64(reading.present & StoredReading.numbers) << 32 | block
        kind |= UInt64(reading.mark) << 36 | StoredReading.bits(reading.timeForm)
    }

    @inline(__always)
    private static func bits(_ form: TimeForm) -> UInt64 { UInt64(UInt16(bitPattern: form.rawValue)) << 48 }

    /// Powers of ten of the inline numbers, the first in the lowest byte.
    @inline(__always)
    var powers: UInt32 { UInt32(truncatingIfNeeded: kind) }

    /// State of the reading in its window, see ``ReadingMark``.
    var mark: UInt8 {
        @inline(__always) get { UInt8(truncatingIfNeeded: kind >> 36) }
        @inline(__always) set { kind = kind & ~(0xFF << 36) | UInt64(newValue) << 36 }
    }

    /// How the source wrote the time.
    package var timeForm: TimeForm {
        @inline(__always) get { TimeForm(rawValue: Int16(truncatingIfNeeded: kind >> 48)) }
        @inline(__always) set { kind = kind & ~(0xFFFF << 48) | StoredReading.bits(newValue) }
    }

    /// The power of ten of inline number `number` (0…3).
    @inline(__always)
    func exponent(_ number: Int) -> Int8 {
        Int8(truncatingIfNeeded: kind &>> UInt64(truncatingIfNeeded: number &* 8))
    }

    /// Bit i is set when inline number i is present.
    @inline(__always)
    var present: UInt8 { UInt8(truncatingIfNeeded: kind >> 32) & StoredReading.numbers }

    /// Whether it is number 0 and nothing else, as nearly all are.
    @inline(__always)
    var isPlain: Bool { kind & (0xF << 32 | StoredReading.blockBit) == 1 << 32 }

    /// Whether inline number `slot` is present, and in ``content``.
    @inline(__always)
    func contains(_ slot: Int) -> Bool {
        let number: UInt64 = 1 &<< UInt64(truncatingIfNeeded: slot &+ 32)
        return kind & (number | StoredReading.blockBit) == number
    }

    /// The bits of ``form(_:)`` for inline number `slot`: its power of ten, and whether it is there and in ``content``.
    @inline(__always)
    static func formMask(_ slot: Int) -> UInt64 {
        0xFF &<< UInt64(truncatingIfNeeded: slot &* 8) | 1 &<< UInt64(truncatingIfNeeded: slot &+ 32) | blockBit
    }

    /// What a reading has under the ``formMask(_:)`` of inline number `slot` if that is in ``content``, with this power
    /// of ten; none has it whose number is in a block.
    @inline(__always)
    static func form(_ slot: Int, exponent: Int8) -> UInt64 {
        UInt64(UInt8(bitPattern: exponent)) &<< UInt64(truncatingIfNeeded: slot &* 8)
            | 1 &<< UInt64(truncatingIfNeeded: slot &+ 32)
    }

    /// What it has under a ``formMask(_:)``.
    @inline(__always)
    func form(_ mask: UInt64) -> UInt64 { kind & mask }

    /// Whether something of it is in a block.
    @inline(__always)
    var hasBlock: Bool { kind & StoredReading.blockBit != 0 }

    /// The first slot of its block.
    @inline(__always)
    var block: Int { Int(UInt32(truncatingIfNeeded: content)) }

    /// The size class of its block.
    var blockSizeClass: Int { Int(UInt8(truncatingIfNeeded: content >> 56)) }

    /// Bytes of ``ValueRecord``s in its payload.
    @inline(__always)
    var payloadBytes: Int { hasBlock ? Int(content >> 32 & 0xFF_FFFF) : 0 }
}
