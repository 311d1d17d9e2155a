import Synchronization

/// Counts that one thread adds to, and every thread may read: a plain addition in memory, without a lock and without
/// cache lines that others write to.
@safe
package final class SharedCounts: @unchecked Sendable {
    private let base: UnsafeMutablePointer<Atomic<Int>>
    /// Number of counts.
    package let count: Int

    /// Makes `count` counts, all zero.
    package init(count: Int) {
        self.count = count
        unsafe base = .allocate(capacity: max(count, 1))
        // Safe: the memory is ours, and of this size.
        for index in 0..<count { unsafe (base + index).initialize(to: Atomic(0)) }
    }

    deinit {
        unsafe base.deinitialize(count: count)
        unsafe base.deallocate()
    }

    /// Adds one to the count at `index`; traps when out of range. Only the thread that they belong to may call it: that
    /// is why no atomic addition is needed.
    @inline(__always)
    package func add(_ index: Int) {
        precondition(UInt(bitPattern: index) < UInt(bitPattern: count))
        // Safe: checked above.
        let former = unsafe base[index].load(ordering: .relaxed)
        unsafe base[index].store(former &+ 1, ordering: .relaxed)
    }

    /// The count at `index`; traps when out of range. For any thread.
    package subscript(index: Int) -> Int {
        precondition(UInt(bitPattern: index) < UInt(bitPattern: count))
        // Safe: checked above.
        return unsafe base[index].load(ordering: .relaxed)
    }
}
