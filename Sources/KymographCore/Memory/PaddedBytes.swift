/// Owned, growable memory whose end is always followed by ``ByteView/padding`` readable bytes.
///
/// Sources read into it, the scanner reads out of it. It grows by doubling and never shrinks, so that a warmed-up
/// pipeline allocates nothing.
@safe
package struct PaddedBytes: ~Copyable, @unchecked Sendable {
    private var base: UnsafeMutablePointer<UInt8>
    /// Bytes that can be stored without growing; the padding is not counted.
    package private(set) var capacity: Int

    /// Allocates room for `capacity` bytes plus padding, zeroed.
    package init(capacity: Int) {
        precondition(capacity >= 0)
        self.capacity = capacity
        unsafe base = .allocate(capacity: capacity + ByteView.padding)
        unsafe base.initialize(repeating: 0, count: capacity + ByteView.padding)
    }

    /// Copies `bytes`, for tests and load-time parsing.
    package init(copying bytes: some Collection<UInt8>) {
        self.init(capacity: bytes.count)
        let target = unsafe base
        // Safe: as many bytes as there is room for.
        let isCopied: Void? = bytes.withContiguousStorageIfAvailable { storage in
            guard let first = storage.baseAddress else { return }
            unsafe target.update(from: first, count: storage.count)
        }
        guard isCopied == nil else { return }
        var index = 0
        for byte in bytes {
            // Safe: index < bytes.count == capacity.
            unsafe base[index] = byte
            index += 1
        }
    }

    deinit {
        unsafe base.deallocate()
    }

    /// Views `range` of the stored bytes; valid until the next mutation.
    @inline(__always)
    package func view(_ range: Range<Int>) -> ByteView {
        precondition(range.lowerBound >= 0 && range.upperBound <= capacity)
        // Safe: checked above; the padding follows the capacity.
        return unsafe ByteView(base: UnsafePointer(base + range.lowerBound), count: range.count)
    }

    /// Views everything.
    package var view: ByteView { view(0..<capacity) }

    /// Grows to at least `needed` bytes, keeping the content.
    package mutating func reserve(_ needed: Int) {
        guard needed > capacity else { return }
        let grown = max(needed, capacity * 2)
        let moved = UnsafeMutablePointer<UInt8>.allocate(capacity: grown + ByteView.padding)
        unsafe moved.initialize(repeating: 0, count: grown + ByteView.padding)
        // Safe: both blocks hold at least the old capacity plus padding.
        unsafe moved.update(from: base, count: capacity)
        unsafe base.deallocate()
        unsafe base = moved
        capacity = grown
    }
}
