import Synchronization

/// How many readings a peer may bring: a bucket that fills with time, of which each reading takes one (the generic cell
/// rate algorithm, ITU-T I.371). For any thread.
final class RateLimit: Sendable {
    /// Nanoseconds between two readings at the rate.
    private let interval: Int64
    /// Nanoseconds by which readings may come before their time.
    private let tolerance: Int64
    /// When the next reading would be due, had all come at the rate; in nanoseconds since ``start``.
    private let due = Atomic<Int64>(0)
    /// The wall clock may be set, and letters that come again have old times.
    private let start = ContinuousClock.now

    /// `rate` readings a second, and `burst` at once.
    init(rate: Int, burst: Int) {
        interval = 1_000_000_000 / Int64(max(rate, 1))
        tolerance = interval * Int64(max(burst, 1) - 1)
    }

    private var now: Int64 {
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }

    /// Takes one; false, and none, when there is none.
    func take() -> Bool {
        let now = now
        var before = due.load(ordering: .relaxed)
        while true {
            let next = max(before, now)
            guard next - now <= tolerance else { return false }
            let (isDone, found) = due.compareExchange(expected: before, desired: next + interval, ordering: .relaxed)
            if isDone { return true }
            before = found
        }
    }

    /// Takes one, or owes it.
    func charge() {
        let now = now
        var before = due.load(ordering: .relaxed)
        while true {
            let next = max(before, now) + interval
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
}
