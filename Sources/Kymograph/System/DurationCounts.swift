import KymographCore

/// How many operations took how long: a histogram with the same bounds for everything.
package struct DurationCounts: Codable, Hashable, Sendable {
    /// Upper bounds of the buckets, in seconds. What takes longer is in one more.
    package static let bounds = [
        0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
    ]

    /// How many operations are in each bucket.
    private(set) var buckets = [Int](repeating: 0, count: bounds.count + 1)
    /// How long all of them took together, in seconds.
    private(set) var seconds = 0.0

    /// Nothing yet.
    package init() {}

    /// Adds an operation that took `duration`.
    mutating func add(_ duration: Duration) {
        let parts = duration.components
        let taken = Double(parts.seconds) + Double(parts.attoseconds) / 1e18
        buckets[Self.bounds.firstIndex { taken <= $0 } ?? Self.bounds.count] += 1
        seconds += taken
    }

    /// Adds all of `others`.
    mutating func add(_ others: DurationCounts) {
        for place in buckets.indices { buckets[place] += others.buckets[place] }
        seconds += others.seconds
    }

    /// Adds what began at `start` and ended at `end`; a clock that went back in between makes it short.
    mutating func add(from start: Instant, to end: Instant) {
        add(.nanoseconds(max(0, end.nanoseconds &- start.nanoseconds)))
    }
}
