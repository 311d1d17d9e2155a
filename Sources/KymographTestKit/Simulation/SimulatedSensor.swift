import KymographCore

/// One signal of one device: when it measures next, and the walk of its values.
struct SimulatedSensor: Sendable {
    let device: Int
    let signal: SimulatedSignal
    /// Nanoseconds between regular readings.
    let interval: Int64
    private let start: Instant
    private let first: Instant
    private var taken: Int64 = 0
    private var latest = Instant.distantPast
    private var previous: Instant
    private var walk: RandomWalk

    /// `rate` in readings per second; the sensors of a population start at random within their first interval.
    init(
        device: Int, signal: SimulatedSignal, rate: Double, start: Instant, using generator: inout SeededGenerator
    ) {
        self.device = device
        self.signal = signal
        interval = max(1_000_000, Int64((1e9 / rate).rounded()))
        self.start = start
        first = start.advanced(by: Int64.random(in: 0..<interval, using: &generator))
        previous = first.advanced(by: -interval)
        walk = Self.walk(of: signal, device: device, using: &generator)
    }

    private static func walk(
        of signal: SimulatedSignal, device: Int, using generator: inout SeededGenerator
    ) -> RandomWalk {
        switch signal {
        case .heartRate:
            let home = Int.random(in: 58...88, using: &generator)
            return RandomWalk(range: 45...180, home: home, largestStep: 3, using: &generator)
        case .steps:
            return RandomWalk(range: 0...160, home: 30, largestStep: 25, using: &generator)
        case .glucose:
            return device.isMultiple(of: 2)
                ? RandomWalk(range: 55...290, home: 105, largestStep: 4, using: &generator)
                : RandomWalk(range: 31...160, home: 58, largestStep: 2, using: &generator)
        case .bloodPressure:
            let home = Int.random(in: 108...142, using: &generator)
            return RandomWalk(range: 88...195, home: home, largestStep: 4, using: &generator)
        }
    }

    /// The regular time of the next reading, strayed by up to `jitter` of half the interval, in whole milliseconds;
    /// never before the start, and always after the reading before.
    mutating func nextTime(jitter: Double, using generator: inout SeededGenerator) -> Instant {
        let reach = Int64(jitter * Double(interval) / 2)
        let stray = reach > 0 ? Int64.random(in: -reach...reach, using: &generator) : 0
        let exact = first.nanoseconds + taken * interval + stray
        taken += 1
        latest = max(Instant(nanoseconds: exact - exact % 1_000_000), start, latest.advanced(by: 1_000_000))
        return latest
    }

    /// Measures at `time`.
    mutating func measure(
        at time: Instant, sequence: Int, using generator: inout SeededGenerator
    ) -> SimulatedReading {
        let level = walk.next(using: &generator)
        var reading = SimulatedReading(device: device, signal: signal, sequence: sequence, time: time, value: level)
        switch signal {
        case .heartRate: break
        case .steps:
            reading.start = Instant(nanoseconds: previous.nanoseconds - previous.nanoseconds % 1_000_000)
            reading.value = Int(Int64(level) * (time.nanoseconds - previous.nanoseconds) / 60_000_000_000)
        case .glucose: reading.isTenths = !device.isMultiple(of: 2)
        case .bloodPressure: reading.diastolic = level * 5 / 8 + Int.random(in: -3...3, using: &generator)
        }
        previous = time
        return reading
    }
}
