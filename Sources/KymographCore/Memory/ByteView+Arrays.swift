extension [UInt8] {
    /// Appends the bytes of `view`.
    @inline(__always)
    mutating func append(contentsOf view: ByteView) {
        // Safe: a view never aliases an array that is being changed.
        unsafe append(contentsOf: UnsafeBufferPointer(start: view.base, count: view.count))
    }

    /// Lends the array's bytes as a view for the length of `body`. The view is not padded: not for scanning.
    @inline(__always)
    public func withByteView<Result>(_ body: (ByteView) throws -> Result) rethrows -> Result {
        try unsafe withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return try body(ByteView("")) }
            // Safe: the storage outlives the closure.
            return try unsafe body(ByteView(base: start, count: buffer.count))
        }
    }
}
