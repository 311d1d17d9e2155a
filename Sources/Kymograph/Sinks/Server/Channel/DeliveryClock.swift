import Glibc
package import KymographCore

/// The times that delivery goes by, handed in so that tests can let them pass.
package struct DeliveryClock: Sendable {
    /// Time since some moment, which never jumps: what waits, waits by this.
    package var elapsed: @Sendable () -> Instant
    /// Civil time, for dates that servers give.
    package var civil: @Sendable () -> Instant

    /// A clock.
    package init(elapsed: @escaping @Sendable () -> Instant, civil: @escaping @Sendable () -> Instant) {
        self.elapsed = elapsed
        self.civil = civil
    }

    /// The system's clocks.
    package static let system = DeliveryClock(
        elapsed: {
            var time = timespec()
            // Safe: the struct is ours; CLOCK_MONOTONIC always exists.
            unsafe clock_gettime(CLOCK_MONOTONIC, &time)
            return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
        }, civil: { WallClock.now() })
}
