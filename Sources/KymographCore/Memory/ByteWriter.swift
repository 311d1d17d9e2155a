/// An append-only output buffer: the FHIR writer and the archive codec write their bytes here.
///
/// Grows by doubling and keeps its memory across ``removeAll()``, so that a warmed-up writer allocates nothing.
@safe
public struct ByteWriter: ~Copyable, @unchecked Sendable {
    private var base: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    /// Bytes written so far.
    public private(set) var count = 0

    /// Reserves room for `capacity` bytes.
    public init(capacity: Int = 4096) {
        self.capacity = max(capacity, 64)
        unsafe base = .allocate(capacity: self.capacity)
    }

    deinit {
        unsafe base.deallocate()
    }

    /// Makes room for `extra` more bytes.
    @inline(__always)
    package mutating func reserve(_ extra: Int) {
        // A difference, because it cannot overflow.
        if capacity &- count < extra { grow(extra) }
    }

    @inline(never)
    private mutating func grow(_ extra: Int) {
        let grown = max(capacity * 2, count + extra)
        let moved = UnsafeMutablePointer<UInt8>.allocate(capacity: grown)
        // Safe: both blocks hold at least `count` bytes.
        unsafe moved.update(from: base, count: count)
        unsafe base.deallocate()
        unsafe base = moved
        capacity = grown
    }

    /// Writes one byte.
    @inline(__always)
    public mutating func append(_ byte: UInt8) {
        reserve(1)
        // Safe: reserved.
        unsafe base[count] = byte
        count &+= 1
    }

    /// Writes the lowest `bytes` (0…8) bytes of `word`, the lowest first.
    @inline(__always)
    mutating func append(word: UInt64, bytes: Int = 8) {
        assert(bytes >= 0 && bytes <= 8)
        reserve(8)
        // Safe: eight bytes are reserved; what is beyond `bytes` is overwritten later.
        unsafe UnsafeMutableRawPointer(base + count).storeBytes(of: word.littleEndian, as: UInt64.self)
        count &+= bytes
    }

    /// Writes the lowest bytes (0…8) of two words, one behind the other.
    @inline(__always)
    mutating func append(word first: UInt64, bytes: Int, then second: UInt64, bytes more: Int) {
        assert(bytes >= 0 && bytes <= 8 && more >= 0 && more <= 8)
        reserve(16)
        // Safe: sixteen bytes are reserved; what is beyond those of a word is overwritten later.
        unsafe UnsafeMutableRawPointer(base + count).storeBytes(of: first.littleEndian, as: UInt64.self)
        unsafe UnsafeMutableRawPointer(base + count + bytes).storeBytes(of: second.littleEndian, as: UInt64.self)
        count &+= bytes &+ more
    }

    /// Writes the bytes of `words`, the lowest byte of each first.
    @inline(__always)
    mutating func append(_ words: SIMD8<UInt64>) {
        reserve(64)
        // Safe: reserved.
        let place = unsafe UnsafeMutableRawPointer(base + count)
        for index in 0..<8 {
            unsafe place.storeBytes(of: words[index].littleEndian, toByteOffset: 8 &* index, as: UInt64.self)
        }
        count &+= 64
    }

    /// Makes the content `bytes` longer, by whatever was there, and returns where these bytes begin.
    @inline(__always)
    mutating func extend(by bytes: Int) -> Int {
        precondition(bytes >= 0)
        reserve(bytes)
        count += bytes
        return count - bytes
    }

    /// Lends memory for `room` bytes behind the written ones to `fill`, which returns how many it has written: for
    /// C libraries that fill a block.
    @unsafe
    package mutating func appendFilled(upTo room: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Int) {
        reserve(room)
        // Safe: reserved.
        let filled = unsafe fill(UnsafeMutableRawBufferPointer(start: base + count, count: room))
        precondition(filled >= 0 && filled <= room)
        count += filled
    }

    /// Replaces the eight bytes from `index`, the lowest of `word` first.
    @inline(__always)
    mutating func store(word: UInt64, at index: Int) {
        precondition(index >= 0 && index <= count &- 8)
        // Safe: checked above.
        unsafe UnsafeMutableRawPointer(base + index).storeBytes(of: word.littleEndian, as: UInt64.self)
    }

    /// Replaces the four bytes from `index`, the lowest of `half` first.
    @inline(__always)
    mutating func store(half: UInt32, at index: Int) {
        precondition(index >= 0 && index <= count &- 4)
        // Safe: checked above.
        unsafe UnsafeMutableRawPointer(base + index).storeBytes(of: half.littleEndian, as: UInt32.self)
    }

    /// Writes the bytes of `view`.
    @inline(__always)
    public mutating func append(_ view: ByteView) {
        reserve(view.count)
        // Safe: reserved; a view never aliases this writer's memory, which nobody else can see while it is mutated.
        unsafe ByteWriter.copy(view.base, to: base + count, count: view.count)
        count &+= view.count
    }

    /// Copies bytes that do not overlap: `update` would look whether they do. Nearly all are identifiers of 8 to 16
    /// bytes: two words, instead of a call that first has to find out how many there are.
    @inline(__always)
    private static func copy(_ source: UnsafePointer<UInt8>, to target: UnsafeMutablePointer<UInt8>, count: Int) {
        guard count >= 8 && count <= 16 else { return unsafe target.initialize(from: source, count: count) }
        // Safe: both words are within the `count` bytes.
        let head = unsafe UnsafeRawPointer(source).loadUnaligned(as: UInt64.self)
        let tail = unsafe UnsafeRawPointer(source + count - 8).loadUnaligned(as: UInt64.self)
        unsafe UnsafeMutableRawPointer(target).storeBytes(of: head, as: UInt64.self)
        unsafe UnsafeMutableRawPointer(target + count - 8).storeBytes(of: tail, as: UInt64.self)
    }

    /// Bytes behind the written ones that ``pad()`` makes readable.
    private static let padding = 32

    /// Makes what was written fit for ``append(padded:)``.
    package mutating func pad() { pad(by: ByteWriter.padding) }

    /// Makes `bytes` bytes behind the written ones readable, until more is written.
    package mutating func pad(by bytes: Int) {
        for _ in 0..<bytes { append(0) }
        truncate(to: count - bytes)
    }

    /// Writes the bytes of `view`, which are of a writer that was padded and has not been changed since: 32 at a time,
    /// without a call that first has to find out how many there are.
    @inline(__always)
    mutating func append(padded view: ByteView) {
        reserve(view.count + ByteWriter.padding)
        var done = 0
        while done < view.count {
            // Safe: both have room for 32 bytes from every place before the end of the view.
            let bytes = unsafe UnsafeRawPointer(view.base + done).loadUnaligned(as: SIMD32<UInt8>.self)
            unsafe UnsafeMutableRawPointer(base + count + done).storeBytes(of: bytes, as: SIMD32<UInt8>.self)
            done &+= ByteWriter.padding
        }
        count &+= view.count
    }

    /// Writes a literal.
    @inline(__always)
    package mutating func append(_ literal: StaticString) {
        append(ByteView(literal))
    }

    /// Writes `bytes`.
    @inline(__always)
    public mutating func append(_ bytes: [UInt8]) {
        reserve(bytes.count)
        // Safe: reserved; the array's storage outlives the closure.
        unsafe bytes.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return }
            unsafe (base + count).initialize(from: start, count: buffer.count)
        }
        count &+= bytes.count
    }

    /// Writes the bytes `range` of what was written before, once more.
    package mutating func appendCopy(of range: Range<Int>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        reserve(range.count)
        // Safe: reserved; source and destination do not overlap because the range ends at or before count.
        unsafe (base + count).update(from: base + range.lowerBound, count: range.count)
        count += range.count
    }

    /// The byte written at `index`; traps when out of range.
    package subscript(index: Int) -> UInt8 {
        get {
            precondition(UInt(bitPattern: index) < UInt(bitPattern: count))
            // Safe: checked above.
            return unsafe base[index]
        }
        set {
            precondition(UInt(bitPattern: index) < UInt(bitPattern: count))
            // Safe: checked above.
            unsafe base[index] = newValue
        }
    }

    /// Forgets the bytes and keeps the memory.
    public mutating func removeAll() {
        count = 0
    }

    /// Drops bytes from the end until `newCount` are left.
    package mutating func truncate(to newCount: Int) {
        precondition(newCount >= 0 && newCount <= count)
        count = newCount
    }

    /// Views everything written; valid until the next mutation.
    public var view: ByteView { view(0..<count) }

    /// Views `range` of what was written; valid until the next mutation.
    package func view(_ range: Range<Int>) -> ByteView {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        // Safe: checked above.
        return unsafe ByteView(base: UnsafePointer(base + range.lowerBound), count: range.count)
    }
}
