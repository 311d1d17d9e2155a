package import KymographCore

/// Makes recorded time pass at a multiple of real time.
package struct Pacer {
    /// How fast.
    package enum Pace: Sendable, Hashable {
        /// As fast as the destination takes.
        case unlimited
        /// So many times faster than recorded.
        case speed(Double)
        /// So many readings a second, whatever their recorded times.
        case rate(Double)
    }

    private let pace: Pace
    private let clock = ContinuousClock()
    private let began: ContinuousClock.Instant
    private var firstRecorded: Instant?
    private var count = 0

    /// Starts the clock.
    package init(pace: Pace) {
        self.pace = pace
        began = clock.now
    }

    /// Real time since the start.
    package var elapsed: Duration { began.duration(to: clock.now) }

    /// How long to wait before a reading recorded at `recorded` may leave; zero or negative when it is due.
    package mutating func wait(until recorded: Instant) -> Duration {
        defer { count += 1 }
        switch pace {
        case .unlimited: return .zero
        case .rate(let rate): return .seconds(Double(count) / rate) - elapsed
        case .speed(let speed):
            let first = firstRecorded ?? recorded
            firstRecorded = first
            let passed = Double(recorded.nanoseconds) - Double(first.nanoseconds)
            return .seconds(passed / speed / 1e9) - elapsed
        }
    }
}
