/// The readings of a window in time order, borrowed; valid until their owner is next changed.
package struct WindowReadings: BitwiseCopyable {
    private let list: ElementList<StoredReading>
    /// The memory that blocks are in.
    private let memory: ByteView

    init(_ list: ElementList<StoredReading>, memory: ByteView) {
        self.list = list
        self.memory = memory
    }

    /// Number of readings.
    @inline(__always)
    package var count: Int { list.count }

    /// The reading at `index` without the numbers and texts that are in its block; traps when out of range.
    @inline(__always)
    package subscript(index: Int) -> StoredReading { list[index] }

    /// Minutes from UTC that all readings agree on; ``UTCOffset/none`` where they differ, or where the first has none.
    var commonOffset: Int16 {
        guard count > 0 else { return UTCOffset.none }
        let offset = list[0].timeForm.offsetMinutes
        guard offset != UTCOffset.none else { return offset }
        for index in 1..<count where list[index].timeForm.offsetMinutes != offset { return UTCOffset.none }
        return offset
    }

    /// The offset and the digits that the times of all readings share.
    var commonTimeForm: TimeForm {
        guard count > 0 else { return .unknown }
        var form = list[0].timeForm
        for index in 1..<count {
            guard form != .unknown else { return form }
            form = form.common(list[index].timeForm)
        }
        return form
    }

    /// When the last of the readings was received; nil of none.
    var lastReceived: Instant? {
        guard count > 0 else { return nil }
        var last = list[0].received
        for index in 1..<count { last = max(last, list[index].received) }
        return last
    }

    /// Inline number `slot` (0…3) of the reading at `index`, or nil when absent.
    @inline(__always)
    package func inline(_ index: Int, _ slot: Int) -> Decimal64? {
        let reading = list[index]
        if reading.contains(slot) {
            return Decimal64(mantissa: reading.content, exponent: reading.exponent(slot))
        }
        return reading.hasBlock ? numberInBlock(reading, slot) : nil
    }

    private func numberInBlock(_ reading: StoredReading, _ slot: Int) -> Decimal64? {
        guard reading.present & (1 << UInt8(truncatingIfNeeded: slot)) != 0 else { return nil }
        let mantissa = Int64(bitPattern: digits(of: reading).word(at: slot &* 8))
        return Decimal64(mantissa: mantissa, exponent: reading.exponent(slot))
    }

    /// The digits of the four inline numbers, of a reading with a block.
    @inline(__always)
    private func digits(of reading: StoredReading) -> ByteView {
        let start = reading.block * MemoryLayout<StoredReading>.stride
        return memory[start..<(start + StoredReading.digitBytes)]
    }

    /// The payload of the reading at `index`.
    package func payload(_ index: Int) -> ByteView { behindDigits(list[index], list[index].payloadBytes) }

    /// The payload of the reading at `index`, and the receive times that may follow it.
    func payloadAndReceipts(_ index: Int) -> ByteView {
        let reading = list[index]
        guard reading.hasBlock else { return ByteView("") }
        let payload = behindDigits(reading, reading.payloadBytes)
        return behindDigits(
            reading,
            payload.count + ReadingMerger.receiptBytes(mark: reading.mark, present: reading.present, payload: payload))
    }

    @inline(__always)
    private func behindDigits(_ reading: StoredReading, _ bytes: Int) -> ByteView {
        guard bytes > 0 else { return ByteView("") }
        let start = reading.block * MemoryLayout<StoredReading>.stride + StoredReading.digitBytes
        return memory[start..<(start + bytes)]
    }

    /// The reading at `index` as it came from a ring; its payload is ``payload(_:)``.
    func measurement(_ index: Int) -> Measurement {
        let stored = list[index]
        var reading = Measurement(instant: stored.instant, received: stored.received)
        (reading.timeForm, reading.mark) = (stored.timeForm, stored.mark)
        (reading.present, reading.payloadBytes) = (stored.present, stored.payloadBytes)
        reading.powers = stored.powers
        if stored.hasBlock {
            let digits = self.digits(of: stored)
            for slot in 0..<Measurement.inlineValues {
                reading.mantissas[slot] = Int64(bitPattern: digits.word(at: slot &* 8))
            }
        } else {
            reading.mantissas[stored.present.trailingZeroBitCount & 3] = stored.content
        }
        return reading
    }
}
