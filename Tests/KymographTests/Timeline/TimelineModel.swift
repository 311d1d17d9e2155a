import KymographCore
import KymographTestKit

@testable import Kymograph

/// What a timeline must be, by looking at one reading after the other.
struct TimelineModel {
    /// Seconds since the epoch.
    var readings: Set<Int64> = []

    /// Readings per bucket.
    func accepted(_ boundaries: [Int64]) -> [Int] {
        var counts = [Int](repeating: 0, count: boundaries.count - 1)
        for reading in readings { bucket(of: reading, boundaries).map { counts[$0] += 1 } }
        return counts
    }

    /// The bucket of `time`, whose start is the last one that is not behind it.
    private func bucket(of time: Int64, _ boundaries: [Int64]) -> Int? {
        guard time >= boundaries[0], time < boundaries[boundaries.count - 1] else { return nil }
        // About where it is; buckets differ by some hours at most.
        let (from, to) = (boundaries[0], boundaries[boundaries.count - 1])
        var place = Int(Int64(boundaries.count - 1) * (time - from) / (to - from))
        while boundaries[place] > time { place -= 1 }
        while boundaries[place + 1] <= time { place += 1 }
        return place
    }

    /// The usual distance, of readings from the first bucket to the end of the last one; where these are few, of those
    /// in the last windows before, too.
    func interval(_ boundaries: [Int64]) -> Int64? {
        let (from, to) = (boundaries[0], boundaries[boundaries.count - 1])
        // Windows at the ends of the span are read whole.
        let windows = Set(readings.filter { $0 >= from && $0 < to }.map(window))
        var seen = readings.filter { windows.contains(window($0)) }.sorted()
        if seen.count < 9 {
            let earlier = Set(readings.filter { $0 < from && window($0) >= from - Self.reach }.map(window))
                .subtracting(windows).sorted().suffix(32)
            seen = readings.filter { earlier.contains(window($0)) }.sorted() + seen
        }
        let distances = zip(seen, seen.dropFirst()).map { $1 - $0 }.sorted()
        guard distances.count >= 8 else { return nil }
        let median = distances[distances.count / 2]
        guard distances.count(where: { abs($0 - median) * 4 <= median }) * 2 >= distances.count else { return nil }
        return median
    }

    /// Seconds before the span in which readings are looked for.
    private static let reach: Int64 = 31 * 86_400

    private func window(_ time: Int64) -> Int64 { time - time % 300 }

    /// Missing readings per bucket, each put at its own place.
    func missing(_ boundaries: [Int64], now: Int64) -> [Int] {
        var counts = [Int](repeating: 0, count: boundaries.count - 1)
        guard let interval = interval(boundaries) else { return counts }
        let (from, to) = (boundaries[0], boundaries[boundaries.count - 1])
        func note(_ nanoseconds: Int64) {
            bucket(of: nanoseconds / 1_000_000_000, boundaries).map { counts[$0] += 1 }
        }
        let known = readings.filter { window($0) >= from - Self.reach && $0 < to + 86_400 }.sorted()
        let before = known.last { $0 < from }
        let behind = known.first { $0 >= to }
        let seen = [before].compactMap { $0 } + known.filter { $0 >= from && $0 < to } + [behind].compactMap { $0 }
        for (left, right) in zip(seen, seen.dropFirst()) {
            let slots = Int64((Double(right - left) / Double(interval)).rounded())
            guard slots > 1 else { continue }
            let step = (right - left) * 1_000_000_000 / slots
            for slot in 1..<slots { note(left * 1_000_000_000 + slot * step) }
        }
        guard behind == nil, let last = seen.last else { return counts }
        let end = min(now, to)
        var next = last + interval
        while Double(next) <= Double(end) - Double(interval) / 2 {
            note(next * 1_000_000_000)
            next += interval
        }
        return counts
    }
}
