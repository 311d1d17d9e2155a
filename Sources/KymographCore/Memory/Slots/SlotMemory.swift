private import CPrefetch

/// The 64-byte slots of a ring: fixed, cache-line aligned, shared by exactly one writing and one reading thread.
///
/// It does no synchronisation: the ring's atomic positions say who may touch which slot.
@safe
@usableFromInline
struct SlotMemory: ~Copyable, @unchecked Sendable {
    @usableFromInline let base: UnsafeMutableRawPointer
    /// Number of slots, a power of two.
    @usableFromInline let count: Int

    /// Bytes in a slot.
    @inlinable static var slotBytes: Int { Measurement.slotBytes }

    init(count: Int) {
        precondition(count > 0 && count & (count - 1) == 0)
        precondition(MemoryLayout<Measurement>.stride == SlotMemory.slotBytes)
        self.count = count
        unsafe base = .allocate(byteCount: count * SlotMemory.slotBytes, alignment: 128)
    }

    deinit {
        unsafe base.deallocate()
    }

    /// The address of slot `index`; traps when out of range.
    @inlinable
    @inline(__always)
    func address(_ index: Int) -> UnsafeMutableRawPointer {
        precondition(UInt(bitPattern: index) < UInt(bitPattern: count))
        // Safe: in bounds, where no product overflows.
        return unsafe base + index &* SlotMemory.slotBytes
    }

    /// Writes a measurement into slot `index`.
    @inline(__always)
    func store(_ measurement: Measurement, at index: Int) {
        // Safe: in bounds and aligned; the caller owns the slot by the ring's protocol.
        unsafe address(index).storeBytes(of: measurement, as: Measurement.self)
    }

    /// Writes a measurement into slot `index`, with another series; without a changed copy of it.
    @inlinable
    @inline(__always)
    func store(_ measurement: Measurement, series: UInt32, at index: Int) {
        // Safe: in bounds and aligned; only measurements and payload bytes are ever stored here.
        let slot = unsafe address(index).assumingMemoryBound(to: Measurement.self)
        if measurement.isPlain {
            // Word by word what was just written word by word: a wider load would wait for it.
            unsafe slot.pointee.mantissas = [measurement.mantissas[0], 0, 0, 0]
            unsafe slot.pointee.instant = measurement.instant
            unsafe slot.pointee.received = measurement.received
            unsafe slot.pointee.valueWord = measurement.valueWord
        } else {
            unsafe slot.pointee = measurement
        }
        unsafe slot.pointee.ringWord = Measurement.ringWord(measurement.ringWord, series: series)
    }

    /// Writes a plain reading into slot `index`, with another series.
    @inline(__always)
    func store(_ reading: PlainReading, series: UInt32, at index: Int) {
        // Safe: in bounds and aligned; only measurements and payload bytes are ever stored here.
        let slot = unsafe address(index).assumingMemoryBound(to: Measurement.self)
        unsafe slot.pointee.ringWord = Measurement.ringWord(reading.ringWord, series: series)
        unsafe slot.pointee.instant = reading.instant
        unsafe slot.pointee.received = reading.received
        unsafe slot.pointee.mantissas = [reading.mantissa, 0, 0, 0]
        unsafe slot.pointee.valueWord = reading.valueWord
    }

    /// Reads the measurement in slot `index`.
    @inlinable
    @inline(__always)
    func load(_ index: Int) -> Measurement {
        // Safe: in bounds and aligned; the slot was stored before it was published.
        return unsafe address(index).load(as: Measurement.self)
    }

    /// Prefetches slot `index`.
    @inline(__always)
    func prefetch(_ index: Int) {
        // Safe: nothing is read.
        unsafe kymo_prefetch(address(index))
    }

    /// Prefetches slot `index` for writing.
    @inline(__always)
    func prefetchForWriting(_ index: Int) {
        // Safe: nothing is read.
        unsafe kymo_prefetch_for_writing(address(index))
    }

    /// Reads the plain reading in slot `index`, word by word; nil where there is something else.
    @inline(__always)
    func plainReading(_ index: Int) -> PlainReading? {
        // Safe: in bounds and aligned; the slot was stored before it was published.
        let slot = unsafe address(index).assumingMemoryBound(to: Measurement.self)
        guard unsafe slot.pointee.kind == RecordKind.measurement.rawValue, unsafe slot.pointee.isPlain else {
            return nil
        }
        return unsafe PlainReading(slot.pointee)
    }

    /// Copies `bytes` into the slots from `index` on, which must not wrap.
    func store(_ bytes: ByteView, at index: Int) {
        precondition(index >= 0 && index * SlotMemory.slotBytes + bytes.count <= count * SlotMemory.slotBytes)
        // Safe: in bounds; the source is not ring memory.
        unsafe (base + index * SlotMemory.slotBytes).copyMemory(
            from: bytes.unsafeBuffer.baseAddress ?? UnsafeRawPointer(base), byteCount: bytes.count)
    }

    /// Views `length` bytes of the slots from `index` on; valid until they are released to the writer.
    func view(_ index: Int, length: Int) -> ByteView {
        precondition(index >= 0 && length >= 0)
        precondition(index * SlotMemory.slotBytes + length <= count * SlotMemory.slotBytes)
        let start = unsafe base + index * SlotMemory.slotBytes
        // Safe: in bounds.
        return unsafe ByteView(base: UnsafePointer(start.assumingMemoryBound(to: UInt8.self)), count: length)
    }
}
