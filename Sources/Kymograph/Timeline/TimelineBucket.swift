import KymographCore

/// How long the buckets of a timeline are, by the wall clock of a time zone.
package enum TimelineBucket: String, CaseIterable, Sendable {
    case second = "1s"
    case minute = "1min"
    case hour = "1h"
    case day = "1d"
    /// From Monday on (ISO 8601).
    case week
    case month
    case year

    /// Seconds, of those that are always as long; nil of days and more, which the clock's changes make longer and
    /// shorter.
    var seconds: Int64? {
        switch self {
        case .second: 1
        case .minute: 60
        case .hour: 3_600
        case .day, .week, .month, .year: nil
        }
    }

    /// The first day of the bucket that has `day`, of those that are whole days.
    fileprivate func first(_ day: CivilDay) -> CivilDay {
        let parts = day.parts
        return switch self {
        case .second, .minute, .hour, .day: day
        case .week: day.monday
        case .month: CivilDay(year: parts.year, month: parts.month, day: 1)
        case .year: CivilDay(year: parts.year, month: 1, day: 1)
        }
    }

    /// The first day of the bucket behind the one that begins with `day`.
    fileprivate func following(_ day: CivilDay) -> CivilDay {
        let parts = day.parts
        return switch self {
        case .second, .minute, .hour, .day: CivilDay(day.number + 1)
        case .week: CivilDay(day.number + 7)
        case .month:
            parts.month == 12
                ? CivilDay(year: parts.year + 1, month: 1, day: 1)
                : CivilDay(year: parts.year, month: parts.month + 1, day: 1)
        case .year: CivilDay(year: parts.year + 1, month: 1, day: 1)
        }
    }
}

/// Divides time into buckets by the wall clock of a zone: each instant is in one of them.
///
/// A bucket begins where the clock shows a multiple of its length, and where the clock is changed to a time within one:
/// the hour that is shown twice in autumn is two buckets, the day is one of 25 hours. A day whose midnight the clock
/// passes over begins with the change.
struct BucketGrid {
    let bucket: TimelineBucket
    let zone: LocalTimeZone

    private static let day: Int64 = 86_400

    /// The boundaries of the buckets of `from` and of all behind it up to `to`, in seconds since the epoch: one more
    /// than there are buckets, of which there are `limit` at most.
    func boundaries(from: Int64, to: Int64, limit: Int) -> [Int64] {
        var boundaries = [start(around: from)]
        while let last = boundaries.last, last < to, boundaries.count <= limit { boundaries.append(next(after: last)) }
        if boundaries.count == 1 { boundaries.append(next(after: boundaries[0])) }
        return boundaries
    }

    /// Where the bucket of `time` begins.
    func start(around time: Int64) -> Int64 {
        guard let length = bucket.seconds else { return dayStart(around: time).start }
        let start = time - (time + zone.offset(at: time)).flooredRemainder(by: length)
        guard let change = zone.lastChange(upTo: time) else { return start }
        return max(start, change)
    }

    /// Where the bucket behind the one that begins at `start` begins.
    func next(after start: Int64) -> Int64 {
        if let length = bucket.seconds {
            let next = start - (start + zone.offset(at: start)).flooredRemainder(by: length) + length
            guard let change = zone.nextChange(after: start) else { return next }
            return min(next, change)
        }
        var day = bucket.following(dayStart(around: start).first)
        // A day that the calendar of the place has left out has no length.
        while self.start(of: day) <= start { day = bucket.following(day) }
        return self.start(of: day)
    }

    private func dayStart(around time: Int64) -> (first: CivilDay, start: Int64) {
        let local = CivilDay((time + zone.offset(at: time)).flooredQuotient(by: Self.day))
        var first = bucket.first(local)
        while start(of: first) > time { first = bucket.first(CivilDay(first.number - 1)) }
        while case let next = bucket.following(first), start(of: next) <= time { first = next }
        return (first, start(of: first))
    }

    /// When `day` begins: at the first midnight that the clock shows, or with the change that passes over it.
    private func start(of day: CivilDay) -> Int64 {
        let local = day.number * Self.day
        let (before, after) = (zone.offset(at: local - Self.day), zone.offset(at: local + Self.day))
        for offset in [max(before, after), min(before, after)] where zone.offset(at: local - offset) == offset {
            return local - offset
        }
        return zone.lastChange(upTo: local - min(before, after)) ?? local - before
    }
}
