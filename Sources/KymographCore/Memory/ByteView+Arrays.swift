extension [UInt8] {
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
