package import KymographCore

/// What a ``DeviceSimulator`` plays: who measures what, how often, and what goes wrong on the way.
package struct SimulationPlan: Sendable, Hashable {
    /// Number of devices, at least 1.
    package var devices = 10
    /// Number of the first device, from 1, so that several plans can play different devices.
    package var firstDevice = 1
    /// Readings per second and device, by signal; a signal that is absent or 0 is not measured.
    package var rates: [SimulatedSignal: Double] = SimulationPlan.wearableRates(total: 1)
    /// Time of the first readings.
    package var start = Instant(seconds: 1_772_323_200)
    /// Length of the event time that is played, in nanoseconds.
    package var duration: Int64 = 300_000_000_000
    /// Equal plans with equal seeds give equal bytes.
    package var seed: UInt64 = 1
    /// How far a reading's time strays from its regular place, as a part (0…1) of half its interval.
    package var jitter = 0.0
    /// Probability that a delivered reading is delivered a second time.
    package var duplicates = 0.0
    /// Probability that a reading is never delivered. Its sequence number is used up, so the gap shows.
    package var losses = 0.0
    /// Probability that a reading is delivered late, by up to ``maxLateness``.
    package var late = 0.0
    /// Longest lateness, in nanoseconds; also the longest delay of a duplicate.
    package var maxLateness: Int64 = 20_000_000_000
    /// Probability that a reading is delivered after its successor of the same device and signal.
    package var outOfOrder = 0.0

    /// Ten devices, one reading a second each, five minutes, nothing goes wrong.
    package init() {}

    /// `total` readings per second and device in the mix of a wearable: 70 % heart rate, 15 % steps, 10 % glucose,
    /// 5 % blood pressure.
    package static func wearableRates(total: Double) -> [SimulatedSignal: Double] {
        [.heartRate: total * 0.70, .steps: total * 0.15, .glucose: total * 0.10, .bloodPressure: total * 0.05]
    }
}

/// What a simulated device can measure; the names are the `type`s of the `reading` mapping.
package enum SimulatedSignal: String, CaseIterable, Sendable {
    /// Beats per minute, 45…180.
    case heartRate
    /// Steps since the previous reading of the device.
    case steps
    /// Blood glucose: mg/dL from devices with an even number, mmol/L with one decimal from the others.
    case glucose
    /// Systolic and diastolic pressure in mm[Hg].
    case bloodPressure
}

/// What became of the readings of a simulation so far.
package struct SimulationCounts: Sendable, Hashable {
    /// Readings that the devices made.
    package var measured = 0
    /// Readings that will never be delivered.
    package var lost = 0
    /// Deliveries of readings for the first time.
    package var delivered = 0
    /// Deliveries of readings that had been delivered, or will be, apart from this.
    package var duplicated = 0
    /// Readings delivered late on purpose.
    package var late = 0
    /// Readings held back behind their successor.
    package var outOfOrder = 0
}
