package import KymographCore

/// Plays a population of devices: readings in the order in which they would arrive, with losses, duplicates and delays.
///
/// Deterministic: the same ``SimulationPlan`` gives the same deliveries. Memory grows with the number of sensors and
/// with what is under way, not with the length of the simulation.
package struct DeviceSimulator: Sendable {
    /// What is played.
    package let plan: SimulationPlan
    /// What happened so far.
    package private(set) var counts = SimulationCounts()

    private let end: Instant
    private var generator: SeededGenerator
    private var sensors: [SimulatedSensor] = []
    private var sequences: [Int]
    private var measurements = EarliestFirst<Int>()
    private var underWay = EarliestFirst<SimulatedDelivery>()

    /// Sets the devices up.
    package init(plan: SimulationPlan) {
        precondition(plan.devices > 0 && plan.duration >= 0 && plan.maxLateness >= 0)
        self.plan = plan
        end = plan.start.advanced(by: plan.duration)
        generator = SeededGenerator(seed: plan.seed)
        sequences = Array(repeating: 0, count: plan.devices)
        for device in 0..<plan.devices {
            for signal in SimulatedSignal.allCases {
                guard let rate = plan.rates[signal], rate > 0 else { continue }
                sensors.append(
                    SimulatedSensor(
                        device: device, signal: signal, rate: rate, start: plan.start, using: &generator))
            }
        }
        for index in sensors.indices { schedule(index) }
    }

    /// The next delivery, or nil when all has been delivered.
    package mutating func next() -> SimulatedDelivery? {
        while let due = measurements.earliest, underWay.earliest.map({ due <= $0 }) ?? true {
            guard let (time, sensor) = measurements.pop() else { break }
            measure(sensor, at: time)
        }
        guard let (_, delivery) = underWay.pop() else { return nil }
        if delivery.isDuplicate { counts.duplicated += 1 } else { counts.delivered += 1 }
        return delivery
    }

    /// Appends the next delivery's line, with its line end, to `writer`; nil when all has been delivered.
    package mutating func next(into writer: inout ByteWriter) -> SimulatedDelivery? {
        guard let delivery = next() else { return nil }
        delivery.reading.append(to: &writer)
        writer.append("\n")
        return delivery
    }

    private mutating func schedule(_ index: Int) {
        let time = sensors[index].nextTime(jitter: plan.jitter, using: &generator)
        if time < end { measurements.push(index, at: time) }
    }

    private mutating func measure(_ index: Int, at time: Instant) {
        let device = sensors[index].device
        sequences[device] += 1
        var reading = sensors[index].measure(at: time, sequence: sequences[device], using: &generator)
        reading.device += plan.firstDevice - 1
        counts.measured += 1
        if generator.happens(plan.losses) {
            counts.lost += 1
        } else {
            dispatch(reading, interval: sensors[index].interval)
        }
        schedule(index)
    }

    private mutating func dispatch(_ reading: SimulatedReading, interval: Int64) {
        let arrival = reading.time.advanced(by: delay(interval: interval))
        underWay.push(SimulatedDelivery(time: arrival, reading: reading, isDuplicate: false), at: arrival)
        guard generator.happens(plan.duplicates) else { return }
        let again = arrival.advanced(by: randomLateness())
        underWay.push(SimulatedDelivery(time: again, reading: reading, isDuplicate: true), at: again)
    }

    private mutating func delay(interval: Int64) -> Int64 {
        if generator.happens(plan.late) {
            counts.late += 1
            return randomLateness()
        }
        if generator.happens(plan.outOfOrder) {
            counts.outOfOrder += 1
            // Jitter can put the successor up to two intervals away.
            return 2 * interval + 1_000_000
        }
        return 0
    }

    private mutating func randomLateness() -> Int64 {
        plan.maxLateness > 0 ? Int64.random(in: 1...plan.maxLateness, using: &generator) : 0
    }
}
