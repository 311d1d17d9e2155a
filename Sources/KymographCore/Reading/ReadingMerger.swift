/// Merges two readings of one series at one instant, value by value.
///
/// Equal values: the one written with more digits stays. Different values: the later received stays. Of the UTC offsets
/// and of the digits of the times the larger stay. So the result does not depend on the order in which readings arrive,
/// only on when they were received. Where the values of a merged reading were received at different times, those times
/// (8 bytes each, in slot order) follow its payload in memory, where the FHIR writer does not look. Tags have no such
/// time: those of both stay (``ReadingTags``).
struct ReadingMerger: ~Copyable {
    /// A value of either reading. Not private: without optimisation the compiler then loses its metadata (Swift 6.3).
    struct Value: BitwiseCopyable {
        var slot: Int
        var kind: ValueRecord.Kind
        var number: Decimal64
        var textStart: Int
        var textEnd: Int
        var isTextNew: Bool
        var received: Instant

        var isNumber: Bool { kind == .number }
        /// Where its text, or the record of its samples, is in the new or the stored payload.
        var text: Range<Int> { textStart..<textEnd }
    }

    private var values = RawArray<Value>(capacity: 16)
    private var writer = ByteWriter(capacity: 256)
    /// Tags of both.
    private var tags = ByteWriter(capacity: 64)
    /// The merged reading, without its place in memory.
    private(set) var reading = Measurement(instant: .distantPast, received: .distantPast)
    /// What became of the new reading.
    private(set) var outcome = ReadingOutcome.duplicate
    /// Whether the content differs from what was stored; receive times are not content.
    private(set) var isChanged = false
    /// Whether the merged values do not fit in one payload; nothing else is valid then.
    private(set) var isTooLong = false
    /// Whether the new reading was there before what was received at the same time.
    private var isFormer = false

    /// Payload of the merged reading, and the receive times if they differ; valid until the next merge.
    var payload: ByteView { writer.view }

    /// Whether `new` has exactly the content of `stored`, decided for the simple and usual case only.
    @inline(__always)
    static func isRepeat(_ new: Measurement, _ payload: ByteView, of stored: Measurement) -> Bool {
        guard payload.count == 0 && stored.payloadBytes == 0 && new.present == stored.present else { return false }
        guard new.timeForm == stored.timeForm else { return false }
        guard stored.mark & ReadingMark.mixedReceipt == 0 else { return false }
        for index in 0..<Measurement.inlineValues where new.present & 1 << UInt8(index) != 0 {
            guard new.mantissas[index] == stored.mantissas[index] else { return false }
            guard new.exponent(index) == stored.exponent(index) else { return false }
        }
        return true
    }

    /// Bytes of the receive times that follow the payload of a reading.
    static func receiptBytes(mark: UInt8, present: UInt8, payload: ByteView) -> Int {
        guard mark & ReadingMark.mixedReceipt != 0 else { return 0 }
        var count = (present & 15).nonzeroBitCount
        var offset = 0
        while let record = ValueRecord.read(payload, at: offset), record.slot < ReadingTags.slot {
            count += 1
            offset = record.bytes.upperBound
        }
        return count * 8
    }

    /// Merges `new` into `stored`, whose payload may be followed by receive times.
    mutating func merge(
        _ stored: Measurement, _ storedBytes: ByteView, with new: Measurement, _ newPayload: ByteView
    ) {
        let storedPayload = storedBytes[0..<stored.payloadBytes]
        (outcome, isChanged, isTooLong) = (.duplicate, false, false)
        isFormer = new.mark & ReadingMark.returned != 0
        values.removeAll()
        load(stored, storedPayload)
        if stored.mark & ReadingMark.mixedReceipt != 0 {
            loadReceipts(storedBytes[storedPayload.count..<storedBytes.count])
        }
        forEachValue(of: new, newPayload, isNew: true) { merger, value in
            merger.merge(value, storedPayload, newPayload)
        }
        mergeTags(storedPayload, newPayload)
        reading = stored
        reading.received = max(stored.received, new.received)
        reading.timeForm = stored.timeForm.fuller(new.timeForm)
        if reading.timeForm != stored.timeForm { isChanged = true }
        write(storedPayload, newPayload)
    }

    private mutating func mergeTags(_ storedPayload: ByteView, _ newPayload: ByteView) {
        tags.removeAll()
        let stored = ReadingTags.list(in: storedPayload)
        ReadingTags.appendUnion(stored, ReadingTags.list(in: newPayload), to: &tags)
        if tags.count > ReadingTags.longest {
            tags.removeAll()
            tags.append(stored)
        }
        if tags.count != stored.count { isChanged = true }
    }

    private mutating func load(_ stored: Measurement, _ payload: ByteView) {
        forEachValue(of: stored, payload, isNew: false) { merger, value in
            merger.insert(value, at: merger.position(of: value.slot))
        }
    }

    private mutating func loadReceipts(_ receipts: ByteView) {
        precondition(receipts.count == values.count * 8)
        for index in 0..<values.count {
            var bits: UInt64 = 0
            for byte in 0..<8 { bits |= UInt64(receipts[index * 8 + byte]) << UInt64(byte * 8) }
            values[index].received = Instant(nanoseconds: Int64(bitPattern: bits))
        }
    }

    private mutating func forEachValue(
        of reading: Measurement, _ payload: ByteView, isNew: Bool, _ body: (inout ReadingMerger, Value) -> Void
    ) {
        for slot in 0..<Measurement.inlineValues {
            guard let number = reading.inline(slot) else { continue }
            let value = Value(
                slot: slot, kind: .number, number: number, textStart: 0, textEnd: 0, isTextNew: isNew,
                received: reading.received)
            body(&self, value)
        }
        var offset = 0
        while let record = ValueRecord.read(payload, at: offset), record.slot < ReadingTags.slot {
            let number = record.isNumber ? record.number(in: payload) : Decimal64(mantissa: 0)
            let value = Value(
                slot: record.slot, kind: record.kind, number: number,
                textStart: record.bytes.lowerBound, textEnd: record.bytes.upperBound, isTextNew: isNew,
                received: reading.received)
            body(&self, value)
            offset = record.bytes.upperBound
        }
    }

    private func position(of slot: Int) -> Int {
        var position = values.count
        while position > 0 && values[position - 1].slot >= slot { position -= 1 }
        return position
    }

    private mutating func insert(_ value: Value, at position: Int) {
        values.append(value)
        values.move(position..<(values.count - 1), to: position + 1)
        values[position] = value
    }

    private mutating func merge(_ value: Value, _ storedPayload: ByteView, _ newPayload: ByteView) {
        let position = position(of: value.slot)
        guard position < values.count && values[position].slot == value.slot else {
            insert(value, at: position)
            isChanged = true
            if outcome == .duplicate { outcome = .accepted }
            return
        }
        let present = values[position]
        if isEqual(present, value, storedPayload, newPayload) {
            values[position].received = max(present.received, value.received)
            guard value.isNumber && value.number.exponent < present.number.exponent else { return }
            values[position].number = value.number
            isChanged = true
        } else {
            outcome = .conflict
            guard value.received > present.received || value.received == present.received && !isFormer else { return }
            values[position] = value
            isChanged = true
        }
    }

    private func isEqual(_ one: Value, _ other: Value, _ storedPayload: ByteView, _ newPayload: ByteView) -> Bool {
        guard one.kind == other.kind else { return false }
        if one.isNumber { return one.number.isEqualInValue(to: other.number) }
        let text = (one.isTextNew ? newPayload : storedPayload)[one.text]
        return text.equals((other.isTextNew ? newPayload : storedPayload)[other.text])
    }

    private mutating func write(_ storedPayload: ByteView, _ newPayload: ByteView) {
        writer.removeAll()
        reading.present = 0
        reading.mantissas = .init(repeating: 0)
        reading.powers = 0
        var isMixed = false
        for index in 0..<values.count {
            let value = values[index]
            isMixed = isMixed || value.received != reading.received
            if !value.isNumber {
                let payload = value.isTextNew ? newPayload : storedPayload
                ValueRecord.append(slot: value.slot, value.kind, payload[value.text], to: &writer)
            } else if value.slot < Measurement.inlineValues {
                reading.setInline(value.slot, value.number)
            } else {
                ValueRecord.append(slot: value.slot, number: value.number, to: &writer)
            }
        }
        let hasRoom = tags.count <= ValueRecord.longestContent
        if hasRoom, tags.count > 0 { ValueRecord.append(slot: ReadingTags.slot, text: tags.view, to: &writer) }
        isTooLong = !hasRoom || writer.count > Measurement.mostPayloadBytes
        reading.payloadBytes = isTooLong ? 0 : writer.count
        reading.mark &= ~ReadingMark.mixedReceipt
        if isMixed { writeReceipts() }
    }

    private mutating func writeReceipts() {
        reading.mark |= ReadingMark.mixedReceipt
        for index in 0..<values.count {
            let bits = UInt64(bitPattern: values[index].received.nanoseconds)
            for byte in 0..<8 { writer.append(UInt8(truncatingIfNeeded: bits >> UInt64(byte * 8))) }
        }
    }
}

/// What became of one reading. Every reading has exactly one outcome: the conservation ledger adds them up.
package enum ReadingOutcome: Equatable, Sendable {
    /// It brought something new to its window.
    case accepted
    /// Its window already has all of its values at its instant.
    case duplicate
    /// Its window has another value at its instant; the later received of the two is kept. What was received first is
    /// ``WindowMachine/superseded``.
    case conflict
    /// It has taken the place of another reading, which is no longer in any window: see
    /// ``WindowMachine/superseded``.
    case replaced
    /// It is not in any window.
    case rejected(Rejection)
}
