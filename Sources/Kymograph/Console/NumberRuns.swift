/// Numbers of series as the page Live gets them: how many are passed over, how many follow one another, and so on.
/// Those that send are mostly all of a ward, so that a thousand of them take some bytes in each second.
struct NumberRuns {
    /// The pairs, one behind the other; the first run begins behind that which is passed over from 0 on.
    private(set) var lengths: [Int] = []
    private var next = 0

    /// Adds `number`; any order is kept, and one that comes twice is there twice.
    mutating func append(_ number: Int) {
        if number == next, !lengths.isEmpty {
            lengths[lengths.count - 1] += 1
        } else {
            lengths += [number - next, 1]
        }
        next = number + 1
    }
}
