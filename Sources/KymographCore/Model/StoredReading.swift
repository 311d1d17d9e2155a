/// One reading of a window in half of what a ring takes for it: 32 bytes.
///
/// Nearly all readings have one number. Of others, what does not fit is in a block of its own (``ReadingSlab``): the
/// four inline numbers' digits, and behind them the payload of ``ValueRecord``s, which receive times may follow.
public struct StoredReading: BitwiseCopyable, Sendable {
    /// Event time in nanoseconds since the epoch.
    public var instant: Instant
    /// Receive time in nanoseconds since the epoch.
    public var received: Instant
    /// Digits of the only number; with ``hasBlock``, the block's first slot (32 bits), the bytes of the payload (16)
    /// and the block's size class (8).
    var content: Int64
    /// Powers of ten of the inline numbers, the first in the lowest byte: an array would be copied to be indexed.
    private var powers: UInt32
    /// Bit i is set when inline number i is present, bit 7 when the reading has a block.
    private var state: UInt8
    /// State of the reading in its window, see ``ReadingMark``.
    var mark: UInt8
    /// Minutes from UTC that the source wrote, or ``UTCOffset/none``.
    public var offsetMinutes: Int16

    private static let blockBit: UInt8 = 128
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
        self.init(reading, content: 0, state: 0)
        content = reading.mantissas[state.trailingZeroBitCount & 3]
    }

    /// A new reading that is ``Measurement/isPlain``.
    @inline(__always)
    init(plain reading: Measurement) {
        (instant, received, offsetMinutes) = (reading.instant, reading.received, reading.offsetMinutes)
        (content, state, mark) = (reading.mantissas[0], 1, reading.mark & ReadingMark.source)
        powers = StoredReading.powers(reading.exponents)
    }

    /// A reading at no time yet that is number 0 alone.
    init(number: Int64, exponent: Int8, mark: UInt8, offsetMinutes: Int16) {
        (instant, received) = (Instant(nanoseconds: 0), Instant(nanoseconds: 0))
        (content, state) = (number, 1)
        (powers, self.mark, self.offsetMinutes) = (UInt32(UInt8(bitPattern: exponent)), mark, offsetMinutes)
    }

    /// A reading with the block of size class `sizeClass` at slot `block`.
    init(_ reading: Measurement, block: Int, sizeClass: Int) {
        let content = UInt64(block) | UInt64(reading.payloadBytes) << 32 | UInt64(sizeClass) << 48
        self.init(reading, content: Int64(bitPattern: content), state: StoredReading.blockBit)
    }

    @inline(__always)
    private init(_ reading: Measurement, content: Int64, state: UInt8) {
        (instant, received, offsetMinutes) = (reading.instant, reading.received, reading.offsetMinutes)
        (powers, mark) = (StoredReading.powers(reading.exponents), reading.mark)
        self.content = content
        self.state = state | reading.present & StoredReading.numbers
    }

    @inline(__always)
    private static func powers(_ exponents: InlineArray<4, Int8>) -> UInt32 {
        func byte(_ number: Int) -> UInt32 { UInt32(UInt8(bitPattern: exponents[number])) &<< UInt32(number &* 8) }
        return byte(0) | byte(1) | byte(2) | byte(3)
    }

    /// The power of ten of inline number `number` (0…3).
    @inline(__always)
    func exponent(_ number: Int) -> Int8 {
        Int8(truncatingIfNeeded: powers &>> UInt32(truncatingIfNeeded: number &* 8))
    }

    /// Bit i is set when inline number i is present.
    @inline(__always)
    var present: UInt8 { state & StoredReading.numbers }

    /// Whether it is number 0 and nothing else, as nearly all are.
    @inline(__always)
    var isPlain: Bool { state == 1 }

    /// All but times and digits, as one number.
    @inline(__always)
    var kind: UInt64 {
        let low = UInt64(powers) | UInt64(state) << 32 | UInt64(mark) << 40
        return low | UInt64(UInt16(bitPattern: offsetMinutes)) << 48
    }

    /// Whether inline number `slot` is present, and in ``content``.
    @inline(__always)
    func contains(_ slot: Int) -> Bool {
        let number: UInt8 = 1 &<< UInt8(truncatingIfNeeded: slot)
        return state & (number | StoredReading.blockBit) == number
    }

    /// Whether something of it is in a block.
    @inline(__always)
    var hasBlock: Bool { state & StoredReading.blockBit != 0 }

    /// The first slot of its block.
    @inline(__always)
    var block: Int { Int(UInt32(truncatingIfNeeded: content)) }

    /// The size class of its block.
    var blockSizeClass: Int { Int(UInt8(truncatingIfNeeded: content >> 48)) }

    /// Bytes of ``ValueRecord``s in its payload.
    @inline(__always)
    var payloadBytes: Int { hasBlock ? Int(UInt16(truncatingIfNeeded: content >> 32)) : 0 }
}
