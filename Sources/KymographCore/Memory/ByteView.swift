private import CSIMD

/// A borrowed run of bytes that somebody else owns.
///
/// The hot path passes bytes as a pointer and a length because a `RawSpan` read is bounds-checked per byte (measured:
/// 151 ns against 119 ns for one reading). A view is valid only while its owner is alive and unchanged: never store one
/// beyond the call that received it. Slicing is always checked; single-byte reads are checked in debug builds only.
@safe
public struct ByteView: BitwiseCopyable {
    /// Bytes that every buffer handed to the scanner must have readable after its last byte, so that eight-byte loads
    /// need no bounds test. Their content does not matter.
    @inlinable public static var padding: Int { 64 }

    @usableFromInline let base: UnsafePointer<UInt8>
    /// Number of bytes.
    public let count: Int

    /// Views `count` bytes at `base`; `base` must stay valid, and for scanning be padded by ``padding`` bytes.
    @unsafe
    package init(base: UnsafePointer<UInt8>, count: Int) {
        precondition(count >= 0)
        unsafe self.base = base
        self.count = count
    }

    /// Views the bytes of a string literal, which live as long as the process.
    public init(_ literal: StaticString) {
        precondition(literal.hasPointerRepresentation)
        // Safe: a pointer-represented StaticString is immortal.
        unsafe self.init(base: literal.utf8Start, count: literal.utf8CodeUnitCount)
    }

    /// The byte at `index`.
    @inlinable
    @inline(__always)
    public subscript(index: Int) -> UInt8 {
        assert(index >= 0 && index < count + ByteView.padding)
        // Safe: in bounds, or within the padding that the type demands of scanned buffers.
        return unsafe base[index]
    }

    /// The eight bytes from `index`, little-endian, which may reach into the padding.
    @inline(__always)
    func word(at index: Int) -> UInt64 {
        assert(index >= 0 && index + 8 <= count + ByteView.padding)
        // Safe: as for the subscript.
        return unsafe UnsafeRawPointer(base + index).loadUnaligned(as: UInt64.self)
    }

    /// The four bytes from `index`, little-endian, which may reach into the padding.
    @inline(__always)
    func half(at index: Int) -> UInt32 {
        assert(index >= 0 && index + 4 <= count + ByteView.padding)
        // Safe: as for the subscript.
        return unsafe UnsafeRawPointer(base + index).loadUnaligned(as: UInt32.self)
    }

    /// A word with the last 1…7 bytes, those from `index` on: with those before them when there are eight in all.
    @inline(__always)
    func lastWord(from index: Int) -> UInt64 {
        if count >= 8 { return word(at: count - 8) }
        var word: UInt64 = 0
        for place in index..<count { word = word << 8 | UInt64(self[place]) }
        return word
    }

    /// Which of the sixteen bytes from `index` are quotes, backslashes, control characters, with DEL, or not ASCII,
    /// the first in the lowest bit. They may reach into the padding.
    @inline(__always)
    func specials(at index: Int) -> UInt32 {
        assert(index >= 0 && index + 16 <= count + ByteView.padding)
        // Safe: as for the subscript.
        return unsafe kymo_specials16(base + index)
    }

    /// Which of the sixteen bytes from `index` are no digits, the first in the lowest bit. They may reach into the
    /// padding.
    @inline(__always)
    func nonDigits(at index: Int) -> UInt32 {
        assert(index >= 0 && index + 16 <= count + ByteView.padding)
        // Safe: as for the subscript.
        return unsafe kymo_nondigits16(base + index)
    }

    /// The place of the first `byte` from `start` (0…``count``) on, or of the end. Blocks of sixteen may reach into the
    /// padding.
    @inline(__always)
    func place(of byte: UInt8, from start: Int) -> Int {
        assert(start >= 0 && start <= count)
        // Safe: as for the subscript; blocks begin within the view.
        let found = unsafe kymo_find16(base + start, count &- start, byte)
        return min(count, start &+ found)
    }

    /// Whether each sixteen bytes from the first on are as `rules` say, of which only those in `texts` have texts. They
    /// may reach into the padding. Rules are four times sixteen bytes, as `kymo_breaches16` has them.
    @inline(__always)
    func follows<Rules: BitwiseCopyable>(_ rules: ElementList<Rules>, texts: Range<Int>) -> Bool {
        assert(MemoryLayout<Rules>.stride == 64)
        precondition(texts.upperBound <= rules.count && texts.lowerBound >= 0)
        assert(rules.count * 16 <= count + ByteView.padding)
        // Safe: rules of 64 bytes begin at cache lines, and `texts` is checked above; the bytes as for the subscript.
        return unsafe kymo_breaches16(base, rules.start, rules.count, texts.lowerBound, texts.upperBound) == 0
    }

    /// The bytes `range`, without copying.
    @inline(__always)
    public subscript(range: Range<Int>) -> ByteView {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        // Safe: checked above.
        return unsafe ByteView(base: base + range.lowerBound, count: range.count)
    }

    /// Whether both views hold the same bytes.
    @inline(__always)
    package func equals(_ other: ByteView) -> Bool {
        guard count == other.count else { return false }
        // Safe: both have as many bytes. For fewer, a call costs more than it saves.
        if count >= 64 { return unsafe kymo_same(base, other.base, count) != 0 }
        var index = 0
        // The last word from its end, instead of byte by byte.
        if count >= 8 {
            while index < count &- 8 {
                if word(at: index) != other.word(at: index) { return false }
                index &+= 8
            }
            return word(at: count &- 8) == other.word(at: count &- 8)
        }
        while index < count {
            // Safe: index < count in both.
            if unsafe base[index] != other.base[index] { return false }
            index += 1
        }
        return true
    }

    /// Whether the view holds exactly `bytes`.
    public func equals(_ bytes: [UInt8]) -> Bool {
        // Safe: the array's storage outlives the closure.
        unsafe bytes.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return count == 0 }
            return unsafe equals(ByteView(base: start, count: buffer.count))
        }
    }

    /// A copy of the bytes.
    public var array: [UInt8] {
        // Safe: base and count describe readable memory by the type's contract.
        unsafe Array(UnsafeBufferPointer(start: base, count: count))
    }

    /// The bytes as text; ill-formed UTF-8 is replaced by U+FFFD.
    package var string: String {
        // Safe: as for `array`.
        unsafe String(decoding: UnsafeBufferPointer(start: base, count: count), as: UTF8.self)
    }

    /// The bytes as a raw buffer, for system calls and C libraries.
    @unsafe
    package var unsafeBuffer: UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(start: base, count: count)
    }
}

extension [UInt8] {
    /// Appends the bytes of `view`.
    @inline(__always)
    mutating func append(contentsOf view: ByteView) {
        // Safe: a view never aliases an array that is being changed.
        unsafe append(contentsOf: UnsafeBufferPointer(start: view.base, count: view.count))
    }

    /// Lends the array's bytes as a view for the length of `body`. The view is not padded: not for scanning.
    @inline(__always)
    package func withByteView<Result>(_ body: (ByteView) throws -> Result) rethrows -> Result {
        try unsafe withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return try body(ByteView("")) }
            // Safe: the storage outlives the closure.
            return try unsafe body(ByteView(base: start, count: buffer.count))
        }
    }
}

extension ArraySlice<UInt8> {
    /// Lends the bytes as a view for the length of `body`. The view is not padded: not for scanning.
    @inline(__always)
    package func withByteView<Result>(_ body: (ByteView) throws -> Result) rethrows -> Result {
        try unsafe withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return try body(ByteView("")) }
            // Safe: the storage outlives the closure.
            return try unsafe body(ByteView(base: start, count: buffer.count))
        }
    }
}
