extension WindowTable {
    /// The payload of a stored reading.
    func payload(of reading: Measurement) -> ByteView {
        let bytes = slots.bytes
        guard reading.payloadBytes > 0 else { return ByteView("") }
        let start = Int(reading.series) * MemoryLayout<Measurement>.stride
        return bytes[start..<(start + Int(reading.payloadBytes))]
    }

    /// The payload of a stored reading and the receive times that may follow it.
    @inline(__always)
    func payloadAndReceipts(of reading: Measurement) -> ByteView {
        if reading.payloadBytes == 0 && reading.mark & ReadingMark.mixedReceipt == 0 { return ByteView("") }
        return storedBytes(of: reading)
    }

    private func storedBytes(of reading: Measurement) -> ByteView {
        let size = Int(reading.payloadBytes) + ReadingMerger.receiptBytes(of: reading, payload: payload(of: reading))
        guard size > 0 else { return ByteView("") }
        let start = Int(reading.series) * MemoryLayout<Measurement>.stride
        return slots.bytes[start..<(start + size)]
    }

    /// Writes a reading to `slot` with its payload in a block of its own, if it has any.
    mutating func put(_ reading: Measurement, _ payload: ByteView, at slot: Int, in window: Int) {
        var stored = reading
        stored.kind = RecordKind.measurement.rawValue
        stored.series = 0
        stored.continuationSlots = 0
        if payload.count > 0 {
            let stride = MemoryLayout<Measurement>.stride
            let sizeClass = SlabArray<Measurement>.sizeClass(for: (payload.count + stride - 1) / stride)
            let block = slots.allocate(sizeClass: sizeClass)
            slots.write(payload, at: block)
            stored.series = UInt32(block)
            stored.continuationSlots = UInt8(sizeClass + 1)
            windows[window].flags.insert(.payloads)
        }
        slots[slot] = stored
    }

    /// Frees the payload block of the reading at `slot`, if it has one. Within a window,
    /// ``Measurement/continuationSlots`` is the block's size class plus one, or 0.
    mutating func releasePayload(at slot: Int) {
        let reading = slots[slot]
        guard reading.continuationSlots > 0 else { return }
        slots.release(Int(reading.series), sizeClass: Int(reading.continuationSlots) - 1)
        slots[slot].continuationSlots = 0
    }
}
