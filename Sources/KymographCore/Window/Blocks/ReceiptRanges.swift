/// What receive times of a window's readings span, from a fixed time and from the instants, and the largest unit in
/// which they are whole.
struct ReceiptRanges {
    private(set) var earliest: Int64
    private(set) var latest: Int64
    private(set) var shortestDelay: Int64
    private(set) var longestDelay: Int64
    private var wholeUnit = WindowBlockFormat.units.count - 1
    private var division: ExactDivision

    /// Times farther from the epoch are not counted in units: differences of theirs may wrap around, and are then no
    /// multiples. A multiple of all units.
    private static let farthest: Int64 = 4_000_000_000_000_000_000

    /// Prepares to look at `first` and what follows it.
    init(_ first: StoredReading) {
        let received = first.received.nanoseconds
        let delay = received &- first.instant.nanoseconds
        (earliest, latest, shortestDelay, longestDelay) = (received, received, delay, delay)
        division = ExactDivision.byUnit(wholeUnit)
    }

    /// The unit, for readings from `first` to `last` (ns).
    func unit(first: Int64, last: Int64) -> Int {
        let isNear =
            min(first, earliest) >= -ReceiptRanges.farthest && max(last, latest) <= ReceiptRanges.farthest
        return isNear ? wholeUnit : 0
    }

    /// Looks at the next reading.
    @inline(__always)
    mutating func add(_ reading: StoredReading) {
        let received = reading.received.nanoseconds
        let delay = received &- reading.instant.nanoseconds
        (earliest, latest) = (min(earliest, received), max(latest, received))
        (shortestDelay, longestDelay) = (min(shortestDelay, delay), max(longestDelay, delay))
        let sinceFarthest = UInt64(bitPattern: received &+ ReceiptRanges.farthest)
        if !division.divides(sinceFarthest) {
            wholeUnit = ExactDivision.unit(wholeUnit, of: sinceFarthest)
            division = ExactDivision.byUnit(wholeUnit)
        }
    }
}
