import Glibc
import KymographCore

/// Fixed memory that system calls fill and consumers view, followed by ``ByteView/padding`` readable bytes.
///
/// It is mapped, not allocated, so that only the pages where data lands count as used memory: 64 places for datagrams
/// of up to 64 KiB are 4 MiB of addresses, yet a few hundred KiB of memory when datagrams are small.
@safe
struct ReceiveMemory: ~Copyable {
    private let base: UnsafeMutablePointer<UInt8>
    /// Bytes that can be stored.
    let capacity: Int

    /// Maps `capacity` bytes, zero when first read. Ends the process when there is no address space left.
    init(capacity: Int) {
        self.capacity = capacity
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        // Safe: a fresh mapping, owned by this struct alone.
        let mapped = unsafe mmap(nil, capacity + ByteView.padding, PROT_READ | PROT_WRITE, flags, -1, 0)
        guard let mapped = unsafe mapped, unsafe mapped != MAP_FAILED else {
            fatalError("cannot map \(capacity) bytes for receiving: \(ErrorText.of(errno))")
        }
        unsafe base = mapped.bindMemory(to: UInt8.self, capacity: capacity + ByteView.padding)
    }

    deinit {
        // Safe: mapped in init with this size.
        unsafe munmap(base, capacity + ByteView.padding)
    }

    /// Views the bytes in `range`; valid until they are overwritten.
    @inline(__always)
    func view(_ range: Range<Int>) -> ByteView {
        precondition(range.lowerBound >= 0 && range.upperBound <= capacity)
        // Safe: checked; the padding follows the capacity.
        return unsafe ByteView(base: UnsafePointer(base + range.lowerBound), count: range.count)
    }

    /// The place of the first newline in `range`, or nil.
    @inline(__always)
    func newline(in range: Range<Int>) -> Int? {
        precondition(range.lowerBound >= 0 && range.upperBound <= capacity)
        // Safe: checked above; memchr stays within the range.
        guard let found = unsafe memchr(base + range.lowerBound, 0x0A, range.count) else { return nil }
        // Safe: both point into this memory.
        return unsafe UnsafeRawPointer(found) - UnsafeRawPointer(base)
    }

    /// Writes `bytes` to the front.
    mutating func store(_ bytes: ByteView) {
        precondition(bytes.count <= capacity)
        // Safe: checked above; a carry-over buffer and this memory are distinct.
        unsafe UnsafeMutableRawPointer(base).copyMemory(from: bytes.unsafeStart, byteCount: bytes.count)
    }

    /// Moves what comes after the first `count` of `total` bytes to the front.
    mutating func drop(_ count: Int, of total: Int) {
        precondition(count >= 0 && count <= total && total <= capacity)
        // Safe: checked above; memmove allows the overlap.
        unsafe memmove(base, base + count, total - count)
    }

    /// Reads up to `count` bytes of `descriptor` to `offset`. Returns how many, 0 at the end, or a negative errno.
    mutating func read(_ descriptor: Int32, at offset: Int, count: Int) -> Int {
        precondition(offset >= 0 && count >= 0 && offset + count <= capacity)
        // Safe: checked above.
        let size = unsafe Glibc.read(descriptor, base + offset, count)
        return size < 0 ? -Int(errno) : size
    }

    /// The address of `offset`, for the message headers of recvmmsg.
    @unsafe
    func address(of offset: Int) -> UnsafeMutablePointer<UInt8> {
        precondition(offset >= 0 && offset <= capacity)
        return unsafe base + offset
    }
}

extension ByteView {
    /// Where the bytes start; never null, because a view always has memory.
    @unsafe
    fileprivate var unsafeStart: UnsafeRawPointer {
        guard let start = unsafe unsafeBuffer.baseAddress else { preconditionFailure("a view without memory") }
        return unsafe start
    }
}
