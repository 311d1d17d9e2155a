/// What one window machine may hold. What is over a limit is rejected and counted; what it already holds is unaffected.
package struct WindowLimits: Sendable {
    /// Devices that may be introduced.
    package var maxDevices: Int
    /// Series (device, type, patient, encounter, correlation id) that may be introduced.
    package var maxSeries: Int
    /// Windows open at once, over all series.
    package var maxOpenWindows: Int
    /// Readings of one window.
    package var maxReadingsPerWindow: Int
    /// An open window is emitted as `preliminary` at each multiple of this many readings; 0 means never.
    package var preliminaryEvery: Int
    /// Bytes of closed windows that the in-memory archive keeps.
    package var archiveBytes: Int

    /// Makes limits; every count except `preliminaryEvery` must be positive.
    package init(
        maxDevices: Int = 100_000, maxSeries: Int = 1_000_000, maxOpenWindows: Int = 1_000_000,
        maxReadingsPerWindow: Int = 100_000, preliminaryEvery: Int = 10_000, archiveBytes: Int = 256 << 20
    ) {
        precondition(maxDevices > 0 && maxSeries > 0 && maxOpenWindows > 0)
        precondition(maxReadingsPerWindow > 0 && preliminaryEvery >= 0 && archiveBytes > 0)
        self.maxDevices = maxDevices
        self.maxSeries = maxSeries
        self.maxOpenWindows = maxOpenWindows
        self.maxReadingsPerWindow = maxReadingsPerWindow
        self.preliminaryEvery = preliminaryEvery
        self.archiveBytes = archiveBytes
    }
}

extension WindowLimits {
    /// Takes over of `new` what a machine takes over while it runs: what may be introduced, opened and added.
    package mutating func takeOver(_ new: WindowLimits) {
        (maxDevices, maxSeries) = (new.maxDevices, new.maxSeries)
        (maxOpenWindows, maxReadingsPerWindow) = (new.maxOpenWindows, new.maxReadingsPerWindow)
    }
}

/// When windows close, and the machine's limits.
package struct WindowSettings: Sendable {
    /// How far the series' own event time must pass a window's end before it closes, in nanoseconds.
    package var lateness: Int64
    /// A series that received nothing for this many nanoseconds of receive time, and for a share of its windows' period
    /// (``idleShare``), has its windows closed; 0 means never.
    package var idle: Int64
    /// How long, in receive time, a window that a late reading opens waits for more of them before it is emitted, so
    /// that a device that delivers stored hours does not cause an Observation per reading; 0 means not at all.
    package var lateHold: Int64
    /// Limits.
    package var limits: WindowLimits
    /// Which devices are of one patient at a time; nil for none.
    package var deviceGuard: (any DeviceGuard)?
    /// Where the readings of open windows are kept.
    package var memory = TableMemory.heap

    /// So many retractions are added to those at hand before these are forgotten, where an archive remembers them.
    package var retractionsAtHand = 1 << 16

    /// Size class of the run of readings from which a window packs the older ones: 128 readings, 4 KiB.
    var packingSizeClass = 7

    /// The part of a window's period, as a divisor, that a series must be silent at least: about 20 minutes of 14 days.
    static var idleShare: Int64 { 1_000 }

    /// Makes settings; times are in nanoseconds and not negative.
    package init(
        lateness: Int64 = 30_000_000_000, idle: Int64 = 10_000_000_000, lateHold: Int64 = 0,
        limits: WindowLimits = WindowLimits()
    ) {
        precondition(lateness >= 0 && idle >= 0 && lateHold >= 0)
        self.lateHold = lateHold
        self.lateness = lateness
        self.idle = idle
        self.limits = limits
    }
}
