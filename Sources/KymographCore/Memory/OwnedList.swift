/// A fixed list of noncopyable elements, which `Array` cannot hold: a lane's mappers, a shard's ring ends.
@safe
package struct OwnedList<Element: ~Copyable>: ~Copyable {
    private let base: UnsafeMutablePointer<Element>
    /// Number of elements.
    package let count: Int

    /// Makes `count` elements.
    init(count: Int, _ make: (Int) -> Element) {
        self.count = count
        unsafe base = .allocate(capacity: max(count, 1))
        // Safe: each index is within the allocation and initialised once.
        for index in 0..<count { unsafe (base + index).initialize(to: make(index)) }
    }

    deinit {
        // Safe: all `count` elements were initialised.
        unsafe base.deinitialize(count: count)
        unsafe base.deallocate()
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
