extension WindowColumns {
    /// Where the numbers of the head begin.
    private static let numbersStart = 10
    private static let formerHeadBytes = 38
    /// All that the byte of units can have.
    private static let knownUnits = 31

    /// Reads what comes before the rows of `content`, a block without its checksum; nil when it cannot be one.
    init?(head content: ByteView) {
        guard content.count >= WindowColumns.numbersStart else { return nil }
        switch content[0] {
        case WindowColumns.version: self.init(present: content)
        case WindowColumns.formerVersion: self.init(former: content)
        default: return nil
        }
        guard max(stepBytes, mantissaBytes, receivedBytes) <= 8, mark & ReadingMark.mixedReceipt == 0,
            count <= content.count, content.count == headBytes + count * rowBytes
        else { return nil }
    }

    private init?(present content: ByteView) {
        func width(_ number: Int) -> Int { Int(content[6 + number / 2] >> UInt8(number % 2 * 4) & 15) }
        let widths = (width(3), width(4), width(5), width(6))
        let units = Int(content[5])
        guard max(widths.0, widths.1, widths.2, widths.3) <= 8, widths.0 <= 4, width(7) == 0,
            units & ~WindowColumns.knownUnits == 0
        else { return nil }
        let firstStart = WindowColumns.numbersStart + widths.0
        let leastStart = firstStart + widths.1
        let baseStart = leastStart + widths.2
        headBytes = baseStart + widths.3
        guard headBytes <= content.count else { return nil }
        func number(_ start: Int, _ bytes: Int) -> Int64 {
            Varint.unzigzag(WindowColumns.word(content, start, bytes))
        }
        exponent = Int8(bitPattern: content[1])
        mark = content[2]
        timeForm = TimeForm(rawValue: Int16(bitPattern: UInt16(WindowColumns.word(content, 3, 2))))
        (unit, receivedUnit) = (units & 3, units >> 2 & 3)
        isFromInstant = units & WindowColumns.fromInstant != 0
        (stepBytes, mantissaBytes, receivedBytes) = (width(0), width(1), width(2))
        count = Int(WindowColumns.word(content, WindowColumns.numbersStart, widths.0))
        isUnshown = widths.0 > WindowColumns.bytes(UInt64(count))
        first = number(firstStart, widths.1) &* WindowBlockFormat.units[unit]
        leastMantissa = number(leastStart, widths.2)
        base = number(baseStart, widths.3) &* WindowBlockFormat.units[receivedUnit]
    }

    private init?(former content: ByteView) {
        guard content.count >= WindowColumns.formerHeadBytes, Int(content[1]) < WindowBlockFormat.units.count,
            content[9] <= 1
        else { return nil }
        func word(_ start: Int, _ bytes: Int) -> UInt64 { WindowColumns.word(content, start, bytes) }
        headBytes = WindowColumns.formerHeadBytes
        unit = Int(content[1])
        exponent = Int8(bitPattern: content[2])
        mark = content[3]
        timeForm = TimeForm(rawValue: Int16(bitPattern: UInt16(word(4, 2))))
        (stepBytes, mantissaBytes, receivedBytes) = (Int(content[6]), Int(content[7]), Int(content[8]))
        isFromInstant = content[9] == 1
        count = Int(word(10, 4))
        first = Int64(bitPattern: word(14, 8))
        leastMantissa = Int64(bitPattern: word(22, 8))
        base = Int64(bitPattern: word(30, 8))
    }

    /// Where row `index` begins; that of ``count`` is the end of the block.
    func offset(of index: Int) -> Int { headBytes + index * rowBytes }

    /// Reading `index` of `content`, which follows one at `last` (ns); nil when there can be none.
    func reading(_ index: Int, of content: ByteView, last: Int64) -> Measurement? {
        let start = offset(of: index)
        let step = WindowColumns.word(content, start, stepBytes)
        let (distance, overflow) = step.multipliedReportingOverflow(by: UInt64(WindowBlockFormat.units[unit]))
        guard !overflow, index > 0 || step == 0 else { return nil }
        let instant = (index == 0 ? first : last) &+ Int64(bitPattern: distance)
        let mantissa = WindowColumns.word(content, start + stepBytes, mantissaBytes)
        let units = WindowColumns.word(content, start + stepBytes + mantissaBytes, receivedBytes)
        let delay = Int64(bitPattern: units) &* WindowBlockFormat.units[receivedUnit]
        let received = (isFromInstant ? instant : 0) &+ base &+ delay
        var reading = Measurement(instant: Instant(nanoseconds: instant), received: Instant(nanoseconds: received))
        (reading.mark, reading.timeForm) = (mark, timeForm)
        reading.setInline(
            0, Decimal64(mantissa: leastMantissa &+ Int64(bitPattern: mantissa), exponent: exponent))
        return reading
    }

    /// Gives `take` all readings of `content`, whose rows fit in words; false when it comes upon one that is no later
    /// than the one before.
    @inline(__always)
    func forEachWord(of content: ByteView, _ take: (StoredReading) -> Void) -> Bool {
        let (stepUnit, receivedUnit) = (
            UInt64(WindowBlockFormat.units[unit]), WindowBlockFormat.units[receivedUnit]
        )
        let (stepMask, mantissaMask, receivedMask) = (
            WindowColumns.mask(stepBytes), WindowColumns.mask(mantissaBytes), WindowColumns.mask(receivedBytes)
        )
        let (mantissaShift, receivedShift) = (UInt64(stepBytes * 8), UInt64((stepBytes + mantissaBytes) * 8))
        let (rowBytes, leastMantissa, base) = (rowBytes, leastMantissa, base)
        let instants: Int64 = isFromInstant ? -1 : 0
        var reading = StoredReading(number: leastMantissa, exponent: exponent, mark: mark, timeForm: timeForm)
        var (start, last) = (headBytes, first)
        for index in 0..<count {
            let row =
                start + 8 <= content.count ? content.word(at: start) : WindowColumns.word(content, start, rowBytes)
            let (distance, overflow) = (row & stepMask).multipliedReportingOverflow(by: stepUnit)
            let instant = last &+ Int64(bitPattern: distance)
            guard !overflow, index == 0 ? distance == 0 : instant > last else { return false }
            let delay = Int64(bitPattern: row &>> receivedShift & receivedMask) &* receivedUnit
            reading.instant = Instant(nanoseconds: instant)
            reading.received = Instant(nanoseconds: instant & instants &+ base &+ delay)
            reading.content = leastMantissa &+ Int64(bitPattern: row &>> mantissaShift & mantissaMask)
            take(reading)
            start &+= rowBytes
            last = instant
        }
        return true
    }

    /// The lowest `bytes` bytes.
    private static func mask(_ bytes: Int) -> UInt64 { bytes == 8 ? .max : ~(.max << UInt64(bytes * 8)) }

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
