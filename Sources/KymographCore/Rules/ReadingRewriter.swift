/// Changes values and tags of a reading. Of one thread.
struct ReadingRewriter: ~Copyable {
    private var payload = ByteWriter(capacity: 256)
    private var next = ByteWriter(capacity: 256)

    /// The payload of the reading as it is now; valid until it is changed again.
    var view: ByteView { payload.view }

    /// Begins with a reading that has this payload, which may be ``view``.
    mutating func begin(_ other: ByteView) {
        next.removeAll()
        next.append(other)
        swap(&payload, &next)
    }

    /// Adds `tags` (``ReadingTags``); false when there are more than a reading can hold.
    mutating func add(_ tags: ByteView, to reading: inout Measurement) -> Bool {
        guard tags.count > 0 else { return true }
        next.removeAll()
        return ReadingTags.append(payload.view, adding: tags, to: &next) && settle(&reading)
    }

    /// Sets the value in `slot`; false when it is longer than a reading can hold, or takes the place of samples.
    mutating func set(_ value: RuleValue, in slot: Int, of reading: inout Measurement) -> Bool {
        if let record = ValueRecord.find(slot, in: payload.view), record.kind == .samples { return false }
        next.removeAll()
        reading.clearInline(slot)
        var isWritten = false
        var offset = 0
        while let record = ValueRecord.read(payload.view, at: offset) {
            if record.slot >= slot, !isWritten {
                guard write(value, in: slot, of: &reading) else { return false }
                isWritten = true
            }
            if record.slot != slot { next.append(payload.view(offset..<record.bytes.upperBound)) }
            offset = record.bytes.upperBound
        }
        if !isWritten, !write(value, in: slot, of: &reading) { return false }
        return settle(&reading)
    }

    private mutating func write(_ value: RuleValue, in slot: Int, of reading: inout Measurement) -> Bool {
        switch value {
        case .number(let number):
            if slot < Measurement.inlineValues {
                reading.setInline(slot, number)
            } else {
                ValueRecord.append(slot: slot, number: number, to: &next)
            }
        case .text(let text):
            guard text.count <= ReadingPayload.longestText else { return false }
            text.withByteView { ValueRecord.append(slot: slot, text: $0, to: &next) }
        }
        return true
    }

    private mutating func settle(_ reading: inout Measurement) -> Bool {
        guard next.count <= ReadingPayload.longest else { return false }
        swap(&payload, &next)
        reading.payloadBytes = payload.count
        return true
    }
}

extension Measurement {
    /// Takes inline number `slot` away, if there is one.
    fileprivate mutating func clearInline(_ slot: Int) {
        guard slot < Measurement.inlineValues else { return }
        mantissas[slot] = 0
        setExponent(slot, 0)
        present &= ~(1 << UInt8(slot))
    }
}
