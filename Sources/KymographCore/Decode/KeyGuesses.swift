/// Remembers which key the last document had at each place of the tape.
///
/// Devices send their members in the same order every time, so that a key is mostly known by comparing two words with
/// the one seen last, instead of finding its end, validating it and looking it up. A wrong guess costs one comparison.
struct KeyGuesses: ~Copyable {
    /// A key with its closing quote, in two words. The masks leave out what is behind the quote.
    struct Guess: BitwiseCopyable {
        var low: UInt64 = 0
        var high: UInt64 = 0
        var lowMask: UInt64 = 0
        var highMask: UInt64 = 0
        /// Bytes of the key; 0 when nothing is known.
        var length: UInt32 = 0
        /// The key's number in the name table.
        var name: UInt16 = NameTable.unknown
    }

    /// Places that are remembered; longer documents fall back to the look-up behind them.
    static let places = 64
    /// Longest key that fits two words with its quote.
    private static let longestKey = 15

    private var guesses = RawArray<Guess>(repeating: Guess(), count: places)

    /// The length of the key at `start` when it is the one that `place` had last, else 0.
    @inline(__always)
    func length(at place: Int, _ bytes: ByteView, start: Int) -> Int {
        guard place < KeyGuesses.places else { return 0 }
        let low = (bytes.word(at: start) ^ guesses[place].low) & guesses[place].lowMask
        let high = (bytes.word(at: start + 8) ^ guesses[place].high) & guesses[place].highMask
        let length = Int(guesses[place].length)
        // The closing quote must be inside the document, not in what happens to lie behind it.
        return (low | high) == 0 && start + length < bytes.count ? length : 0
    }

    /// The number of the key that ``length(at:_:start:)`` found at `place`.
    @inline(__always)
    func name(at place: Int) -> UInt16 { guesses[place].name }

    /// Remembers a valid key without escapes; false when the place or the key is beyond what is remembered.
    @discardableResult
    mutating func learn(_ name: UInt16, at place: Int, _ bytes: ByteView, start: Int, length: Int) -> Bool {
        guard place < KeyGuesses.places, length > 0, length <= KeyGuesses.longestKey else { return false }
        let covered = length + 1
        let lowMask = covered >= 8 ? UInt64.max : ~(UInt64.max << UInt64(covered * 8))
        let highMask = covered >= 16 ? UInt64.max : covered <= 8 ? 0 : ~(UInt64.max << UInt64((covered - 8) * 8))
        guesses[place] = Guess(
            low: bytes.word(at: start) & lowMask, high: bytes.word(at: start + 8) & highMask, lowMask: lowMask,
            highMask: highMask, length: UInt32(length), name: name)
        return true
    }
}
