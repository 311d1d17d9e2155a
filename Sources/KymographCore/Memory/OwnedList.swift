/// A list of noncopyable elements, which `Array` cannot hold: a lane's mappers, a shard's ring ends.
///
/// An array of objects that hold them would look at each access whether it is the only one. Element types must not be
/// `private`, as those of ``RawArray``.
@safe
package struct OwnedList<Element: ~Copyable>: ~Copyable {
    private var base: UnsafeMutablePointer<Element>
    /// Number of elements.
    package private(set) var count: Int
    private var capacity: Int

    /// Makes `count` elements.
    init(count: Int, _ make: (Int) -> Element) {
        self.count = count
        capacity = max(count, 1)
        unsafe base = .allocate(capacity: capacity)
        // Safe: each index is within the allocation and initialised once.
        for index in 0..<count { unsafe (base + index).initialize(to: make(index)) }
    }

    deinit {
        // Safe: all `count` elements were initialised.
        unsafe base.deinitialize(count: count)
        unsafe base.deallocate()
    }

    /// Adds `element` at the end.
    mutating func append(_ element: consuming Element) {
        if count == capacity { grow() }
        // Safe: count < capacity.
        unsafe (base + count).initialize(to: element)
        count += 1
    }

    private mutating func grow() {
        capacity *= 2
        let moved = UnsafeMutablePointer<Element>.allocate(capacity: capacity)
        // Safe: the former block has `count` elements, which move out of it before it is freed.
        unsafe moved.moveInitialize(from: base, count: count)
        unsafe base.deallocate()
        unsafe base = moved
    }

    /// Borrows element `index`; traps when out of range.
    @inline(__always)
    package subscript(index: Int) -> Element {
        _read {
            precondition(UInt(bitPattern: index) < UInt(bitPattern: count))
            // Safe: checked above.
            yield unsafe base[index]
        }
        _modify {
            precondition(UInt(bitPattern: index) < UInt(bitPattern: count))
            // Safe: checked above; this type is noncopyable, so access is exclusive.
            yield unsafe &base[index]
        }
    }
}

// Safe: the list owns its elements; it may move between threads when they may.
extension OwnedList: @unchecked Sendable where Element: Sendable & ~Copyable {}
