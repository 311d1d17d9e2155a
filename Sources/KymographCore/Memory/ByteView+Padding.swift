extension ByteView {
    /// Lends a copy of the bytes that may be scanned: eight-byte loads may reach ``padding`` bytes beyond its end.
    ///
    /// Short texts are copied to the stack, so that nothing is allocated for them.
    package func withPadding<Result>(_ body: (ByteView) -> Result) -> Result {
        let size = count + ByteView.padding
        return unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: size) { copy in
            guard let start = copy.baseAddress else { preconditionFailure("no memory for \(size) bytes") }
            // Safe: the block has `size` bytes, and this view's `count` bytes are readable.
            unsafe start.initialize(repeating: 0, count: size)
            unsafe start.update(from: base, count: count)
            return unsafe body(ByteView(base: UnsafePointer(start), count: count))
        }
    }

    /// The bytes without blanks and tabs around them.
    var trimmed: ByteView {
        var (first, end) = (0, count)
        while first < end, ByteView.isBlank(self[first]) { first += 1 }
        while end > first, ByteView.isBlank(self[end - 1]) { end -= 1 }
        return self[first..<end]
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
