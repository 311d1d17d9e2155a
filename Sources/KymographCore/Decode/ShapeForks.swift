/// Which segment of a shape comes next where several can: what came last where the bytes were the same.
///
/// Sources send documents of several shapes in turns that nobody can foretell. Which it is decides what memory is
/// looked at next, without a jump that a processor guesses wrong. It is a guess all the same: who asks compares.
struct ShapeForks: ~Copyable {
    /// Guesses of a fork.
    private static let run = 64

    /// Numbers of segments, for each fork a run of them. The first run is of no fork.
    private var guesses = RawArray<UInt16>(repeating: 0, count: ShapeForks.run)

    /// The number of a new fork, whose guesses are all `segment`: a segment of another place must never be one.
    mutating func add(_ segment: Int) -> Int {
        guesses.grow(to: guesses.count + ShapeForks.run, with: UInt16(segment))
        return guesses.count / ShapeForks.run - 1
    }

    /// The segment that came last where the bytes were `word`.
    @inline(__always)
    func guess(_ fork: Int, _ word: UInt64) -> Int { Int(guesses[ShapeForks.place(fork, word)]) }

    /// Notes that this was `segment`.
    mutating func note(_ fork: Int, _ word: UInt64, _ segment: Int) {
        guesses[ShapeForks.place(fork, word)] = UInt16(segment)
    }

    mutating func removeAll() { guesses.truncate(to: ShapeForks.run) }

    @inline(__always)
    private static func place(_ fork: Int, _ word: UInt64) -> Int {
        fork &* run &+ Int(truncatingIfNeeded: (word &* 0x9E37_79B9_7F4A_7C15) >> 58)
    }
}
