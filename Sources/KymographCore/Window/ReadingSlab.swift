/// The memory of readings in windows: runs of ``StoredReading``s, and the blocks of those that need one.
///
/// One memory for both, because readings are lent with their blocks as one view.
public struct ReadingSlab: ~Copyable {
    private var slots: SlabArray<StoredReading>

    /// Reserves room for `capacity` slots of 32 bytes in `memory`.
    init(capacity: Int = 256, memory: TableMemory = .heap) {
        slots = SlabArray(capacity: capacity, memory: memory)
    }

    /// Holds `readings`, which are in time order, from slot 0 on. A payload may be followed by receive times.
    public init(_ readings: [(reading: Measurement, payload: [UInt8])]) {
        self.init(capacity: readings.count)
        let start = allocate(sizeClass: ReadingSlab.sizeClass(for: readings.count))
        for (index, entry) in readings.enumerated() {
            entry.payload.withByteView { _ = put(entry.reading, $0, at: start + index) }
        }
    }

    /// The smallest size class whose runs hold `readings` readings.
    static func sizeClass(for readings: Int) -> Int { SlabArray<StoredReading>.sizeClass(for: readings) }

    /// The reading at `slot`.
    subscript(slot: Int) -> StoredReading {
        @inline(__always) get { slots[slot] }
        @inline(__always) _modify { yield &slots[slot] }
    }

    /// Takes room for 2^`sizeClass` readings, and returns the slot of the first.
    mutating func allocate(sizeClass: Int) -> Int { slots.allocate(sizeClass: sizeClass) }

    /// Gives the room at `slot` back, which was taken with the same `sizeClass`; blocks of readings are not in it.
    mutating func release(_ slot: Int, sizeClass: Int) { slots.release(slot, sizeClass: sizeClass) }

    /// Moves `count` readings; overlap is allowed.
    mutating func move(_ count: Int, from source: Int, to destination: Int) {
        slots.move(count, from: source, to: destination)
    }

    /// Asks for the memory of a slot that nobody uses.
    @inline(__always)
    mutating func fetch(_ slot: Int) { slots.fetch(slot) }

    /// Writes a reading to `slot`. `bytes` are its payload and the receive times that may follow. Whether it has a
    /// block.
    @inline(__always)
    mutating func put(_ reading: Measurement, _ bytes: ByteView, at slot: Int) -> Bool {
        guard StoredReading.fits(reading, bytes: bytes.count) else {
            putWithBlock(reading, bytes, at: slot)
            return true
        }
        slots[slot] = StoredReading(reading)
        return false
    }

    /// Writes a new reading that is ``Measurement/isPlain`` to `slot`.
    @inline(__always)
    mutating func put(plain reading: Measurement, at slot: Int) { slots[slot] = StoredReading(plain: reading) }

    @inline(never)
    private mutating func putWithBlock(_ reading: Measurement, _ bytes: ByteView, at slot: Int) {
        let stride = MemoryLayout<StoredReading>.stride
        let sizeClass = ReadingSlab.sizeClass(for: (StoredReading.digitBytes + bytes.count + stride - 1) / stride)
        let block = slots.allocate(sizeClass: sizeClass)
        slots.write(reading.mantissas, at: block)
        if bytes.count > 0 { slots.write(bytes, at: block + StoredReading.digitBytes / stride) }
        slots[slot] = StoredReading(reading, block: block, sizeClass: sizeClass)
    }

    /// Frees the block of the reading at `slot`, if it has one; the reading must not be read again.
    @inline(__always)
    mutating func releaseBlock(at slot: Int) {
        let reading = slots[slot]
        if reading.hasBlock { slots.release(reading.block, sizeClass: reading.blockSizeClass) }
    }

    /// Bytes that are kept among the readings, in one run of slots or in two: the sizes of runs are powers of two.
    struct Bytes: BitwiseCopyable {
        /// How many they are.
        let count: Int
        /// First slot of the larger run.
        let large: UInt32
        /// First slot of the smaller one, if there is one.
        let small: UInt32

        private var slots: Int {
            (count + MemoryLayout<StoredReading>.stride - 1) / MemoryLayout<StoredReading>.stride
        }
        /// Size class of the larger run: the most that is full, unless the rest would need as much.
        var largeClass: Int {
            let full = Int.bitWidth - 1 - max(slots, 1).leadingZeroBitCount
            return slots - 1 << full > (1 << full) / 2 ? full + 1 : full
        }
        /// Size class of the smaller run, or nil.
        var smallClass: Int? {
            let rest = slots - 1 << largeClass
            return rest > 0 ? ReadingSlab.sizeClass(for: rest) : nil
        }
        /// How many are in the larger run.
        var inLarge: Int { min(count, MemoryLayout<StoredReading>.stride << largeClass) }

        init(count: Int, large: UInt32 = 0, small: UInt32 = 0) {
            (self.count, self.large, self.small) = (count, large, small)
        }
    }

    /// Keeps a copy of `bytes`, which are not from here.
    mutating func keep(_ bytes: ByteView) -> Bytes {
        let form = Bytes(count: bytes.count)
        let large = slots.allocate(sizeClass: form.largeClass)
        slots.write(bytes[0..<form.inLarge], at: large)
        guard let smallClass = form.smallClass else { return Bytes(count: bytes.count, large: UInt32(large)) }
        let small = slots.allocate(sizeClass: smallClass)
        slots.write(bytes[form.inLarge..<bytes.count], at: small)
        return Bytes(count: bytes.count, large: UInt32(large), small: UInt32(small))
    }

    /// Appends `bytes` to `writer`, and keeps them no longer.
    mutating func take(_ bytes: Bytes, to writer: inout ByteWriter) {
        let stride = MemoryLayout<StoredReading>.stride
        let start = Int(bytes.large) * stride
        writer.append(slots.bytes[start..<(start + bytes.inLarge)])
        slots.release(Int(bytes.large), sizeClass: bytes.largeClass)
        guard let smallClass = bytes.smallClass else { return }
        let rest = Int(bytes.small) * stride
        writer.append(slots.bytes[rest..<(rest + bytes.count - bytes.inLarge)])
        slots.release(Int(bytes.small), sizeClass: smallClass)
    }

    /// Borrows `count` readings from `slot`; valid until the next change.
    @inline(__always)
    public func readings(from slot: Int, count: Int) -> WindowReadings {
        WindowReadings(slots.list(from: slot, count: count), memory: slots.bytes)
    }
}
