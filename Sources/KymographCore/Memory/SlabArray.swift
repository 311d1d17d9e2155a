private import CPrefetch

/// Blocks of trivial slots in one contiguous memory, named by the index of their first slot.
///
/// Blocks have power-of-two sizes; a released block waits in the free list of its size class, so that a warmed-up
/// owner allocates nothing. One memory holds both the readings of all windows and their payloads, because the FHIR
/// writer sees payloads as one view. Grows by doubling and never shrinks; growth moves the memory, so views end at
/// any mutation.
@safe
package struct SlabArray<Slot: BitwiseCopyable>: ~Copyable, @unchecked Sendable {
    private var base: UnsafeMutablePointer<Slot>
    private var capacity: Int
    private var used = 0
    private let memory: TableMemory
    private var freeHeads: InlineArray<32, UInt32> = .init(repeating: UInt32.max)

    /// Reserves room for `capacity` slots in `memory`.
    package init(capacity: Int = 256, memory: TableMemory = .heap) {
        precondition(MemoryLayout<Slot>.stride >= MemoryLayout<UInt32>.size)
        self.memory = memory
        let size = SlabArray.size(of: max(capacity, 1), in: memory)
        self.capacity = size / MemoryLayout<Slot>.stride
        // Safe: fresh memory of this size.
        unsafe base = memory.take(size).bindMemory(to: Slot.self, capacity: self.capacity)
    }

    deinit {
        // Safe: taken with this size.
        unsafe memory.give(base, SlabArray.size(of: capacity, in: memory))
    }

    /// Bytes of a block with room for `capacity` slots.
    private static func size(of capacity: Int, in memory: TableMemory) -> Int {
        memory.rounded(capacity * MemoryLayout<Slot>.stride)
    }

    /// The smallest size class whose blocks hold `slots` slots: blocks of class c have 2^c.
    @inline(__always)
    package static func sizeClass(for slots: Int) -> Int {
        slots <= 1 ? 0 : Int.bitWidth - (slots - 1).leadingZeroBitCount
    }

    /// Takes a block of 2^`sizeClass` slots, whose content is undefined, and returns its first slot.
    package mutating func allocate(sizeClass: Int) -> Int {
        let head = freeHeads[sizeClass]
        guard head == .max else {
            // Safe: a free block's first slot is in use by nobody and holds the next free block.
            let next = unsafe UnsafeRawPointer(base + Int(head)).loadUnaligned(as: UInt32.self)
            freeHeads[sizeClass] = next
            // It was given back long ago, and is read and written when it is taken.
            if next != .max { prefetch(Int(next)) }
            return Int(head)
        }
        let start = used
        reserve(used + 1 << sizeClass)
        used = start + 1 << sizeClass
        return start
    }

    /// Gives the block at `slot` back; it must have been allocated with the same `sizeClass`.
    package mutating func release(_ slot: Int, sizeClass: Int) {
        precondition(slot >= 0 && slot + 1 << sizeClass <= used)
        let next = freeHeads[sizeClass]
        // Safe: in range, and a slot has room for four bytes.
        unsafe UnsafeMutableRawPointer(base + slot).storeBytes(of: next, as: UInt32.self)
        freeHeads[sizeClass] = UInt32(slot)
    }

    @inline(never)
    private mutating func reserve(_ needed: Int) {
        guard needed > capacity else { return }
        precondition(needed < Int(UInt32.max))
        let size = SlabArray.size(of: capacity, in: memory)
        let wanted = SlabArray.size(of: max(needed, capacity * 2), in: memory)
        // Safe: the block has this size, and the larger one holds its content.
        let grown = unsafe memory.grow(base, from: size, to: wanted)
        capacity = wanted / MemoryLayout<Slot>.stride
        unsafe base = grown.bindMemory(to: Slot.self, capacity: capacity)
    }

    /// The slot at `index`; traps when out of range.
    package subscript(index: Int) -> Slot {
        @inline(__always) get {
            precondition(UInt(bitPattern: index) < UInt(bitPattern: used))
            // Safe: checked above.
            return unsafe base[index]
        }
        @inline(__always) _modify {
            precondition(UInt(bitPattern: index) < UInt(bitPattern: used))
            // Safe: checked above; this type is noncopyable, so access is exclusive.
            yield unsafe &base[index]
        }
    }

    /// Prefetches slot `index`.
    @inline(__always)
    func prefetch(_ index: Int) {
        precondition(UInt(bitPattern: index) < UInt(bitPattern: used))
        // Safe: nothing is read.
        unsafe kymo_prefetch(UnsafeRawPointer(base + index))
    }

    /// Copies `count` slots from `source` to `destination`; overlap is allowed.
    package mutating func move(_ count: Int, from source: Int, to destination: Int) {
        precondition(count >= 0 && source >= 0 && source + count <= used)
        precondition(destination >= 0 && destination + count <= used)
        // Safe: checked above; `update` allows overlap.
        unsafe (base + destination).update(from: base + source, count: count)
    }

    /// Copies `bytes` to the memory that starts at `slot`; they must not come from this memory.
    package mutating func write(_ bytes: ByteView, at slot: Int) {
        let stride = MemoryLayout<Slot>.stride
        precondition(slot >= 0 && slot * stride + bytes.count <= used * stride)
        // Safe: checked above; trivial slots may be written as bytes.
        unsafe UnsafeMutableRawPointer(base + slot).copyMemory(from: bytes.base, byteCount: bytes.count)
    }

    /// Writes `value` over the memory that starts at `slot`.
    @inline(__always)
    package mutating func write<Value: BitwiseCopyable>(_ value: Value, at slot: Int) {
        let stride = MemoryLayout<Slot>.stride
        precondition(slot >= 0 && slot * stride + MemoryLayout<Value>.size <= used * stride)
        // Safe: checked above; trivial slots may be written as bytes.
        unsafe UnsafeMutableRawPointer(base + slot).storeBytes(of: value, as: Value.self)
    }

    /// Borrows `count` slots from `start`; valid until the next mutation.
    package func list(from start: Int, count: Int) -> ElementList<Slot> {
        precondition(start >= 0 && count >= 0 && start + count <= used)
        // Safe: checked above.
        return unsafe ElementList(base: UnsafePointer(base + start), count: count)
    }

    /// Views the whole memory as bytes; valid until the next mutation.
    package var bytes: ByteView {
        let start = unsafe UnsafeRawPointer(base)
        let size = used * MemoryLayout<Slot>.stride
        // Safe: trivial slots may be read as bytes.
        return unsafe ByteView(base: start.assumingMemoryBound(to: UInt8.self), count: size)
    }
}
