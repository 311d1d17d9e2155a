import KymographCore

/// How many requests may be under way: one more for every round without a failure, half as many after one (AIMD).
struct ConcurrencyLimit {
    private var value: Double
    private let largest: Double
    private var lastCut = Instant.distantPast

    /// Begins with two, or `largest` if that is less.
    init(largest: Int) {
        self.largest = Double(max(1, largest))
        value = min(2, self.largest)
    }

    /// Requests that may be under way at once.
    var count: Int { Int(value) }

    /// Notes an answer.
    mutating func succeed() { value = min(largest, value + 1 / value) }

    /// Notes a failure of a request sent at `sent`; those that were under way together count once.
    mutating func fail(sent: Instant, now: Instant) {
        guard sent > lastCut else { return }
        value = max(1, value / 2)
        lastCut = now
    }
}
