import Foundation
import KymographCore

/// Sends the readings of a ``LatencyPlan`` when they are due, while another thread reads what comes out.
package struct LatencyRun: ~Copyable {
    /// How long readings took to come out, from when they were due.
    package private(set) var latency = LatencyFigures()
    /// How long after they were due they were sent; a part of ``latency`` that the pipeline has no part in.
    package private(set) var lateness = LatencyFigures()

    private let plan: LatencyPlan
    private let meter: LatencyMeter
    private let clock = ScheduleClock()
    private var line = ByteWriter(capacity: 512)

    /// How often a pipeline that has not answered is sent a reading, and how long it may take.
    private static let probe: Duration = .milliseconds(20)
    private static let patience: Duration = .seconds(20)
    /// The least microseconds that the sender sleeps. What becomes due meanwhile is sent together, late, and its
    /// latency counts from when it was due. Waking for each reading of 100,000 a second keeps a processor busy with
    /// nothing but that, and on two of them threads of the pipeline then wait for that one while the other is idle.
    private static let leastSleep: Int64 = 30

    /// Prepares a run.
    package init(_ plan: LatencyPlan) {
        self.plan = plan
        meter = LatencyMeter(plan)
    }

    /// Sends everything to `sender` and waits for what comes out. `output` waits for the next piece of output, on a
    /// thread of its own; empty is the end.
    ///
    /// - Throws: ``SendingError`` when nothing comes out, or the output ends.
    package mutating func run(
        _ sender: inout ReadingSender, output: @escaping @Sendable () -> ArraySlice<UInt8>
    ) throws(SendingError) {
        let (meter, clock) = (meter, clock)
        Thread.detachNewThread {
            while case let piece = output(), !piece.isEmpty { meter.take(piece, now: clock.now) }
            meter.end()
        }
        Self.wakeOnTime()
        try awaitPipeline(&sender)
        let start = clock.now.advanced(by: 50_000_000)
        meter.begin(start)
        try send(&sender, from: start)
        try awaitOutput()
        latency = meter.figures
    }

    /// Sends readings until the first comes out: the pipeline may still be starting.
    private mutating func awaitPipeline(_ sender: inout ReadingSender) throws(SendingError) {
        let began = ContinuousClock.now
        var index = 0
        while meter.seen == 0 {
            try checkOutput()
            guard ContinuousClock.now - began < Self.patience else {
                throw SendingError(
                    description: "nothing came out of the pipeline within \(Self.patience); does it read where this "
                        + "sends to, and is its output this command's standard input?")
            }
            var reading = plan.reading(index, start: clock.now)
            reading.device = 0
            reading.time = clock.now
            try send(reading, &sender)
            try sender.flush()
            usleep(UInt32(Self.probe / .microseconds(1)))
            index += 1
        }
    }

    private mutating func send(_ sender: inout ReadingSender, from start: Instant) throws(SendingError) {
        for index in 0..<plan.count {
            let due = plan.due(index, start: start)
            if clock.now < due {
                try sender.flush()
                wait(until: due)
                try checkOutput()
            }
            if plan.measures(due, start: start) { lateness.record(clock.now.nanoseconds - due.nanoseconds) }
            try send(plan.reading(index, start: start), &sender)
        }
        try sender.flush()
    }

    private mutating func send(_ reading: SimulatedReading, _ sender: inout ReadingSender) throws(SendingError) {
        line.removeAll()
        reading.append(to: &line)
        line.append("\n")
        try sender.send(line.view)
    }

    private func wait(until due: Instant) {
        while case let left = due.nanoseconds - clock.now.nanoseconds, left > 0 {
            usleep(UInt32(min(max(left / 1_000 + 1, LatencyRun.leastSleep), 900_000)))
        }
    }

    private func checkOutput() throws(SendingError) {
        if meter.hasEnded { throw SendingError(description: "the pipeline's output has ended") }
    }

    /// Waits until everything has come out, or nothing more does for a second.
    private func awaitOutput() throws(SendingError) {
        var seen = -1
        while meter.seen != seen, plan.window != nil || meter.figures.count < plan.measuredCount, !meter.hasEnded {
            seen = meter.seen
            usleep(900_000)
        }
    }

    /// Asks the system not to put off waking this process: it may do so by 50 µs otherwise, to wake others with it.
    private static func wakeOnTime() {
        // Where there is no such file, what comes late shows in ``lateness``.
        FileHandle(forWritingAtPath: "/proc/self/timerslack_ns")?.write(Data("1".utf8))
    }
}
