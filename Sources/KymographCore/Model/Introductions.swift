/// How much is used of a limit of which nothing comes free again while a process runs.
package struct LimitFill: BitwiseCopyable, Equatable, Sendable {
    /// How many have been met since the start.
    package var met: Int
    /// How many may be.
    package var limit: Int
    /// Whether one has been refused since the limit is in use.
    package var refuses: Bool

    /// So many of so many.
    package init(met: Int = 0, limit: Int, refuses: Bool = false) {
        (self.met, self.limit, self.refuses) = (met, limit, refuses)
    }
}

/// The devices and series that a lane or a shard has met, and those that it may meet.
package struct Introductions: BitwiseCopyable, Equatable, Sendable {
    /// Devices.
    package var devices: LimitFill
    /// Series of them.
    package var series: LimitFill

    /// Of both.
    package init(devices: LimitFill, series: LimitFill) { (self.devices, self.series) = (devices, series) }
}
