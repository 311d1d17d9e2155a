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
    /// Where a chunk of a stream goes, behind what was kept of the chunk before; the start of a page.
    ///
    /// The kernel copies from the starts of pages, by an instruction that some processors (AMD Zen 3) are four times as
    /// slow at when the target is 1 to 31 bytes further in its page than the source is: see docs/decisions/0026.
    let chunkStart: Int

    /// Maps room for `kept` bytes, and a chunk of `chunk` bytes behind them.
    init(kept: Int, chunk: Int) {
        let page = 4_096
        self.init(chunkStart: (kept + page - 1) / page * page, chunk: chunk)
    }

    /// Maps `capacity` bytes, zero when first read.
    init(capacity: Int) { self.init(chunkStart: 0, chunk: capacity) }

    /// Ends the process when there is no address space left.
    private init(chunkStart: Int, chunk: Int) {
        self.chunkStart = chunkStart
        capacity = chunkStart + chunk
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

    /// Writes `bytes` right before ``chunkStart``, and returns where they are.
    mutating func storeBeforeChunk(_ bytes: ByteView) -> Range<Int> {
        precondition(bytes.count <= chunkStart)
        let start = chunkStart - bytes.count
        // Safe: checked above; a carry-over buffer and this memory are distinct.
        unsafe UnsafeMutableRawPointer(base + start).copyMemory(from: bytes.unsafeStart, byteCount: bytes.count)
        return start..<chunkStart
    }

    /// Reads up to `count` bytes of `descriptor` by `transport` to `offset`. Returns how many, 0 at the end, or a
    /// negative errno.
    mutating func read(_ descriptor: Int32, by transport: StreamTransport, at offset: Int, count: Int) -> Int {
        precondition(offset >= 0 && count >= 0 && offset + count <= capacity)
        switch transport {
        case .plain:
            // Safe: checked above.
            let size = unsafe Glibc.read(descriptor, base + offset, count)
            return size < 0 ? -Int(errno) : size
        // Safe: as above.
        case .tls(let connection): return unsafe connection.read(base + offset, count: count)
        }
    }

    /// Reads the next payload of `connection` to the start.
    mutating func read(_ connection: DatagramTLSConnection) -> DatagramTLSConnection.Payload {
        precondition(capacity >= DatagramTLSConnection.maxBytes)
        // Safe: checked above.
        return unsafe connection.read(base)
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
