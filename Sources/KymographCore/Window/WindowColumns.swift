/// The archive's format of a window whose readings have one inline number each and differ in nothing but times and
/// digits, version 2: nearly all are like this, and rows of one width take a third of the work of version 1.
///
/// Numbers are little-endian. Byte version, byte time unit as in ``WindowBlockFormat``, byte exponent, byte mark, UTC
/// offset (2 bytes), bytes per step, mantissa and receive time (1 each, 0…8), byte 1 when receive times count from the
/// reading's instant and 0 otherwise, number of readings (4), first instant (8), least mantissa (8), receive time that
/// is counted from (8), the rows, and the checksum of version 1. A row is the units since the reading before, the
/// mantissa above the least one, and the receive time in ns above the base. Differences wrap around, so that every
/// 64-bit value survives.
struct WindowColumns: BitwiseCopyable {
    static let version: UInt8 = 2
    static let headBytes = 38
    /// Windows with fewer readings are smaller in version 1.
    static let fewestReadings = 4

    /// Readings.
    var count: Int
    private var unit: Int
    private var exponent: Int8
    private var mark: UInt8
    private var offsetMinutes: Int16
    private var stepBytes = 0
    private var mantissaBytes = 0
    private var receivedBytes = 0
    private var isFromInstant = false
    private var first: Int64
    private var leastMantissa: Int64
    private var base: Int64 = 0

    /// Bytes of a reading.
    private var rowBytes: Int { stepBytes + mantissaBytes + receivedBytes }

    private static func bytes(_ value: UInt64) -> Int {
        (UInt64.bitWidth - value.leadingZeroBitCount + 7) / 8
    }
}

// MARK: Writing

extension WindowColumns {
    /// Appends `readings`, which are in time order, as a block; false, and nothing is written, when they are not of the
    /// kind that the format is for.
    static func append(_ readings: WindowReadings, to writer: inout ByteWriter) -> Bool {
        guard readings.count >= fewestReadings, let columns = WindowColumns(readings) else { return false }
        let start = writer.count
        columns.appendHead(to: &writer)
        columns.appendRows(readings, to: &writer)
        writer.append(word: UInt64(WindowBlockFormat.checksum(writer.view(start..<writer.count))), bytes: 4)
        return true
    }

    /// The widths that fit all `readings`; nil when they differ in more than times and digits.
    private init?(_ readings: WindowReadings) {
        let model = readings[0]
        guard model.isPlain, model.mark & ReadingMark.mixedReceipt == 0 else { return nil }
        (exponent, mark, offsetMinutes) = (model.exponent(0), model.mark, model.offsetMinutes)
        count = readings.count
        unit = WindowBlockEncoder.unit(of: readings)
        first = model.instant.nanoseconds
        leastMantissa = model.content
        let delay = model.received.nanoseconds &- first
        var ranges = Ranges(greatest: leastMantissa, received: model.received.nanoseconds, delay: delay, last: first)
        for index in 0..<readings.count {
            let reading = readings[index]
            guard reading.isPlain, reading.exponent(0) == exponent, reading.mark == mark,
                reading.offsetMinutes == offsetMinutes
            else { return nil }
            leastMantissa = min(leastMantissa, reading.content)
            ranges.add(reading)
        }
        let received = UInt64(bitPattern: ranges.latest &- ranges.earliest)
        let delays = UInt64(bitPattern: ranges.longestDelay &- ranges.shortestDelay)
        isFromInstant = delays < received
        base = isFromInstant ? ranges.shortestDelay : ranges.earliest
        receivedBytes = WindowColumns.bytes(min(delays, received))
        stepBytes = WindowColumns.bytes(ranges.longestStep / UInt64(WindowBlockFormat.units[unit]))
        mantissaBytes = WindowColumns.bytes(UInt64(bitPattern: ranges.greatest &- leastMantissa))
    }

    /// What ``init(_:)`` finds among the readings.
    struct Ranges {
        var greatest: Int64
        var earliest: Int64
        var latest: Int64
        var shortestDelay: Int64
        var longestDelay: Int64
        var last: Int64
        var longestStep: UInt64 = 0

        init(greatest: Int64, received: Int64, delay: Int64, last: Int64) {
            (self.greatest, self.last) = (greatest, last)
            (earliest, latest) = (received, received)
            (shortestDelay, longestDelay) = (delay, delay)
        }

        @inline(__always)
        mutating func add(_ reading: StoredReading) {
            let instant = reading.instant.nanoseconds
            let received = reading.received.nanoseconds
            greatest = max(greatest, reading.content)
            (earliest, latest) = (min(earliest, received), max(latest, received))
            (shortestDelay, longestDelay) = (
                min(shortestDelay, received &- instant), max(longestDelay, received &- instant)
            )
            longestStep = max(longestStep, UInt64(bitPattern: instant &- last))
            last = instant
        }
    }

    private func appendHead(to writer: inout ByteWriter) {
        writer.append(WindowColumns.version)
        writer.append(UInt8(unit))
        writer.append(UInt8(bitPattern: exponent))
        writer.append(mark)
        writer.append(word: UInt64(UInt16(bitPattern: offsetMinutes)), bytes: 2)
        writer.append(UInt8(stepBytes))
        writer.append(UInt8(mantissaBytes))
        writer.append(UInt8(receivedBytes))
        writer.append(isFromInstant ? 1 : 0)
        writer.append(word: UInt64(count), bytes: 4)
        writer.append(word: UInt64(bitPattern: first))
        writer.append(word: UInt64(bitPattern: leastMantissa))
        writer.append(word: UInt64(bitPattern: base))
    }

    private func appendRows(_ readings: WindowReadings, to writer: inout ByteWriter) {
        let division = ExactDivision(by: UInt64(WindowBlockFormat.units[unit]))
        let isOneWord = rowBytes <= 8
        let (mantissaShift, receivedShift) = (UInt64(stepBytes * 8), UInt64((stepBytes + mantissaBytes) * 8))
        var last = first
        for index in 0..<readings.count {
            let reading = readings[index]
            let instant = reading.instant.nanoseconds
            let step = division.quotient(of: UInt64(bitPattern: instant &- last))
            let mantissa = UInt64(bitPattern: reading.content &- leastMantissa)
            let received = UInt64(bitPattern: reading.received.nanoseconds &- (isFromInstant ? instant : 0) &- base)
            last = instant
            if isOneWord {
                writer.append(word: step | mantissa << mantissaShift | received << receivedShift, bytes: rowBytes)
            } else {
                writer.append(word: step, bytes: stepBytes)
                writer.append(word: mantissa, bytes: mantissaBytes)
                writer.append(word: received, bytes: receivedBytes)
            }
        }
    }
}

/// Division of multiples of one number, by a multiplication: the odd part of the divisor has an inverse modulo 2^64.
struct ExactDivision {
    private let shift: UInt64
    private let inverse: UInt64

    /// Prepares to divide by `divisor`, which is not 0.
    init(by divisor: UInt64) {
        shift = UInt64(divisor.trailingZeroBitCount)
        let odd = divisor >> shift
        // Newton's method: correct to 3 bits at first, twice as many each time.
        var inverse = odd
        for _ in 0..<5 { inverse = inverse &* (2 &- odd &* inverse) }
        self.inverse = inverse
    }

    /// `multiple`, which must be a multiple of the divisor, divided by it.
    @inline(__always)
    func quotient(of multiple: UInt64) -> UInt64 { (multiple >> shift) &* inverse }
}

// MARK: Reading

extension WindowColumns {
    /// Reads what comes before the rows of `content`, a block without its checksum; nil when it cannot be one.
    init?(head content: ByteView) {
        guard content.count >= WindowColumns.headBytes, content[0] == WindowColumns.version else { return nil }
        func word(_ start: Int, _ bytes: Int) -> UInt64 { WindowColumns.word(content, start, bytes) }
        unit = Int(content[1])
        exponent = Int8(bitPattern: content[2])
        mark = content[3]
        offsetMinutes = Int16(bitPattern: UInt16(word(4, 2)))
        (stepBytes, mantissaBytes, receivedBytes) = (Int(content[6]), Int(content[7]), Int(content[8]))
        isFromInstant = content[9] == 1
        count = Int(word(10, 4))
        first = Int64(bitPattern: word(14, 8))
        leastMantissa = Int64(bitPattern: word(22, 8))
        base = Int64(bitPattern: word(30, 8))
        guard unit < WindowBlockFormat.units.count, max(stepBytes, mantissaBytes, receivedBytes) <= 8,
            mark & ReadingMark.mixedReceipt == 0, content[9] <= 1,
            count <= content.count, content.count == WindowColumns.headBytes + count * rowBytes
        else { return nil }
    }

    /// Where row `index` begins; that of ``count`` is the end of the block.
    func offset(of index: Int) -> Int { WindowColumns.headBytes + index * rowBytes }

    /// Reading `index` of `content`, which follows one at `last` (ns); nil when there can be none.
    func reading(_ index: Int, of content: ByteView, last: Int64) -> Measurement? {
        let start = offset(of: index)
        let step = WindowColumns.word(content, start, stepBytes)
        let (distance, overflow) = step.multipliedReportingOverflow(by: UInt64(WindowBlockFormat.units[unit]))
        guard !overflow, index > 0 || step == 0 else { return nil }
        let instant = (index == 0 ? first : last) &+ Int64(bitPattern: distance)
        let mantissa = WindowColumns.word(content, start + stepBytes, mantissaBytes)
        let delay = WindowColumns.word(content, start + stepBytes + mantissaBytes, receivedBytes)
        let received = (isFromInstant ? instant : 0) &+ base &+ Int64(bitPattern: delay)
        var reading = Measurement(instant: Instant(nanoseconds: instant), received: Instant(nanoseconds: received))
        (reading.mark, reading.offsetMinutes) = (mark, offsetMinutes)
        reading.setInline(
            0, Decimal64(mantissa: leastMantissa &+ Int64(bitPattern: mantissa), exponent: exponent))
        return reading
    }

    @inline(__always)
    private static func word(_ content: ByteView, _ start: Int, _ bytes: Int) -> UInt64 {
        if start + 8 <= content.count && bytes < 8 {
            return content.word(at: start) & ~(UInt64.max &<< UInt64(truncatingIfNeeded: bytes * 8))
        }
        var word: UInt64 = 0
        for byte in 0..<bytes { word |= UInt64(content[start + byte]) << UInt64(byte * 8) }
        return word
    }
}
