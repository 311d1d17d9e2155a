import KymographCore

/// Adds measurements to windows and closes them, without writing Observations.
package struct WindowStage: ~Copyable, Stage {
    private var machine: WindowMachine<MemoryArchive>
    private let readings: [Captured]
    private var next = 0
    private var shift: Int64 = 0
    private var emitted = 0
    private let lap: Int64

    /// Cycles through `count` readings of `devices` devices of the workload, in windows of `period`; time goes on.
    package init(count: Int = 8_192, devices: Int = 32, period: String = "5m") {
        let set = Workload.mappings(period: period)
        let captured = CapturingOutput.capture(.workload(count: count, devices: UInt64(devices)), set)
        machine = WindowMachine(types: set.types, settings: WindowSettings())
        for key in captured.keys {
            let number = machine.define(key.withByteView { SeriesKey.identity($0) })
            precondition(number != nil)
        }
        readings = captured.readings
        lap = Int64(count) * Int64(Workload.millisecondsPerDeviceReading) * 1_000_000 / Int64(devices)
    }

    /// Adds `count` readings.
    package mutating func run(_ count: Int) {
        let nothing = ByteView("")
        for step in 0..<count {
            var reading = readings[next].measurement
            reading.instant = reading.instant.advanced(by: shift)
            let outcome = machine.add(series: readings[next].series, reading, payload: nothing)
            if case .rejected(let reason) = outcome { fatalError("rejected: \(reason)") }
            next += 1
            if next == readings.count { startLap() }
            if step % 64 == 63 { settle() }
        }
        settle()
    }

    private mutating func startLap() {
        next = 0
        shift += lap
    }

    private mutating func settle() {
        while let emission = machine.nextEmission() {
            emitted += machine.content(of: emission).readings.count
            machine.settle(emission)
        }
    }
}
