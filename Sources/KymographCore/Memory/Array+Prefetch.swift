private import CPrefetch

extension Array {
    /// Prefetches the element at `index`.
    @inline(__always)
    func prefetch(_ index: Int) {
        precondition(indices.contains(index))
        unsafe withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            // Safe: nothing is read.
            unsafe kymo_prefetch(start + index * MemoryLayout<Element>.stride)
        }
    }

    /// Prefetches the array that is `property` of the element at `index`, which should be at hand itself:
    /// of what the runtime keeps before the elements, and of the first of them.
    ///
    /// The reference is read as a number. As a reference it would be counted, and the count is in the very memory that
    /// is not at hand. That an array is one reference, and its elements 32 bytes behind, is how the runtime does it: if
    /// it did otherwise, other memory would be asked for, and nothing would be wrong.
    @inline(__always)
    func prefetch<Member>(_ property: KeyPath<Element, [Member]>, of index: Int) {
        precondition(indices.contains(index))
        guard let offset = MemoryLayout<Element>.offset(of: property) else { return }
        unsafe withUnsafeBytes { bytes in
            let place = index * MemoryLayout<Element>.stride + offset
            // Safe: within the element; any number may be asked for.
            let number = unsafe bytes.loadUnaligned(fromByteOffset: place, as: UInt.self)
            guard let storage = unsafe UnsafeRawPointer(bitPattern: number) else { return }
            unsafe kymo_prefetch(storage)
            unsafe kymo_prefetch(storage + 32)
        }
    }
}
