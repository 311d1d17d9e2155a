import Synchronization

/// How much a peer may bring: a bucket that fills with time, of which each reading or byte takes one (the generic cell
/// rate algorithm, ITU-T I.371). For any thread.
final class RateLimit: Sendable {
    /// Readings or bytes a second.
    private let rate: Int64
    /// Nanoseconds by which they may come before their time.
    private let tolerance: Int64
    /// When the next one would be due, had all come at the rate; in nanoseconds since ``start``.
    private let due = Atomic<Int64>(0)
    /// The wall clock may be set, and letters that come again have old times.
    private let start = ContinuousClock.now

    /// `rate` a second, and `burst` at once; nil for a rate of 0, which is any.
    init?(rate: Int, burst: Int) {
        guard rate > 0 else { return nil }
        self.rate = Int64(rate)
        tolerance = Int64(max(burst, 1) - 1) * 1_000_000_000 / self.rate
    }

    /// Nanoseconds that `count` take at the rate.
    private func time(of count: Int) -> Int64 { Int64(count) * 1_000_000_000 / rate }

    private var now: Int64 {
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }

    /// Takes `count` together, where there is one of them at least: what is longer than all that may come at once comes
    /// then, and what follows waits for it. False, and none taken, when there is none.
    func take(_ count: Int = 1) -> Bool {
        let now = now
        var before = due.load(ordering: .relaxed)
        while true {
            let next = max(before, now)
            guard next - now <= tolerance else { return false }
            let (isDone, found) = due.compareExchange(
                expected: before, desired: next + time(of: count), ordering: .relaxed)
            if isDone { return true }
            before = found
        }
    }

    /// Takes `count`, or owes them.
    func charge(_ count: Int = 1) {
        let now = now
        var before = due.load(ordering: .relaxed)
        while true {
            let next = max(before, now) + time(of: count)
            let (isDone, found) = due.compareExchange(expected: before, desired: next, ordering: .relaxed)
            if isDone { return }
            before = found
        }
    }

    /// Seconds until one can be taken, rounded up; 0 when one can.
    var wait: Int {
        let left = due.load(ordering: .relaxed) - now - tolerance
        return left > 0 ? Int((left + 999_999_999) / 1_000_000_000) : 0
    }

    /// Whether as much can be taken as if nothing had been.
    var isUnused: Bool { due.load(ordering: .relaxed) <= now }
}
