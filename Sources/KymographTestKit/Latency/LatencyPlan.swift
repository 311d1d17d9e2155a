package import KymographCore

/// When readings are sent to measure how long they take, whatever becomes of those before them.
///
/// The time of a reading is when it is due, to the nanosecond. It comes back in the Observation, so that what comes out
/// says itself when it should have gone in, and a sender or a pipeline that falls behind cannot hide it: this is what
/// corrects for coordinated omission.
package struct LatencyPlan: Sendable, Hashable {
    /// Devices, which take turns.
    package let devices: Int
    /// Nanoseconds from one reading to the next.
    package let interval: Int64
    /// Nanoseconds before what is measured begins.
    package let warmUp: Int64
    /// Nanoseconds for which it is measured.
    package let duration: Int64
    /// Length of the pipeline's windows in nanoseconds; nil when each reading gives an Observation.
    package let window: Int64?

    /// Readings of all `devices`, at most 1,000,000 a second. With windows it warms up for as long as two of them.
    package init(devices: Int, readingsPerSecond: Double, duration: Int64, window: Int64? = nil) {
        precondition(devices > 0 && readingsPerSecond > 0 && readingsPerSecond <= 1e6 && duration > 0)
        self.devices = devices
        self.duration = duration
        self.window = window
        interval = Int64((1e9 / readingsPerSecond).rounded())
        warmUp = max(1_000_000_000, 2 * (window ?? 0))
    }

    /// How many readings are sent.
    package var count: Int { Int((warmUp + duration) / interval) }

    /// How many of them are measured, when each gives an Observation.
    package var measuredCount: Int { count - Int((warmUp + interval - 1) / interval) }

    /// When reading `index` is due.
    package func due(_ index: Int, start: Instant) -> Instant { start.advanced(by: Int64(index) * interval) }

    /// Reading `index`. Those without windows are of a type that the mapping `reading` keeps one by one.
    package func reading(_ index: Int, start: Instant) -> SimulatedReading {
        SimulatedReading(
            device: index % devices, signal: window == nil ? .glucose : .heartRate, sequence: index / devices + 1,
            time: due(index, start: start), value: 60 + index % 40)
    }

    /// When the reading was due that made the Observation for `time`: that reading, or the next one of the device that
    /// is beyond the end of the window whose last reading was at `time`.
    package func due(completing time: Instant) -> Instant {
        guard let window else { return time }
        let end = (time.nanoseconds / window + 1) * window
        let step = interval * Int64(devices)
        let turns = (end - time.nanoseconds + step - 1) / step
        return time.advanced(by: turns * step)
    }

    /// Whether the reading that was due at `time` is among those that are measured.
    package func measures(_ time: Instant, start: Instant) -> Bool {
        let first = start.advanced(by: warmUp)
        return time >= first && time < first.advanced(by: duration)
    }
}
