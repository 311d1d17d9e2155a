private import CPrefetch

/// A growable array of trivial elements without copy-on-write, reference counting or exclusivity checks.
///
/// Hot-path state lives in these: an `Array` stored property costs a uniqueness test per write. Subscripts are
/// bounds-checked in release builds too. Grows by doubling, never shrinks. Element types must not be `private`: Swift
/// 6.3 fails in debug builds to emit their descriptors for code generated in another file.
@safe
package struct RawArray<Element: BitwiseCopyable>: ~Copyable, @unchecked Sendable {
    private var base: UnsafeMutablePointer<Element>
    /// Number of elements in use.
    package private(set) var count = 0
    /// Number of elements that fit before the next growth.
    package private(set) var capacity: Int

    /// Reserves room for `capacity` elements.
    package init(capacity: Int = 0) {
        self.capacity = max(capacity, 1)
        unsafe base = RawArray.memory(for: self.capacity)
    }

    /// Fresh memory for `capacity` elements. Those that fill cache lines do not straddle them: a large table is
    /// scattered over megabytes, and each line of it is a wait.
    private static func memory(for capacity: Int) -> UnsafeMutablePointer<Element> {
        let stride = MemoryLayout<Element>.stride
        guard stride % 64 == 0 else { return .allocate(capacity: capacity) }
        let block = UnsafeMutableRawPointer.allocate(byteCount: capacity * stride, alignment: 64)
        // Safe: fresh memory of this size.
        return unsafe block.bindMemory(to: Element.self, capacity: capacity)
    }

    /// Holds `count` copies of `element`.
    package init(repeating element: Element, count: Int) {
        self.init(capacity: count)
        unsafe base.initialize(repeating: element, count: count)
        self.count = count
    }

    /// Copies `elements`.
    package init(_ elements: [Element]) {
        self.init(capacity: elements.count)
        for element in elements { append(element) }
    }

    deinit {
        unsafe base.deallocate()
    }

    /// The element at `index`; traps when out of range.
    @inline(__always)
    package subscript(index: Int) -> Element {
        get {
            precondition(UInt(bitPattern: index) < UInt(bitPattern: count))
            // Safe: checked above.
            return unsafe base[index]
        }
        set {
            precondition(UInt(bitPattern: index) < UInt(bitPattern: count))
            // Safe: checked above.
            unsafe base[index] = newValue
        }
        _modify {
            precondition(UInt(bitPattern: index) < UInt(bitPattern: count))
            // Safe: checked above; this type is noncopyable, so access is exclusive.
            yield unsafe &base[index]
        }
    }

    /// Prefetches the element at `index`.
    @inline(__always)
    func prefetch(_ index: Int) {
        precondition(UInt(bitPattern: index) < UInt(bitPattern: count))
        // Safe: nothing is read.
        let element = unsafe UnsafeRawPointer(base + index)
        unsafe kymo_prefetch(element)
        if MemoryLayout<Element>.stride > 64 { unsafe kymo_prefetch(element + 64) }
    }

    /// Adds `element` at the end.
    @inline(__always)
    package mutating func append(_ element: Element) {
        if count == capacity { reserve(count + 1) }
        // Safe: count < capacity after the reserve.
        unsafe (base + count).initialize(to: element)
        count += 1
    }

    /// Adds `element` where room was reserved; traps where there is none.
    @inline(__always)
    mutating func appendReserved(_ element: Element) {
        precondition(count < capacity)
        // Safe: checked above.
        unsafe (base + count).initialize(to: element)
        count &+= 1
    }

    /// Makes room for `needed` elements in all.
    package mutating func reserve(_ needed: Int) {
        guard needed > capacity else { return }
        let grown = max(needed, capacity * 2)
        let moved = unsafe RawArray.memory(for: grown)
        // Safe: both blocks hold at least `count` elements.
        unsafe moved.update(from: base, count: count)
        unsafe base.deallocate()
        unsafe base = moved
        capacity = grown
    }

    /// Appends copies of `element` until `needed` are in use.
    package mutating func grow(to needed: Int, with element: Element) {
        reserve(needed)
        while count < needed { append(element) }
    }

    /// Moves `range` so that it starts at `destination`; both must lie within `count`. Overlap is allowed.
    package mutating func move(_ range: Range<Int>, to destination: Int) {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        precondition(destination >= 0 && destination + range.count <= count)
        // Safe: checked above; `update` allows overlap.
        unsafe (base + destination).update(from: base + range.lowerBound, count: range.count)
    }

    /// Forgets all elements and keeps the memory.
    @inline(__always)
    package mutating func removeAll() {
        count = 0
    }

    /// Removes and returns the last element, or nil when empty.
    @inline(__always)
    package mutating func popLast() -> Element? {
        guard count > 0 else { return nil }
        count -= 1
        // Safe: count was > 0.
        return unsafe base[count]
    }

    /// Drops elements from the end until `newCount` are left.
    package mutating func truncate(to newCount: Int) {
        precondition(newCount >= 0 && newCount <= count)
        count = newCount
    }

    /// Views the bytes of the elements in `range`; valid until the next mutation.
    package func bytes(of range: Range<Int>) -> ByteView {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        let start = unsafe UnsafeRawPointer(base + range.lowerBound)
        let size = range.count * MemoryLayout<Element>.stride
        // Safe: trivial elements may be read as bytes; the range is checked.
        return unsafe ByteView(base: start.assumingMemoryBound(to: UInt8.self), count: size)
    }

    /// Borrows the elements in `range` as a list; valid until the next mutation.
    package func list(_ range: Range<Int>) -> ElementList<Element> {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        // Safe: checked above.
        return unsafe ElementList(base: UnsafePointer(base + range.lowerBound), count: range.count)
    }
}

/// A borrowed, read-only run of trivial elements; valid while its owner is unchanged.
@safe
package struct ElementList<Element: BitwiseCopyable>: BitwiseCopyable {
    private let base: UnsafePointer<Element>
    /// Number of elements.
    package let count: Int

    @unsafe
    init(base: UnsafePointer<Element>, count: Int) {
        unsafe self.base = base
        self.count = count
    }

    /// The address of the first element, for this folder.
    @unsafe
    var start: UnsafeRawPointer { unsafe UnsafeRawPointer(base) }

    /// The element at `index`; traps when out of range.
    @inline(__always)
    package subscript(index: Int) -> Element {
        precondition(UInt(bitPattern: index) < UInt(bitPattern: count))
        // Safe: checked above.
        return unsafe base[index]
    }
}
