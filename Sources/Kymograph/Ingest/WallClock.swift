import Glibc
public import KymographCore

/// The system's clock of civil time.
public enum WallClock {
    /// The present instant.
    public static func now() -> Instant {
        var time = timespec()
        // Safe: the struct is ours; CLOCK_REALTIME always exists.
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
