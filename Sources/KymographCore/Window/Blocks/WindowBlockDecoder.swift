/// Reads an archive block; see ``WindowBlockFormat``.
///
/// A block comes from storage that may have been damaged: nothing in it is trusted, and whatever it contains, decoding
/// ends without a trap. ``isComplete`` tells at the end whether everything was as it must be.
struct WindowBlockDecoder {
    /// Readings that the block says it has.
    let count: Int
    /// Whether the block says that rules have kept all versions of the window from every sink.
    let isUnshown: Bool
    /// Whether the whole block has been read and is sound.
    private(set) var isComplete = false
    /// Payload of the last reading, and the receive times that may follow it; part of the block.
    private(set) var payload = ByteView("")

    private let block: ByteView
    private let unit: Int64
    private var offset: Int
    private var decoded = 0
    private var isDamaged = false
    private var context = WindowBlockContext()
    /// Of versions 2 and 3, what comes before the rows.
    private let columns: WindowColumns?
    /// Whether no reading may be earlier than the one before. Readings of one instant are never in columns.
    private let isOrdered: Bool

    /// Reads what comes before the readings; nil when it is damaged or of another version.
    init?(_ bytes: ByteView) {
        isOrdered = true
        guard let content = WindowBlockFormat.content(of: bytes) else { return nil }
        if let columns = WindowColumns(head: content) {
            (count, block, unit, offset) = (columns.count, content, 1, columns.headBytes)
            self.columns = columns
            isUnshown = columns.isUnshown
            return
        }
        guard content[0] == WindowBlockFormat.version else { return nil }
        columns = nil
        var offset = 1
        guard let count = Varint.read(content, &offset), count <= UInt64(content.count) else {
            return nil
        }
        isUnshown = offset > 2 && content[offset - 1] == 0
        guard offset < content.count, Int(content[offset]) < WindowBlockFormat.units.count else { return nil }
        self.count = Int(count)
        block = content
        unit = WindowBlockFormat.units[Int(content[offset])]
        self.offset = offset + 1
    }

    /// Reads `count` rows that are no window's: in any order, in nanoseconds, without head and checksum.
    init(rows: ByteView, count: Int) {
        (self.count, block, unit, offset) = (count, rows, 1, 0)
        columns = nil
        isUnshown = false
        isOrdered = false
    }

    /// The next reading, or nil at the end and when the block is damaged.
    mutating func next() -> Measurement? {
        guard !isDamaged && decoded < count else {
            isComplete = !isDamaged && offset == block.count
            return nil
        }
        if columns != nil { return row() }
        guard let reading = reading(),
            !isOrdered || decoded == 0 || reading.instant >= context.previous.instant
        else {
            isDamaged = true
            return nil
        }
        let mantissas = context.previous.mantissas
        context.previous = reading
        for slot in 0..<Measurement.inlineValues where reading.present & 1 << UInt8(slot) == 0 {
            context.previous.mantissas[slot] = mantissas[slot]
        }
        decoded += 1
        return reading
    }

    /// The next reading of version 2 or 3.
    private mutating func row() -> Measurement? {
        let last = context.previous.instant
        guard let columns, let reading = columns.reading(decoded, of: block, last: last.nanoseconds),
            decoded == 0 || reading.instant > last
        else {
            isDamaged = true
            return nil
        }
        context.previous.instant = reading.instant
        decoded += 1
        offset = columns.offset(of: decoded)
        return reading
    }

    private mutating func reading() -> Measurement? {
        guard let control = byte(), control & ~WindowBlockFormat.known == 0 else { return nil }
        guard var reading = times(control: control) else { return nil }
        guard shape(of: &reading, control: control) else { return nil }
        if control & WindowBlockFormat.mark != 0 {
            guard let mark = byte() else { return nil }
            reading.mark = mark
        }
        if control & WindowBlockFormat.offset != 0 {
            guard let form = signed(), let exact = Int16(exactly: form) else { return nil }
            reading.timeForm = TimeForm(rawValue: exact)
        }
        for slot in 0..<Measurement.inlineValues where reading.present & 1 << UInt8(slot) != 0 {
            guard let difference = signed() else { return nil }
            reading.mantissas[slot] = context.previous.mantissas[slot] &+ difference
        }
        return payload(of: &reading, control: control) ? reading : nil
    }

    private mutating func times(control: UInt8) -> Measurement? {
        if control & WindowBlockFormat.sameStep == 0 {
            guard let step = signed() else { return nil }
            context.step = step
        }
        let previous = context.previous
        let place = (previous.instant.nanoseconds / unit).addingReportingOverflow(context.step)
        let instant = place.partialValue.multipliedReportingOverflow(by: unit)
        guard !instant.overflow, unit == 1 || !place.overflow else { return nil }
        var received = previous.received.nanoseconds
        let coding = control & WindowBlockFormat.receivedMask
        if coding != WindowBlockFormat.receivedSame {
            guard coding != WindowBlockFormat.receivedMask, let difference = signed() else { return nil }
            received &+= difference
        }
        if coding == WindowBlockFormat.receivedWithInstant {
            received &+= instant.partialValue &- previous.instant.nanoseconds
        }
        var reading = Measurement(
            instant: Instant(nanoseconds: instant.partialValue), received: Instant(nanoseconds: received))
        (reading.mark, reading.timeForm) = (previous.mark, previous.timeForm)
        return reading
    }

    private mutating func shape(of reading: inout Measurement, control: UInt8) -> Bool {
        guard control & WindowBlockFormat.shape != 0 else {
            reading.present = context.previous.present
            reading.powers = context.previous.powers
            return true
        }
        guard let present = byte() else { return false }
        reading.present = present
        for slot in 0..<Measurement.inlineValues where present & 1 << UInt8(slot) != 0 {
            guard let exponent = byte() else { return false }
            reading.setExponent(slot, Int8(bitPattern: exponent))
        }
        return true
    }

    private mutating func payload(of reading: inout Measurement, control: UInt8) -> Bool {
        payload = ByteView("")
        let isMixed = reading.mark & ReadingMark.mixedReceipt != 0
        guard control & WindowBlockFormat.payload != 0 else { return !isMixed }
        guard let length = Varint.read(block, &offset), length <= UInt64(Measurement.mostPayloadBytes)
        else { return false }
        guard offset + Int(length) <= block.count else { return false }
        let records = block[offset..<(offset + Int(length))]
        guard WindowBlockDecoder.areRecords(records) else { return false }
        reading.payloadBytes = Int(length)
        let size =
            Int(length) + ReadingMerger.receiptBytes(mark: reading.mark, present: reading.present, payload: records)
        // Values of several receive times are there, where the mark says so.
        guard offset + size <= block.count, !isMixed || size > Int(length) else { return false }
        payload = block[offset..<(offset + size)]
        offset += size
        return true
    }

    /// Whether `bytes` are whole value records, in rising slot order, which later readers rely on.
    private static func areRecords(_ bytes: ByteView) -> Bool {
        var offset = 0
        var lastSlot = -1
        while offset < bytes.count {
            guard offset + ValueRecord.headerBytes <= bytes.count else { return false }
            let length = Int(bytes[offset + 2]) | Int(bytes[offset + 3]) << 8
            guard let kind = ValueRecord.Kind(rawValue: bytes[offset + 1]) else { return false }
            guard kind != .number || length == 9, Int(bytes[offset]) > lastSlot else { return false }
            lastSlot = Int(bytes[offset])
            let start = offset + ValueRecord.headerBytes
            offset = start + length
            guard offset <= bytes.count else { return false }
            guard kind != .samples || SampleRecord.isSound(bytes[start..<offset]) else { return false }
        }
        return offset == bytes.count
    }

    private mutating func byte() -> UInt8? {
        guard offset < block.count else { return nil }
        offset += 1
        return block[offset - 1]
    }

    private mutating func signed() -> Int64? {
        Varint.read(block, &offset).map(Varint.unzigzag)
    }
}
