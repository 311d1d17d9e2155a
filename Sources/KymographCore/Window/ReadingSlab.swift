/// The memory of readings in windows: runs of ``StoredReading``s, and the blocks of those that need one.
///
/// One memory for both, because readings are lent with their blocks as one view.
package struct ReadingSlab: ~Copyable {
    private var slots: SlabArray<StoredReading>

    /// Reserves room for `capacity` slots of 32 bytes in `memory`.
    init(capacity: Int = 256, memory: TableMemory = .heap) {
        slots = SlabArray(capacity: capacity, memory: memory)
    }

    /// Holds `readings`, which are in time order, from slot 0 on. A payload may be followed by receive times.
    package init(_ readings: [(reading: Measurement, payload: [UInt8])]) {
        self.init(capacity: readings.count)
        let start = allocate(sizeClass: ReadingSlab.sizeClass(for: readings.count))
        for (index, entry) in readings.enumerated() {
            entry.payload.withByteView { _ = put(entry.reading, $0, at: start + index) }
        }
    }

    /// The smallest size class whose runs hold `readings` readings.
    static func sizeClass(for readings: Int) -> Int { SlabArray<StoredReading>.sizeClass(for: readings) }

    /// Bytes of slots that have been used so far: what is released is used again.
    var usedBytes: Int { slots.bytes.count }

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

    /// Exchanges two readings.
    mutating func exchange(_ one: Int, _ other: Int) { (slots[one], slots[other]) = (slots[other], slots[one]) }

    /// Prefetches a slot.
    @inline(__always)
    func prefetch(_ slot: Int) { slots.prefetch(slot) }

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

    /// Writes a new reading to `slot`.
    @inline(__always)
    mutating func put(_ reading: PlainReading, at slot: Int) { slots[slot] = StoredReading(reading) }

    /// Writes the readings of `content`, whose rows fit in words, to `slot` and those behind it; false when they are
    /// not in time order.
    mutating func put(_ columns: WindowColumns, of content: ByteView, at slot: Int) -> Bool {
        var place = slot
        return columns.forEachWord(of: content) { reading in
            slots[place] = reading
            place &+= 1
        }
    }

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

    /// Bytes that are kept among the readings, in one to three runs of slots: the sizes of runs are powers of two.
    struct Bytes: BitwiseCopyable {
        static let runs = 3

        /// How many they are.
        let count: UInt32
        /// First slots of the runs, the largest run first; 0 where there is none.
        var starts: InlineArray<3, UInt32> = [0, 0, 0]

        init(count: Int) { self.count = UInt32(count) }

        /// Quarters of a full run that those behind it can take, in place of a run twice as large.
        private static let quartersBehind: InlineArray<3, Int> = [3, 2, 0]

        /// Size classes of the runs, or -1 where there is none.
        var sizeClasses: InlineArray<3, Int> {
            var classes: InlineArray<3, Int> = [-1, -1, -1]
            let stride = MemoryLayout<StoredReading>.stride
            var left = max(1, (Int(count) + stride - 1) / stride)
            for run in 0..<Bytes.runs where left > 0 {
                let full = Int.bitWidth - 1 - left.leadingZeroBitCount
                let behind = (left - 1 << full) * 4
                classes[run] = behind <= Bytes.quartersBehind[run] << full ? full : full + 1
                left -= min(left, 1 << classes[run])
            }
            return classes
        }
    }

    /// Keeps a copy of `bytes`, which are not from here.
    mutating func keep(_ bytes: ByteView) -> Bytes {
        var kept = Bytes(count: bytes.count)
        let classes = kept.sizeClasses
        var written = 0
        for run in 0..<Bytes.runs where classes[run] >= 0 {
            let start = slots.allocate(sizeClass: classes[run])
            let end = min(bytes.count, written + MemoryLayout<StoredReading>.stride << classes[run])
            slots.write(bytes[written..<end], at: start)
            kept.starts[run] = UInt32(start)
            written = end
        }
        return kept
    }

    /// Appends `bytes` to `writer`, and keeps them no longer.
    mutating func take(_ bytes: Bytes, to writer: inout ByteWriter) {
        let stride = MemoryLayout<StoredReading>.stride
        let classes = bytes.sizeClasses
        var left = Int(bytes.count)
        for run in 0..<Bytes.runs where classes[run] >= 0 {
            let (start, size) = (Int(bytes.starts[run]) * stride, min(left, stride << classes[run]))
            writer.append(slots.bytes[start..<(start + size)])
            slots.release(Int(bytes.starts[run]), sizeClass: classes[run])
            left -= size
        }
    }

    /// Borrows `count` readings from `slot`; valid until the next change.
    @inline(__always)
    package func readings(from slot: Int, count: Int) -> WindowReadings {
        WindowReadings(slots.list(from: slot, count: count), memory: slots.bytes)
    }
}
