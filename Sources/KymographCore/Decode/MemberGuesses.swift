/// Remembers what stood before the values of flat documents: `,"ts":` before the second, say.
///
/// Devices send their members in the same order every time. What leads to a value, from the comma to the colon, is then
/// known by comparing two words with what was there last, instead of checking each part and looking the key up. Two
/// guesses for each place: two kinds of messages that take turns do not push each other out.
struct MemberGuesses: ~Copyable {
    /// The bytes from the end of the value before (or the opening brace) to the value.
    struct Guess: BitwiseCopyable {
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        /// Which bits of ``words`` count.
        var masks: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        /// How many bytes there are; 0 when nothing is known.
        var length: UInt32 = 0
        /// Where the key begins in them.
        var keyOffset: UInt16 = 0
        /// The key's number in the name table.
        var name: UInt16 = NameTable.unknown
        /// Bytes of the key.
        var keyLength: UInt32 = 0

        /// Whether the same bytes are at `index`.
        @inline(__always)
        func matches(_ bytes: ByteView, at index: Int) -> Bool {
            let low = (bytes.word(at: index) ^ words.0) & masks.0
            let high = (bytes.word(at: index &+ 8) ^ words.1) & masks.1
            guard low | high == 0, length > 0 else { return false }
            return length <= 16 || matchesEnd(bytes, at: index)
        }

        private func matchesEnd(_ bytes: ByteView, at index: Int) -> Bool {
            let low = (bytes.word(at: index &+ 16) ^ words.2) & masks.2
            let high = (bytes.word(at: index &+ 24) ^ words.3) & masks.3
            return low | high == 0
        }
    }

    /// Places that are remembered.
    static let places = 64
    /// Most bytes before a value.
    static let longest = 32

    private var guesses = RawArray<Guess>(repeating: Guess(), count: 2 * places)

    /// The guess for `place` that was right last.
    @inline(__always)
    subscript(place: Int) -> Guess { guesses[2 &* place] }

    /// Tries the other guess for `place`, which then is the first.
    mutating func swap(at place: Int, _ bytes: ByteView, _ index: Int) -> Bool {
        let other = guesses[2 * place + 1]
        guard other.matches(bytes, at: index) else { return false }
        guesses[2 * place + 1] = guesses[2 * place]
        guesses[2 * place] = other
        return true
    }

    /// Remembers the `length` bytes at `index`, which lead to a value of the key `key`.
    mutating func learn(_ bytes: ByteView, at index: Int, length: Int, key: Range<Int>, name: UInt16, place: Int) {
        precondition(length > 0 && length <= MemberGuesses.longest)
        var guess = Guess()
        guess.masks = (
            MemberGuesses.mask(length, 0), MemberGuesses.mask(length, 8), MemberGuesses.mask(length, 16),
            MemberGuesses.mask(length, 24)
        )
        guess.words = (
            bytes.word(at: index) & guess.masks.0, bytes.word(at: index + 8) & guess.masks.1,
            bytes.word(at: index + 16) & guess.masks.2, bytes.word(at: index + 24) & guess.masks.3
        )
        guess.length = UInt32(length)
        guess.keyOffset = UInt16(key.lowerBound - index)
        guess.keyLength = UInt32(key.count)
        guess.name = name
        guesses[2 * place + 1] = guesses[2 * place]
        guesses[2 * place] = guess
    }

    /// Which bits of the word at `offset` belong to the first `length` bytes.
    private static func mask(_ length: Int, _ offset: Int) -> UInt64 {
        length >= offset + 8 ? .max : length <= offset ? 0 : ~(UInt64.max << UInt64((length - offset) * 8))
    }
}
