import Glibc
package import KymographCore

/// The system's clock of civil time.
package enum WallClock {
    /// The present instant, in whole microseconds: what is finer says nothing of when a packet came, and takes two
    /// bytes of each reading that is kept.
    package static func now() -> Instant {
        var time = timespec()
        // Safe: the struct is ours; CLOCK_REALTIME always exists.
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec / 1_000 * 1_000))
    }
}

/// The system's clock since its start, which is never set, and stands still while the machine sleeps: silence
/// (``ReceiveClock/look()``), ages of files, how long bundles wait and the end of a run are measured by it, and a
/// service manager tells by it what came first.
package enum MonotonicClock {
    /// Microseconds on it (CLOCK_MONOTONIC).
    static var microseconds: Int64 {
        var time = timespec()
        // Safe: the struct is ours; CLOCK_MONOTONIC always exists.
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec / 1_000)
    }

    /// The same as an instant, for lengths of time only: it counts from the start of the system.
    package static var instant: Instant { Instant(nanoseconds: microseconds * 1_000) }
}
