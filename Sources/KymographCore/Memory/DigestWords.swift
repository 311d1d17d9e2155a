/// The bytes of a digest as four words, the first byte the lowest of the first.
struct DigestWords {
    private let words: InlineArray<4, UInt64>

    @inline(__always)
    init(_ digest: InlineArray<32, UInt8>) {
        // Safe: both types have 32 bytes, and every pattern is a value of either.
        let words = unsafe unsafeBitCast(digest, to: InlineArray<4, UInt64>.self)
        self.words = [
            words[0].littleEndian, words[1].littleEndian, words[2].littleEndian, words[3].littleEndian,
        ]
    }

    @inline(__always)
    subscript(index: Int) -> UInt64 { words[index] }
}

extension ByteWriter {
    /// Writes `words`, the lowest byte of each first.
    @inline(__always)
    mutating func append<let length: Int>(words: InlineArray<length, UInt64>) {
        // What is reserved at once is not asked for word by word.
        let place = extend(by: 8 * length)
        for index in 0..<length { store(word: words[index], at: place + 8 * index) }
    }

    /// Writes the bytes of `digest`.
    mutating func append(_ digest: InlineArray<32, UInt8>) {
        let words = DigestWords(digest)
        for index in 0..<4 { append(word: words[index]) }
    }
}
