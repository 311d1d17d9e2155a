/// In which order Observations of the archive are gone through.
struct WalkOrder: Hashable, Sendable {
    /// What it goes by.
    enum Key: Hashable, Sendable {
        /// The last reading of each Observation.
        case date
        /// When the window of each was written last. Windows that are written meanwhile come last.
        case change
    }

    var key = Key.date
    var isDescending = true

    /// The rank of a number or time: what comes first is lower.
    func rank(_ number: Int64) -> Int64 { isDescending ? Int64(0).minus(number) : number }

    /// The number or time of `rank`.
    func number(_ rank: Int64) -> Int64 { isDescending ? Int64(0).minus(rank) : rank }
}

/// A place in the order of a walk. It stays where it is while windows come in: it is made of what the Observation is
/// sorted by, and not of how many are before it.
struct WalkPlace: Hashable, Comparable, Sendable {
    /// By ``WalkOrder``.
    var rank: Int64
    /// Start of the window.
    var start: Int64
    /// The store's number of its series.
    var series: Int64
    /// Which Observation of the window, from 0; -1 for the window, before all of them.
    var part: Int64

    /// The one that comes first is less.
    static func < (left: WalkPlace, right: WalkPlace) -> Bool {
        (left.rank, left.start, left.series, left.part) < (right.rank, right.start, right.series, right.part)
    }

    /// Behind everything of lower ranks than `rank`, and before all of it.
    static func before(_ rank: Int64) -> WalkPlace {
        WalkPlace(rank: rank.minus(1), start: .max, series: .max, part: .max)
    }
}

extension Int64 {
    /// The sum, or the border that it is beyond.
    func plus(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    /// The difference, or the border that it is beyond.
    func minus(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }
}
