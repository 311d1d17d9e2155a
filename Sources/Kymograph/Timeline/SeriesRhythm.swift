/// How regularly a series has readings, and by that how many are missing (docs/decisions/0036-what-is-missing.md).
///
/// Mappings do not say how often a device sends. A series has a rhythm when at least half of the distances between its
/// readings are within a quarter of their median, of at least eight. Where two readings are further apart than that,
/// those that the rhythm would have put between them are missing, evenly spaced.
struct SeriesRhythm {
    /// Nanoseconds between two readings.
    let interval: Int64

    /// Distances that are needed, and those that are looked at at most.
    static let fewest = 8
    private static let most = 2_000

    /// The rhythm of readings that are `distances` nanoseconds apart; nil when they have none.
    init?(_ distances: [Int64]) {
        let distances = distances.filter { $0 > 0 }
        guard distances.count >= Self.fewest else { return nil }
        let step = (distances.count + Self.most - 1) / Self.most
        let sample = stride(from: 0, to: distances.count, by: step).map { distances[$0] }.sorted()
        let median = sample[sample.count / 2]
        let regular = sample.count { abs($0 - median) * 4 <= median }
        guard regular * 2 >= sample.count else { return nil }
        interval = median
    }

    /// What is missing between readings at `left` and `right`; nil when nothing is.
    func gap(from left: Int64, to right: Int64) -> RhythmGap? {
        let slots = (right - left + interval / 2) / interval
        guard slots > 1 else { return nil }
        return RhythmGap(start: left, step: (right - left) / slots, count: slots - 1)
    }

    /// What is missing behind the last reading, at `last`, before `end`: nothing that may only be late.
    func silence(after last: Int64, until end: Int64) -> RhythmGap? {
        guard end > last else { return nil }
        let late = end - last - interval / 2
        guard late >= interval else { return nil }
        return RhythmGap(start: last, step: interval, count: late / interval)
    }

    /// What is missing within a stretch from `first` to `last` that has `readings`.
    func lack(from first: Int64, to last: Int64, readings: Int64) -> RhythmGap? {
        let expected = (last - first + interval / 2) / interval + 1
        guard expected > readings, last > first else { return nil }
        let count = expected - readings
        return RhythmGap(start: first, step: (last - first) / (count + 1), count: count)
    }
}

/// Readings that are missing: `count` of them, the first `step` nanoseconds behind `start`, the next as far behind it.
struct RhythmGap: Equatable {
    var start: Int64
    var step: Int64
    var count: Int64

    /// How many of them are at `from` or later and before `to`.
    func count(from: Int64, to: Int64) -> Int {
        guard step > 0, to > from else { return 0 }
        return Int(max(0, number(before: to) - number(before: from)))
    }

    /// How many are before `time`.
    private func number(before time: Int64) -> Int64 {
        guard time > start + step else { return 0 }
        // Those whose number k has start + k × step < time.
        return min(count, (time - start - 1) / step)
    }
}
