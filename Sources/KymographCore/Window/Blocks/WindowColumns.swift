/// The archive's format of a window whose readings have one inline number each and differ in nothing but times and
/// digits, version 3: nearly all are like this, and rows of one width take a third of the work of version 1.
///
/// Numbers are little-endian. The head is
///
/// - byte version; byte exponent; byte mark; UTC offset (2 bytes)
/// - byte of units, as in ``WindowBlockFormat``: instants' in the lowest two bits, receive times' in the next two, and
///   16 when receive times count from the reading's instant
/// - widths in bytes (0…8), two in a byte, the first in its lower half: of a row's step, mantissa and receive time, of
///   the number of readings, first instant, least mantissa and base, and 0
/// - number of readings, which is longer than it has to be where the window is unshown (``WindowBlockFormat``), first
///   instant, least mantissa, and the base that receive times count from; all but the first zigzag, times in their
///   units
///
/// The rows follow, and the checksum of version 1. A row is the units since the reading before, the mantissa above the
/// least one, and the receive time above the base. Differences wrap around, so that every 64-bit value survives.
///
/// Version 2 is read, and no longer written: byte version, byte unit of instants, byte exponent, byte mark, UTC offset
/// (2), widths of the row (1 each), byte 1 when receive times count from the reading's instant and 0 otherwise, number
/// of readings (4), first instant (8), least mantissa (8), base (8), all times but the steps in ns.
struct WindowColumns: BitwiseCopyable {
    static let version: UInt8 = 3
    static let formerVersion: UInt8 = 2
    /// Windows with fewer readings are smaller in version 1.
    static let fewestReadings = 4
    /// Windows that are unshown and have more are in version 1: their number would take more bytes than it may.
    static let mostUnshown = 1 << 24 - 1
    /// In the byte of units: receive times count from the reading's instant.
    static let fromInstant = 16

    /// Readings.
    var count: Int
    /// Unit of instants.
    var unit: Int
    /// Unit of receive times.
    var receivedUnit = 0
    var exponent: Int8
    var mark: UInt8
    var timeForm: TimeForm
    var stepBytes = 0
    var mantissaBytes = 0
    var receivedBytes = 0
    /// Whether receive times count from the reading's instant.
    var isFromInstant = false
    /// The first instant, in ns.
    var first: Int64
    var leastMantissa: Int64
    /// What receive times count from, in ns.
    var base: Int64 = 0
    /// Bytes before the rows.
    var headBytes = 0
    /// Whether rules have kept all versions of the window from every sink.
    var isUnshown = false

    /// Bytes of a reading.
    var rowBytes: Int { stepBytes + mantissaBytes + receivedBytes }

    /// Whether a row fits in one word.
    var hasWordRows: Bool { rowBytes <= 8 }

    /// Bytes that `value` needs.
    static func bytes(_ value: UInt64) -> Int {
        (UInt64.bitWidth - value.leadingZeroBitCount + 7) / 8
    }
}
