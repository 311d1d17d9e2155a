extension WindowColumns {
    /// Appends `readings`, which are in time order, as a block; false, and nothing is written, when they are not of the
    /// kind that the format is for.
    static func append(_ readings: WindowReadings, isUnshown: Bool = false, to writer: inout ByteWriter) -> Bool {
        guard readings.count >= fewestReadings, !isUnshown || readings.count <= mostUnshown,
            var columns = WindowColumns(readings)
        else { return false }
        columns.isUnshown = isUnshown
        let start = writer.count
        columns.appendHead(to: &writer)
        if columns.hasWordRows {
            columns.appendWords(readings, to: &writer)
        } else {
            columns.appendRows(readings, to: &writer)
        }
        writer.append(word: UInt64(WindowBlockFormat.checksum(writer.view(start..<writer.count))), bytes: 4)
        return true
    }

    /// The widths that fit all `readings`; nil when they differ in more than times and digits, or have no times of
    /// their own.
    private init?(_ readings: WindowReadings) {
        let model = readings[0]
        guard model.isPlain, model.mark & ReadingMark.mixedReceipt == 0 else { return nil }
        (exponent, mark, timeForm) = (model.exponent(0), model.mark, model.timeForm)
        let kind = model.kind
        var ranges = ColumnRanges(model)
        for index in 0..<readings.count {
            let reading = readings[index]
            guard reading.kind == kind else { return nil }
            ranges.add(reading)
        }
        guard ranges.unmoved == 1 else { return nil }
        count = readings.count
        first = model.instant.nanoseconds
        unit = ranges.unit
        leastMantissa = ranges.least
        stepBytes = WindowColumns.bytes(ranges.longestStep / UInt64(WindowBlockFormat.units[unit]))
        mantissaBytes = WindowColumns.bytes(UInt64(bitPattern: ranges.greatest &- leastMantissa))
        chooseBase(readings, last: ranges.last)
    }

    /// Lets the receive times of `readings`, of which the last is at `last` ns, count from what gives the shorter rows.
    @inline(__always)
    private mutating func chooseBase(_ readings: WindowReadings, last: Int64) {
        var ranges = ReceiptRanges(readings[0])
        for index in 0..<readings.count { ranges.add(readings[index]) }
        let receivedUnit = ranges.unit(first: first, last: last)
        let delayUnit = min(unit, receivedUnit)
        let received =
            UInt64(bitPattern: ranges.latest &- ranges.earliest) / UInt64(WindowBlockFormat.units[receivedUnit])
        let delays =
            UInt64(bitPattern: ranges.longestDelay &- ranges.shortestDelay)
            / UInt64(WindowBlockFormat.units[delayUnit])
        isFromInstant = delays < received
        base = isFromInstant ? ranges.shortestDelay : ranges.earliest
        self.receivedUnit = isFromInstant ? delayUnit : receivedUnit
        receivedBytes = WindowColumns.bytes(min(delays, received))
    }

    private func appendHead(to writer: inout ByteWriter) {
        let (unit, receivedUnit) = (WindowBlockFormat.units[unit], WindowBlockFormat.units[receivedUnit])
        let numbers = (
            UInt64(count), Varint.zigzag(first / unit), Varint.zigzag(leastMantissa),
            Varint.zigzag(base / receivedUnit)
        )
        let widths = (
            WindowColumns.bytes(numbers.0) + (isUnshown ? 1 : 0), WindowColumns.bytes(numbers.1),
            WindowColumns.bytes(numbers.2), WindowColumns.bytes(numbers.3)
        )
        var head = UInt64(WindowColumns.version) | UInt64(UInt8(bitPattern: exponent)) << 8 | UInt64(mark) << 16
        head |= UInt64(UInt16(bitPattern: timeForm.rawValue)) << 24
        head |= UInt64(self.unit | self.receivedUnit << 2 | (isFromInstant ? WindowColumns.fromInstant : 0)) << 40
        head |= UInt64(stepBytes | mantissaBytes << 4 | receivedBytes << 8 | widths.0 << 12) << 48
        writer.append(word: head)
        writer.append(word: UInt64(widths.1 | widths.2 << 4 | widths.3 << 8), bytes: 2)
        writer.append(word: numbers.0, bytes: widths.0)
        writer.append(word: numbers.1, bytes: widths.1)
        writer.append(word: numbers.2, bytes: widths.2)
        writer.append(word: numbers.3, bytes: widths.3)
    }

    /// Appends rows of at most eight bytes, each by one store.
    private func appendWords(_ readings: WindowReadings, to writer: inout ByteWriter) {
        let steps = ExactDivision.byUnit(unit)
        let receipts = ExactDivision.byUnit(receivedUnit)
        let (mantissaShift, receivedShift) = (UInt64(stepBytes * 8), UInt64((stepBytes + mantissaBytes) * 8))
        let (rowBytes, leastMantissa, base) = (rowBytes, leastMantissa, base)
        let instants: Int64 = isFromInstant ? -1 : 0
        var last = first
        // What is behind the last row is overwritten later.
        var place = writer.extend(by: readings.count * rowBytes + 8)
        for index in 0..<readings.count {
            let reading = readings[index]
            let instant = reading.instant.nanoseconds
            let step = steps.quotient(of: UInt64(bitPattern: instant &- last))
            let mantissa = UInt64(bitPattern: reading.content &- leastMantissa)
            let received = UInt64(bitPattern: reading.received.nanoseconds &- (instant & instants) &- base)
            last = instant
            let row = step | mantissa &<< mantissaShift | receipts.quotient(of: received) &<< receivedShift
            writer.store(word: row, at: place)
            place &+= rowBytes
        }
        writer.truncate(to: place)
    }

    private func appendRows(_ readings: WindowReadings, to writer: inout ByteWriter) {
        let steps = ExactDivision.byUnit(unit)
        let receipts = ExactDivision.byUnit(receivedUnit)
        var last = first
        for index in 0..<readings.count {
            let reading = readings[index]
            let instant = reading.instant.nanoseconds
            let received = reading.received.nanoseconds &- (isFromInstant ? instant : 0) &- base
            writer.append(word: steps.quotient(of: UInt64(bitPattern: instant &- last)), bytes: stepBytes)
            writer.append(word: UInt64(bitPattern: reading.content &- leastMantissa), bytes: mantissaBytes)
            writer.append(word: receipts.quotient(of: UInt64(bitPattern: received)), bytes: receivedBytes)
            last = instant
        }
    }
}
